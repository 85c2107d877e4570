//! Tests that copies in other partitions follow their entities. Processes may die, and messages may be delayed, duplicated or lost.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod archive;
mod authority;
mod claims;
mod company;
mod deaths;
mod dropped;
mod feeds;
mod moves;
mod poison;
mod reads;
mod sweeps;
mod together;
mod workers;
