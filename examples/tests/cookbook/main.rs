//! Tests of the cookbook (its data, layouts, helpers and complete runs) and of the other example programs. All are in one test binary, because each binary
//! links all packages.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cost;
mod data;
mod grid;
mod large;
mod layout;
mod layouts;
mod ledger;
mod locks;
mod prefixed;
mod programs;
mod runs;
