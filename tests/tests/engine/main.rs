//! Tests the engine with the behaviour suite, model tests and fault injection. All tests are in one binary, because each binary links the entire engine.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod behaviour;
mod catalogue;
mod format;
mod model;
mod power_loss;
mod queues;
