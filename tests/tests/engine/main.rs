//! The engine, held to the suite, to models and to faults. One test binary, since each is linked with all of it.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test panics where something is not as it should be"
)]

mod behaviour;
mod catalogue;
mod format;
mod model;
mod power_loss;
mod queues;
mod simulation;
