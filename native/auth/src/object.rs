//! JSON text of an object, written member by member.

use mcp_json::write;

/// An object that is written: its members in the order in which they came.
#[derive(Default)]
pub(crate) struct Object(Vec<u8>);

impl Object {
    pub(crate) fn string(&mut self, name: &str, value: &str) {
        self.name(name);
        write::string(&mut self.0, value);
    }

    pub(crate) fn boolean(&mut self, name: &str, value: bool) {
        self.name(name);
        self.0.extend(value.to_string().bytes());
    }

    pub(crate) fn number(&mut self, name: &str, value: u64) {
        self.name(name);
        self.0.extend(value.to_string().bytes());
    }

    pub(crate) fn strings<'a>(&mut self, name: &str, values: impl Iterator<Item = &'a str>) {
        self.name(name);
        self.0.push(b'[');
        for (index, value) in values.enumerate() {
            if index > 0 {
                self.0.push(b',');
            }
            write::string(&mut self.0, value);
        }
        self.0.push(b']');
    }

    pub(crate) fn end(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }

    fn name(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        write::string(&mut self.0, name);
        self.0.push(b':');
    }
}
