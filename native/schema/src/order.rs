//! Document order: the order in which the text of an instance has its values.

use std::{borrow::Cow, collections::HashMap};

use serde_json::Value;

use crate::pointer;

/// `items` in the document order of the values in `root` that their pointers lead to; a container comes
/// before what it holds, and items of one value keep their order.
pub(crate) fn sorted<T>(root: &Value, items: Vec<T>, place: impl Fn(&T) -> &str) -> Vec<T> {
    let mut tree = Tree::default();
    for item in items {
        let branch: Vec<String> = pointer::segments(place(&item))
            .map(Cow::into_owned)
            .collect();
        tree.at(branch).here.push(item);
    }
    let mut sorted = Vec::new();
    tree.drain(root, &mut sorted);
    sorted
}

/// Items by place.
struct Tree<T> {
    here: Vec<T>,
    below: HashMap<String, Tree<T>>,
}

impl<T> Default for Tree<T> {
    fn default() -> Self {
        Self {
            here: Vec::new(),
            below: HashMap::new(),
        }
    }
}

impl<T> Tree<T> {
    fn at(&mut self, branch: Vec<String>) -> &mut Self {
        branch
            .into_iter()
            .fold(self, |tree, segment| tree.below.entry(segment).or_default())
    }

    fn drain(mut self, value: &Value, sorted: &mut Vec<T>) {
        sorted.append(&mut self.here);
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    if self.below.is_empty() {
                        return;
                    }
                    if let Some(tree) = self.below.remove(name) {
                        tree.drain(member, sorted);
                    }
                }
            }
            Value::Array(items) => {
                let below = self.below.into_iter();
                let mut below: Vec<(usize, Self)> = below
                    .filter_map(|(index, tree)| Some((index.parse().ok()?, tree)))
                    .collect();
                below.sort_unstable_by_key(|(index, _)| *index);
                for (index, tree) in below {
                    tree.drain(items.get(index).unwrap_or(&Value::Null), sorted);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::sorted;

    #[test]
    fn members_come_in_source_order_and_items_by_index() {
        let root = json!({"z": 1, "a": {"y": 1, "b/c": 2}, "list": vec![0; 12]});
        let places = vec![
            "/list/10", "/list/2", "/a/b~1c", "/a/y", "/a", "/z", "", "/list", "/z", "/list/11",
        ];
        let sorted = sorted(&root, places, |place| place);
        assert_eq!(
            sorted,
            [
                "", "/z", "/z", "/a", "/a/y", "/a/b~1c", "/list", "/list/2", "/list/10", "/list/11"
            ]
        );
    }
}
