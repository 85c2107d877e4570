//! Creates clients for the fake account.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use table_azure::testing::{Testing, Wire};
use table_azure::{AzureTables, Credential, Options};
use table_core::retry::Retry;
use table_core::runtime::Runtime;
use table_core::{Clock, Result};

/// Creates a client that sends its requests over the connection `wire`. `seed` is the seed of its random numbers.
///
/// # Errors
/// Does not occur with these arguments.
pub fn account_client(wire: Arc<dyn Wire>, options: Options, seed: u64) -> Result<AzureTables> {
    let testing = Testing { wire: Some(wire), seed: Some(seed) };
    let credential = Credential::shared_key("contoso", "a2V5")?;
    AzureTables::with_options("https://contoso.table.core.windows.net", credential, options.testing(testing))
}

/// Returns a stopped clock that differs from the correct time by `seconds` seconds.
pub(super) fn wrong_clock(seconds: i64) -> Clock {
    let start: DateTime<Utc> = DateTime::from_timestamp(1_795_161_600, 0).unwrap_or_default();
    Clock::of_instants(move || start + TimeDelta::seconds(seconds))
}

/// Returns the retry policy for write conflicts. Its delays pass in tokio's virtual time.
pub(super) fn retry(seed: u64) -> Retry {
    let pace = Runtime::new().sleep_by(|time| Box::pin(tokio::time::sleep(time))).seed(seed);
    Retry::new(8, Duration::from_millis(5), Duration::from_millis(50)).with_runtime(pace)
}
