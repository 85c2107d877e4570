//! Crash tests: a workload whose acknowledged writes are recorded as evidence, and a check of the stored data against this evidence.
//!
//! Each writer owns a partition and a counter. Its `n`-th transaction writes the number `n` to the counter and to every row of one slot (a group of rows),
//! or deletes the slot. After a crash, a counter below the last acknowledged number means that a write was lost. Different numbers in the rows of a slot
//! mean that a transaction was only partially applied. An `ETag` below an acknowledged one means that the store returned to an earlier state.

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
