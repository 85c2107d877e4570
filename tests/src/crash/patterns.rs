//! Crash tests for the patterns. A process that uses all patterns is killed, and the remaining data is checked.
//!
//! Each thread sends a line to the parent process before it starts a change, and another line once the change is complete. From these lines, the parent knows
//! which changes were acknowledged, and which were in progress when the child was killed. The stored data must not contain the effects of any other change.
//! Before the check, the recovery runs that the documentation of the patterns prescribes: a sweep, workers, and garbage collection.

mod books;
mod books_hand;
mod check;
mod copies;
mod helpdesk;
mod helpdesk_hand;
mod indexes;
mod ledger;
mod lists;
pub mod process;
mod stores;
#[cfg(test)]
mod tests;
mod views;
mod workload;

pub use check::{Recovery, check};
pub use ledger::{Change, Kind, Ledger, Line};
pub use stores::{Queues, Stores};
pub use workload::{HANDS, Hand};
