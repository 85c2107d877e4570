//! Transfers of rows, with batched writes, comparisons in key order, and state files from which a killed command resumes.

pub(crate) mod change;
pub mod checksum;
pub mod compare;
pub mod contained;
pub mod copy;
pub mod delete;
pub mod derived;
mod guarded;
pub mod import;
pub mod ordered;
pub mod parts;
pub mod rejections;
pub mod schema;
mod sequences;
mod settled;
pub mod state;
pub(crate) mod stored;
pub mod sync;
pub(crate) mod wholes;
pub mod writer;
