//! The cookbook, which shows every pattern with real data.
//!
//! `cargo run -p examples` imports the [data] into an embedded store, or into an account with `--azure`, and runs the [recipes]. Most of the other programs in
//! `src/bin` show a single pattern in memory. The help desk and the ledger are larger applications.

pub mod cleanup;
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
