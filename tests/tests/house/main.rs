//! Rules for the text of the repository, which are checked by reading its files.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test panics where something is not as it should be"
)]

mod examples;
mod files;
mod imports;
mod licences;
mod prose;
mod rules;
mod tasks;
