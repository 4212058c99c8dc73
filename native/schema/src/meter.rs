//! The work one check has left.

use std::cell::Cell;

use serde_json::Value;

/// Reads that any check may do, however small its instance: about 10 ms.
const FIRST_READS: u64 = 1_000_000;

/// Counts the reads of one check down.
///
/// The validator cannot be interrupted, so the instance is what stops it: once nothing is left, every
/// value reads as empty and the validator runs out of things to look at.
pub(crate) struct Meter<'a> {
    left: Cell<u64>,
    granted: Cell<u64>,
    stage: Cell<Stage>,
    instance: &'a Value,
    reads_per_value: u64,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Stage {
    /// May be extended once by the size of the instance, which is counted only then.
    First,
    /// Has its last reads.
    Last,
    /// Has none.
    Spent,
}

impl<'a> Meter<'a> {
    /// Reads enough for any instance that is checked in time linear to its size.
    pub(crate) fn for_instance(instance: &'a Value, reads_per_value: u64) -> Self {
        Self::new(FIRST_READS, Stage::First, instance, reads_per_value)
    }

    /// Exactly `reads` reads.
    pub(crate) fn of(reads: u64, instance: &'a Value) -> Self {
        Self::new(reads, Stage::Last, instance, 0)
    }

    fn new(reads: u64, stage: Stage, instance: &'a Value, reads_per_value: u64) -> Self {
        Self {
            left: Cell::new(reads),
            granted: Cell::new(reads),
            stage: Cell::new(stage),
            instance,
            reads_per_value,
        }
    }

    /// Takes `reads` off; says no when there are not so many.
    #[inline]
    pub(crate) fn take(&self, reads: u64) -> bool {
        match self.left.get().checked_sub(reads) {
            Some(left) => {
                self.left.set(left);
                true
            }
            None => self.take_last(reads),
        }
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.stage.get() == Stage::Spent
    }

    pub(crate) fn used(&self) -> u64 {
        self.granted.get() - self.left.get()
    }

    #[cold]
    fn take_last(&self, reads: u64) -> bool {
        if self.stage.replace(Stage::Last) == Stage::First {
            let more = values(self.instance).saturating_mul(self.reads_per_value);
            self.left.set(self.left.get().saturating_add(more));
            self.granted.set(self.granted.get().saturating_add(more));
            return self.take(reads);
        }
        self.stage.set(Stage::Spent);
        self.left.set(0);
        false
    }
}

/// How many values `instance` holds, itself included.
fn values(instance: &Value) -> u64 {
    let mut count = 0;
    let mut open = vec![instance];
    while let Some(value) = open.pop() {
        count += 1;
        match value {
            Value::Object(members) => open.extend(members.values()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FIRST_READS, Meter, values};

    #[test]
    fn values_count_containers_and_leaves() {
        assert_eq!(values(&json!(1)), 1);
        assert_eq!(values(&json!({"a": [1, 2], "b": {}})), 5);
    }

    #[test]
    fn large_instances_get_more_once() {
        let instance = json!([1, 2, 3]);
        let meter = Meter::for_instance(&instance, 10);
        assert!(meter.take(FIRST_READS));
        assert!(meter.take(40), "four values, ten reads each");
        assert!(!meter.is_spent());
        assert!(!meter.take(1));
        assert!(meter.is_spent());
        assert!(!meter.take(1));
        assert_eq!(meter.used(), FIRST_READS + 40);
    }

    #[test]
    fn a_fixed_meter_is_never_extended() {
        let instance = json!([1, 2, 3]);
        let meter = Meter::of(2, &instance);
        assert!(meter.take(2));
        assert!(!meter.take(1));
        assert!(meter.is_spent());
    }
}
