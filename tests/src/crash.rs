//! Crash tests. A workload makes writes and records the acknowledged ones as evidence. After a crash, the stored data is checked against this evidence.
//!
//! Each writer has a partition and a counter. A slot is a group of rows. The `n`-th transaction of a writer writes the number `n` to the counter and to every
//! row of one slot, or deletes the slot.
//!
//! After a crash, the check detects three kinds of defects. If a counter is below the last acknowledged number, a write was lost. If the rows of a slot have
//! different numbers, a transaction was only partially applied. If an `ETag` is below an acknowledged one, the store returned to an earlier state.

pub mod bulk;
mod check;
pub mod options;
#[cfg(feature = "services")]
pub mod patterns;
pub mod power_loss;
pub mod process;
#[cfg(feature = "services")]
pub mod server;
mod workload;

pub use check::{Evidence, check};
pub use workload::{Acknowledged, ROWS_OF_A_SLOT, SLOTS, TABLE, Writer};
