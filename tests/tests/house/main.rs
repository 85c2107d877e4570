//! Tests the source text and the documentation of the repository, for example against the rules for imports and prose.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod examples;
mod files;
mod imports;
mod licences;
mod prose;
mod rules;
mod tasks;
