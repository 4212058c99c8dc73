//! Golden transcripts of whole conversations; see `harness/transcript.rs` for how they are written.

use crate::harness::{Server, offering_all, play};

#[test]
fn both_eras_on_one_pipe() {
    play(
        &mut Server::new(),
        include_str!("transcripts/eras_on_one_pipe.txt"),
    );
}

#[test]
fn cancellation_on_a_pipe() {
    play(
        &mut Server::new(),
        include_str!("transcripts/cancel_on_a_pipe.txt"),
    );
}

#[test]
fn a_session_by_http() {
    play(
        &mut Server::new(),
        include_str!("transcripts/session_by_http.txt"),
    );
}

#[test]
fn sessions_belong_to_principals() {
    let mut server = Server::new().at(|endpoint| endpoint.authorize = true);
    play(
        &mut server,
        include_str!("transcripts/session_and_principal.txt"),
    );
}

#[test]
fn offers_in_every_revision() {
    for transcript in [
        include_str!("transcripts/offers.txt"),
        include_str!("transcripts/offers_2025-11-25.txt"),
        include_str!("transcripts/offers_2025-06-18.txt"),
    ] {
        play(&mut offering_all(), transcript);
    }
}
