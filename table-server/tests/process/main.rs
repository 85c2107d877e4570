//! Tests of the server as a process.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test panics where something is not as it should be")]

mod accounts;
mod begin;
mod child;
mod end;
mod settings;
mod tls;
mod trial;
mod wire;
