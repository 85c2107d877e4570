//! What must survive a crash, as a workload that leaves evidence and a check that reads it.
//!
//! Each writer owns a partition and a counter. Its `n`-th transaction writes the counter and every row of one slot with the
//! number `n`, or deletes the slot. So after any crash: a counter below the last acknowledged number is a lost write; rows of
//! one slot that disagree are half a transaction; an `ETag` below an acknowledged one went backwards.

pub mod bulk;
mod check;
pub mod options;
#[cfg(feature = "services")]
pub mod patterns;
pub mod process;
#[cfg(feature = "services")]
pub mod server;
mod workload;

pub use check::{Evidence, check};
pub use workload::{Acknowledged, ROWS_OF_A_SLOT, SLOTS, TABLE, Writer};
