//! The client of the service over a network that loses responses.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod histories;
mod lost_answers;
