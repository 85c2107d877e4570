//! Tests of procedures in the book that take several steps. Each procedure is run as its page describes. A test quotes each step at the place where it runs the
//! step, and fails if the page no longer contains the steps in this order.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod field;
mod guards;
mod key;
mod moving;
mod page;
mod rewrite;
mod seals;
mod time;
