//! Tests that copies in other partitions follow their sources, regardless of processes that die, and of late, duplicated or lost messages.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod archive;
mod authority;
mod claims;
mod company;
mod deaths;
mod feeds;
mod moves;
mod poison;
mod reads;
mod sweeps;
mod together;
mod workers;
