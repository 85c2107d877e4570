//! Combinations of patterns on one entity, in random histories with deaths, refusals and concurrent workers.

#![expect(clippy::unwrap_used, reason = "a test panics where something is not as it should be")]

mod declared;
#[expect(unreachable_pub, dead_code, reason = "the modules of a test are reached from it alone")]
mod mixed;
#[expect(unreachable_pub, dead_code, reason = "the modules of a test are reached from it alone")]
mod together;
