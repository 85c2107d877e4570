//! Azurite as a backend: the behaviour suite, the suite of queues, signatures, policies and blobs on it.
//!
//! Where it is known to differ from the service, [`deviations`] says so with the rule, and the test holds it to that.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test panics where something is not as it should be"
)]

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

/// The connection string of this binary's server; `None`, said on the console, where there is no Azurite.
fn azurite() -> Option<String> {
    AzuriteServer::shared().map(AzuriteServer::connection_string)
}

/// The options of clients in these tests: no attempt is given up because the machine is slow, and so none is made twice.
fn patient() -> Options {
    Options::new().retry(RetryPolicy {
        attempt: Duration::from_hours(1),
        total: Duration::from_hours(4),
        ..RetryPolicy::default()
    })
}
