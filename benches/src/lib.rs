//! Measures the performance of this project relative to other storage libraries. All libraries are measured in one run on one machine.
//!
//! `cargo run --profile bench -p benches --bin ratios` prints the ratios as a Markdown table, and fails if a target is missed. With `-- --azurite`, it compares
//! `table-azure` with other clients of the same server. With `-- --server`, it compares the server with Azurite.

pub mod azurite;
pub mod books;
pub mod child;
pub mod data;
pub mod folder;
pub mod harness;
pub mod large;
pub mod options;
pub mod peer;
pub mod record;
pub mod report;
pub mod row;
pub mod served;
pub mod stage;
pub mod sustained;

/// The result of a fallible step. Any error ends the run.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
