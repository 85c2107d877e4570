//! Crash tests of the patterns: all of them are used in one process, the process is killed, and the remaining data is checked.
//!
//! Each thread reports a line before it begins a change and another line after the change has returned. The parent therefore knows, for every key,
//! what was acknowledged and what was in progress when the child died; nothing else may be stored. The recovery that the documentation of the
//! patterns prescribes (a sweep and workers, a collection of orphans) runs first.

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
