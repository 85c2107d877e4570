//! Creates the client for differential tests. It does not retry. A response with status 500 is therefore reported as a difference.

use std::time::Duration;

use table_azure::{AzureTables, Options, RetryPolicy};

/// Creates a client from a connection string. The client does not retry.
///
/// # Errors
/// Any error from [`AzureTables::from_connection_string_with`].
pub fn client(connection: &str) -> table_core::Result<AzureTables> {
    // Even on a slow machine, one attempt takes less time than this.
    let retry = RetryPolicy { attempt_timeout: Duration::from_secs(60 * 60), ..RetryPolicy::NONE };
    AzureTables::from_connection_string_with(connection, Options::new().retry(retry))
}
