//! Golden transcripts of whole conversations; see `harness/transcript.rs` for how they are written.

use crate::harness::{Server, play};

#[test]
fn both_eras_on_one_pipe() {
    play(
        &mut Server::new(),
        include_str!("transcripts/eras_on_one_pipe.txt"),
    );
}
