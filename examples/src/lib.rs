//! The cookbook: every pattern on real data.
//!
//! `cargo run -p examples` imports the [data] into an embedded store, or with `--azure` into an account, and runs the [recipes]. Each program in
//! `src/bin` shows a single pattern, in memory.

pub mod cookbook;
pub mod cost;
pub mod data;
pub mod grid;
pub mod helpdesk;
pub mod import;
pub mod inputs;
pub mod large;
pub mod layout;
pub mod ledger;
pub mod model;
pub mod prefixed;
pub mod recipe;
pub mod recipes;
pub mod store;
