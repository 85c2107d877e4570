//! Compares two stores by running the same random programs on both.
//!
//! `ETag`s, Timestamps and page boundaries are not compared, because they differ between any two stores. Conditions identify a version by the number of
//! later writes to the same key. Operations in which Azurite is known to differ are not generated; [`program`] lists them.

mod client;
pub mod program;
mod run;
mod sequences;
mod shrink;

pub use client::client;
pub use run::run;
pub use sequences::sequences;
pub use shrink::smallest;

#[cfg(test)]
mod tests;
