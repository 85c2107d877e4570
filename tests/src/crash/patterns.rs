//! What the patterns promise through a crash: all of them at work in one process, the process killed, and what is left checked.
//!
//! Each thread tells a line before it begins a change and one after it returned. So the parent knows, for every key, what was
//! acknowledged and what was under way when the child died; nothing else may be stored. What the patterns leave to a recovery (a
//! sweep and workers, a collection of orphans) is run first, as their documentation prescribes.

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
