//! Checks of derived rows, as far as a stored schema describes them.
//!
//! A stored schema contains the keys and the properties of index rows, but not the functions of a program: conditions, custom codecs, the relations of
//! copies, handlers. [`plan`] decides for each pattern whether it can be checked, and gives the reason otherwise.

mod copies;
mod outbox;
pub mod plan;

pub use copies::{CopyFinding, Fault, check_copies, repair_copy};
pub use outbox::{Backlog, Intent, discard, intents, requeue};
