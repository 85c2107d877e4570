//! The cookbook: its data, its layouts, its parts, whole runs of it, and the programs. One test binary, since each is linked with all of it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cost;
mod data;
mod grid;
mod large;
mod layout;
mod layouts;
mod locks;
mod prefixed;
mod programs;
mod runs;
