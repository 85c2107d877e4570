//! Crash tests: a workload that leaves evidence, and a check that evaluates it.
//!
//! Each writer owns a partition and a counter. Its `n`-th transaction writes the number `n` to the counter and to every row of one slot, or deletes
//! the slot. After a crash, a counter below the last acknowledged number is a lost write, rows of one slot with different numbers are a partial
//! transaction, and an `ETag` below an acknowledged one has gone backwards.

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
