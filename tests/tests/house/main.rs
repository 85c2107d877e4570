//! Tests of the rules for the repository's text. They read its files.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod examples;
mod files;
mod imports;
mod licences;
mod prose;
mod rules;
mod tasks;
