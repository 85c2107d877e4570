//! The engine in memory against a server of another one: random programs, every answer compared.
//!
//! `SEQUENCES` says how many, `FIRST_SEQUENCE` from which number on (0); so do the options of the program `differential`.

use std::env;

use table_core::Engine;
use tests::differential::{client, sequences};

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect(name))
}

#[test]
fn the_server_answers_as_the_engine_does() {
    let first = number("FIRST_SEQUENCE", 0);
    let numbers = first..first + number("SEQUENCES", 500);
    let found = sequences(&Engine::in_memory(), &client(&crate::SERVER).unwrap(), numbers, |_| ());
    assert!(found.is_empty(), "the engine on the left, the server on the right\n{}", found.join("\n\n"));
}
