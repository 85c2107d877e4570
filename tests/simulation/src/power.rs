//! Simulates a power loss. Unlike the end of a process, it can drop, tear or reorder unsynced data.

mod disk;
mod image;

pub use disk::{Call, Fault, SimulatedDisk};
