//! Tests the clients against Azurite: the behaviour suite, the queue suite, SAS, stored policies and blobs.
//!
//! [`deviations`] lists each known difference between Azurite and the service, with its rule. A test checks that each difference still exists.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod behaviour;
mod blobs;
mod deviations;
mod differential;
mod parity;
mod queues;
mod signatures;

use std::time::Duration;

use table_azure::{Options, RetryPolicy};
use tests::azurite::AzuriteServer;

/// Returns the connection string of the Azurite server that all tests in this binary share. If Azurite is not available, prints the reason and returns `None`.
fn azurite() -> Option<String> {
    AzuriteServer::shared().map(AzuriteServer::connection_string)
}

/// Returns client options whose timeouts are so long that even a slow machine causes no retries.
fn patient() -> Options {
    Options::new().retry(RetryPolicy {
        attempt_timeout: Duration::from_secs(60 * 60),
        operation_timeout: Duration::from_secs(4 * 60 * 60),
        ..RetryPolicy::default()
    })
}
