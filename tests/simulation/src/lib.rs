//! Simulated histories of the embedded engine. A seed controls the threads, the clock, and a disk that can lose power. The engine's past faults must be found.

pub mod fault;
pub mod power;
pub mod sim;
