//! How deep and how large a document is, found out without recursion.

use std::io;

use serde_json::Value;

use crate::{Error, ErrorKind, Limits, pointer};

/// Refuses a document over the depth or size limit.
///
/// Depth comes first: everything after this function may recurse along the document.
pub(crate) fn check(document: &Value, limits: &Limits) -> Result<(), Error> {
    check_depth(document, limits.max_depth)?;
    let found = bytes(document);
    let allowed = limits.max_schema_bytes;
    if found > allowed {
        return Err(Error::new("", ErrorKind::TooLarge { found, allowed }));
    }
    Ok(())
}

fn check_depth(document: &Value, allowed: usize) -> Result<(), Error> {
    let mut open = vec![(document, 0, String::new())];
    while let Some((value, depth, place)) = open.pop() {
        let is_container = value.is_object() || value.is_array();
        if is_container && depth == allowed {
            return Err(Error::new(place, ErrorKind::TooDeep { allowed }));
        }
        match value {
            Value::Object(members) => open.extend(
                members
                    .iter()
                    .map(|(name, member)| (member, depth + 1, pointer::join(&place, name))),
            ),
            Value::Array(items) => open.extend(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| (item, depth + 1, format!("{place}/{index}"))),
            ),
            _ => {}
        }
    }
    Ok(())
}

fn bytes(document: &Value) -> usize {
    let mut count = Count(0);
    serde_json::to_writer(&mut count, document).expect("counting bytes never fails");
    count.0
}

/// Counts what is written to it.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;
    use crate::{ErrorKind, Limits};

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!([inner]))
    }

    #[test]
    fn depth_counts_levels_of_containers() {
        let limits = Limits {
            max_depth: 3,
            ..Limits::default()
        };
        assert!(check(&nested(3), &limits).is_ok());
        let error = check(&nested(4), &limits).unwrap_err();
        assert_eq!(error.kind, ErrorKind::TooDeep { allowed: 3 });
        assert_eq!(error.pointer, "/0/0/0");
    }

    #[test]
    fn size_counts_compact_bytes() {
        let limits = Limits {
            max_schema_bytes: 8,
            ..Limits::default()
        };
        assert!(
            check(
                &json!({"a": "bc"}),
                &Limits {
                    max_schema_bytes: 10,
                    ..limits.clone()
                }
            )
            .is_ok()
        );
        let error = check(&json!({"a": "bc"}), &limits).unwrap_err();
        assert_eq!(
            error.kind,
            ErrorKind::TooLarge {
                found: 10,
                allowed: 8
            }
        );
    }
}
