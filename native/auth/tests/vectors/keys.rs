//! Key sets.

use mcp_auth::KeySet;

use crate::fixture::{load, strings};

#[test]
fn what_is_no_key_set_takes_the_place_of_none() {
    let bodies = strings(&load("jwks-invalid.json")["bodies"]);
    assert_eq!(bodies.len(), 9);
    for body in bodies {
        assert!(KeySet::parse(body.as_bytes()).is_err(), "{body}");
    }
}
