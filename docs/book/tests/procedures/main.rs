//! The procedures of the book that take several steps, each run as its page says. A test quotes the steps where it runs
//! them, and fails if the page no longer has them in this order.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod field;
mod guards;
mod key;
mod moving;
mod page;
mod rewrite;
mod seals;
mod time;
