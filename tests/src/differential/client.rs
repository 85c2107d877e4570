//! Creates the client for differential tests. It does not retry, so a response with status 500 is reported as a difference.

use std::time::Duration;

use table_azure::{AzureTables, Options, RetryPolicy};

/// Creates a client without retries from a connection string.
///
/// # Errors
/// Any error from [`AzureTables::from_connection_string_with`].
pub fn client(connection: &str) -> table_core::Result<AzureTables> {
    // The timeout is longer than even a slow machine needs for one attempt.
    let retry = RetryPolicy { attempt_timeout: Duration::from_secs(60 * 60), ..RetryPolicy::NONE };
    AzureTables::from_connection_string_with(connection, Options::new().retry(retry))
}
