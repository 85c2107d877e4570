//! Simulated histories of the embedded engine. A seed determines the threads, the clock, and a disk that can lose power. The histories must detect all past
//! faults of the engine.

pub mod fault;
pub mod power;
pub mod sim;
