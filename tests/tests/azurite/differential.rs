//! Tests that the in-memory engine and Azurite return equal results for random programs.
//!
//! The environment variable `SEQUENCES` sets the number of programs (800 by default). `FIRST_SEQUENCE` sets the number of the first program (0 by default).
//! They correspond to the options of the program `differential`.

use std::env;

use table_core::Engine;
use tests::differential::{client, sequences};

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect(name))
}

#[test]
fn the_engine_agrees_with_azurite() {
    let Some(connection) = crate::azurite() else { return };
    let first = number("FIRST_SEQUENCE", 0);
    let numbers = first..first + number("SEQUENCES", 800);
    let found = sequences(&Engine::in_memory(), &client(&connection).unwrap(), numbers, |_| ());
    assert!(found.is_empty(), "the engine on the left, Azurite on the right\n{}", found.join("\n\n"));
}
