//! Azurite as a backend: the behaviour suite, the queue suite, SAS, policies and blobs.
//!
//! If Azurite is known to differ from the service, [`deviations`] lists the difference with its rule, and the test verifies it.

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

/// Returns the connection string of this binary's server; `None` if Azurite is not available, which is reported on the console.
fn azurite() -> Option<String> {
    AzuriteServer::shared().map(AzuriteServer::connection_string)
}

/// Returns the options of clients in these tests. No attempt is abandoned because the machine is slow, so none is repeated.
fn patient() -> Options {
    Options::new().retry(RetryPolicy {
        attempt_timeout: Duration::from_secs(60 * 60),
        operation_timeout: Duration::from_secs(4 * 60 * 60),
        ..RetryPolicy::default()
    })
}
