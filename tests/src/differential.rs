//! Runs the same random programs on two stores and compares all results.
//!
//! Values that differ between any two stores are ignored: `ETag`s, Timestamps, and the ends of pages. Conditions identify a version by the number of
//! writes made after it. Operations for which Azurite is known to differ are not generated; [`program`] documents each of them.

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
