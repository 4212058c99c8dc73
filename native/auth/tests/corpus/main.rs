//! Replays what the fuzzers of `fuzz/` start from, and what they found.

#[path = "../../../../fuzz/src/lib.rs"]
mod fuzz;

use std::{
    fs::{self, DirEntry},
    io,
    path::PathBuf,
};

#[test]
fn every_promise_holds_over_the_corpus() {
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, target) in fuzz::TARGETS {
        let inputs: Vec<_> = fs::read_dir(corpus.join(name)).unwrap().collect();
        assert!(inputs.len() >= 10, "{name} has {} inputs", inputs.len());
        let read = |input: io::Result<DirEntry>| fs::read(input.unwrap().path()).unwrap();
        let taken: Vec<_> = inputs
            .into_iter()
            .map(|input| target(&read(input)))
            .collect();
        // One that is never taken tries nothing behind the first check.
        assert!(taken.contains(&true) && taken.contains(&false), "{name}");
    }
}
