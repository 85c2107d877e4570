//! Checks derived rows described by stored schemas, such as index rows.
//!
//! A stored schema contains the keys and the properties of index rows. It does not contain program code such as conditions, custom codecs, copy relations, and
//! handlers. For each pattern, [`plan`] returns either a check or the reason why the pattern cannot be checked.

mod copies;
mod forms;
mod index_row;
mod outbox;
pub mod plan;
mod repair;
mod sums;
mod wide;

pub use copies::{CheckedIndex, CheckedRows, CopyFinding, Fault, check_copies};
pub use outbox::{Backlog, Intent, discard, intents, requeue};
pub use repair::{Repaired, repair_copy};
pub use wide::{CheckedWide, WideFinding, check_wide, refuse_torn};
