//! Simulates a power loss. A power loss can drop, tear or reorder unsynced data. The end of a process cannot.

mod disk;
mod image;

pub use disk::{Call, Fault, SimulatedDisk};
