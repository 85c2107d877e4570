//! Simulated histories of the embedded engine: a disk that loses power, threads and clocks under the control of a seed, and the engine's past faults.

pub mod fault;
pub mod power;
pub mod sim;
