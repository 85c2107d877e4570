//! Checks of derived rows, as far as a stored schema describes these rows.
//!
//! A stored schema contains the keys and the properties of index rows, but not the functions of a program, such as conditions, custom codecs,
//! relations of copies, and handlers. For each pattern, [`plan`] determines whether it can be checked, or the reason why it cannot.

mod copies;
mod index_row;
mod outbox;
pub mod plan;
mod repair;
mod sums;
mod wide;

pub use copies::{CopyFinding, Fault, check_copies};
pub use outbox::{Backlog, Intent, discard, intents, requeue};
pub use repair::repair_copy;
pub use wide::{WideFinding, check_wide, refuse_torn};
