//! Tests the Azure Tables client on a network that loses responses.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod histories;
mod lost_answers;
