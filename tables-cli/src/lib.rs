//! The `tables` command: queries, changes, copies and backs up tables in an account or a folder.
//!
//! The program is a thin wrapper around [`run`], so every command can be tested without a process.
//!
//! ```
//! use clap::Parser;
//! use tables_cli::{Exit, Tables};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().display().to_string();
//! let mut out = Vec::new();
//! let tables = Tables::try_parse_from(["tables", "--store", &path, "put", "Company", "Sales", "1", "Age=36"])?;
//! assert_eq!(tables_cli::run(tables, &mut out).await?, Exit::Done);
//! let tables = Tables::try_parse_from(["tables", "--store", &path, "get", "Company", "Sales", "1", "--output", "json"])?;
//! assert_eq!(tables_cli::run(tables, &mut out).await?, Exit::Done);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

pub mod audit;
pub mod backup;
pub mod check;
pub mod commands;
mod count;
pub mod doctor;
pub mod failure;
pub mod heat;
#[cfg(test)]
mod hooked;
mod incomplete;
pub mod omitted;
#[cfg(test)]
mod order_tests;
pub mod output;
#[cfg(feature = "parquet")]
pub mod parquet;
mod program;
pub mod progress;
pub mod rate;
pub mod rows;
mod schemas;
pub mod store;
pub mod tail;
pub mod terminal;
pub mod transfer;
mod warnings;

pub use commands::{Tables, run};
pub use failure::{Exit, Failure};
pub use program::program;
