//! Power loss, which a kill does not simulate: data that was not synced is dropped, torn or reordered.

mod disk;
mod image;

pub use disk::{Call, Fault, SimulatedDisk};
