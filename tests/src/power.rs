//! Power loss, which a kill does not show: what had not been synced is dropped, torn or reordered.

mod disk;
mod image;
pub mod run;

pub use disk::{Call, Fault, SimulatedDisk};
