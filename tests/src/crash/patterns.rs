//! Crash tests of the patterns: a process uses all of them, the process is killed, and the remaining data is checked.
//!
//! Each thread reports a line before it starts a change, and another line after the change has returned. For every key, the parent therefore knows
//! which changes were acknowledged and which were in progress when the child was killed; nothing else may be stored. Before the check, the recovery
//! runs that the documentation of the patterns prescribes (a sweep, workers, a collection of orphans).

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
