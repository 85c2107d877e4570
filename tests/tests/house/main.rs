//! The house: rules of the text of the repository, held by reading its files.

#![expect(clippy::expect_used, reason = "a test panics where something is not as it should be")]

mod examples;
mod files;
mod prose;
mod tasks;
