//! Two stores given the same random programs: every answer is compared.
//!
//! What must differ between stores does not count: `ETag`s, Timestamps, where a page ends. Conditions name versions by how long
//! ago they were written. What is known to differ on Azurite is not generated; [`program`] says so at each place.

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
