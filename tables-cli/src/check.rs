//! Checks of derived rows, as far as stored schemas describe them.
//!
//! A stored schema contains the keys and the properties of index rows. It does not contain the functions of a program, such as conditions, custom
//! codecs, relations of copies, and handlers. For each pattern, [`plan`] determines either the check or the reason why it cannot be checked.

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
