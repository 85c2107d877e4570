//! Compares two stores by running the same random programs on both.
//!
//! `ETag`s, Timestamps, and the positions at which pages end are not compared, because they differ between any two stores. Conditions identify a
//! version by the number of writes made after it. Operations for which Azurite is known to differ are not generated; [`program`] documents each.

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
