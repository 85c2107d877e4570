//! The engine in memory against Azurite: random programs, every answer compared.
//!
//! `SEQUENCES` says how many (800), `FIRST_SEQUENCE` from which number on (0); so do the options of the program `differential`.

use std::env;

use table_core::Engine;
use tests::differential::{client, sequences};

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect(name))
}

#[test]
fn the_engine_answers_as_azurite_does() {
    let Some(connection) = crate::azurite() else { return };
    let first = number("FIRST_SEQUENCE", 0);
    let numbers = first..first + number("SEQUENCES", 800);
    let found = sequences(&Engine::in_memory(), &client(&connection).unwrap(), numbers, |_| ());
    assert!(found.is_empty(), "the engine on the left, Azurite on the right\n{}", found.join("\n\n"));
}
