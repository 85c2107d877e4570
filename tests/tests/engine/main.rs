//! Tests of the engine: the behaviour suite, model tests and fault injection. They form one test binary, because each binary links the entire engine.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod behaviour;
mod catalogue;
mod format;
mod model;
mod power_loss;
mod queues;
