//! Compares two stores by running the same random programs on both.
//!
//! `ETag`s, Timestamps and page boundaries differ between any two stores, so they are not compared. A condition identifies a version by the number of later
//! writes to the same key. Operations in which Azurite is known to differ are not generated. [`program`] lists them.

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
