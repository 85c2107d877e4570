//! Ratios against the storage libraries that a user could take instead, measured in one run on one machine.
//!
//! `cargo run --profile bench -p benches --bin ratios` prints them as a Markdown table and fails where a target is missed; with
//! `-- --azurite` it measures the client of Azure tables instead, against other clients of one server, and with `-- --server` the
//! server against Azurite.

pub mod azurite;
pub mod child;
pub mod data;
pub mod folder;
pub mod harness;
pub mod large;
pub mod options;
pub mod peer;
pub mod report;
pub mod row;
pub mod served;
pub mod stage;
pub mod sustained;

/// What a measurement gives: any error ends the run.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
