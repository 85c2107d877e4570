//! Simulates a power loss. Unlike a killed process, it can drop, tear or reorder unsynced data.

mod disk;
mod image;

pub use disk::{Call, Fault, SimulatedDisk};
