//! Tests of the `table-server` program, run as a separate process.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accounts;
mod begin;
mod child;
mod end;
mod operators;
mod output;
mod settings;
mod tls;
mod trial;
mod wire;
