//! The retry policy for write conflicts, which sets the number of attempts and the backoff (RTY-1, CON-3).

use std::time::Duration;

use table_store::{Error, ErrorCode, Result};

use crate::runtime::{Backoff, Runtime};

/// A retry policy for write conflicts. It contains the maximum number of attempts, and the delays between them.
///
/// The delays are random. Their upper bound doubles after each attempt, up to a maximum.
///
/// All read-modify-write loops use this policy, including [`Table::update`](crate::Table::update) and all patterns.
///
/// ```
/// use std::time::Duration;
/// use table_core::retry::Retry;
/// use table_core::{Error, ErrorCode};
///
/// # pollster::block_on(async {
/// let retry = Retry::new(3, Duration::from_millis(1), Duration::from_millis(4));
/// let mut attempts = retry.start("the entity");
/// let given_up = loop {
///     let conflict = Error::new(ErrorCode::UpdateConditionNotSatisfied, "another version is there");
///     assert!(conflict.is_conflict());
///     if let Err(error) = attempts.retry(conflict).await {
///         break error;
///     }
/// };
/// assert!(given_up.is_precondition_failed() && given_up.to_string().contains("each of 3 attempts"));
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Retry {
    attempts: usize,
    backoff: Backoff,
    pace: Runtime,
}

impl Retry {
    /// The maximum number of attempts in the default policy. A high number is acceptable, because each conflict means that another writer has succeeded
    /// (CON-5).
    pub const ATTEMPTS: usize = 64;

    /// Creates a policy with at most `attempts` attempts. Zero counts as one. The first delay is at most `first`, and every delay is at most `most`.
    #[must_use]
    pub fn new(attempts: usize, first: Duration, most: Duration) -> Self {
        Self {
            attempts: attempts.max(1),
            backoff: Backoff { initial: first, max: most },
            pace: Runtime::new(),
        }
    }

    /// Sets the clock, the sleep function and the random number generator.
    #[must_use]
    pub fn with_runtime(self, pace: Runtime) -> Self {
        Self { pace, ..self }
    }

    /// Returns the clock, the sleep function and the random number generator.
    #[must_use]
    pub const fn runtime(&self) -> &Runtime {
        &self.pace
    }

    /// Returns the maximum number of attempts.
    #[must_use]
    pub const fn attempts(&self) -> usize {
        self.attempts
    }

    /// Starts a retry loop. The final error contains `what`, which describes the contended object, such as `the entity or its indexes`.
    #[must_use]
    pub const fn start(&self, what: &'static str) -> RetryLoop<'_> {
        RetryLoop { retry: self, what, lost: 0 }
    }
}

/// Creates the default policy, with [`Retry::ATTEMPTS`] attempts, a first delay of at most 1 ms, and delays of at most 100 ms.
impl Default for Retry {
    fn default() -> Self {
        Self::new(Self::ATTEMPTS, Duration::from_millis(1), Duration::from_millis(100))
    }
}

/// A running retry loop, created by [`Retry::start`].
///
/// ```
/// use table_core::{Error, Result, retry::RetryLoop};
///
/// /// Retries an operation until it completes without a conflict or no attempts remain.
/// async fn won(mut attempts: RetryLoop<'_>, attempt: impl AsyncFn() -> Result<()>) -> Result<()> {
///     loop {
///         match attempt().await {
///             Err(error) if error.is_conflict() => attempts.retry(error).await?,
///             other => return other,
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct RetryLoop<'a> {
    retry: &'a Retry,
    what: &'static str,
    lost: usize,
}

impl RetryLoop<'_> {
    /// Sleeps for the backoff delay before the next attempt. `conflict` is the error from the last attempt, or `None` if the attempt returned no error.
    ///
    /// # Errors
    /// `UpdateConditionNotSatisfied` (CON-3) if no attempts remain. The error contains the table and key of `conflict`. Its source is `conflict`.
    pub async fn retry(&mut self, conflict: impl Into<Option<Error>>) -> Result<()> {
        self.lost += 1;
        let Retry { attempts, backoff, pace } = self.retry;
        if self.lost >= *attempts {
            return Err(self.given_up(conflict.into()));
        }
        let waits = u32::try_from(self.lost - 1).unwrap_or(u32::MAX);
        pace.sleep(backoff.delay(waits, pace.random())).await;
        Ok(())
    }

    fn given_up(&self, conflict: Option<Error>) -> Error {
        let message = format!(
            "{} changed during each of {} attempts; retry later, or spread the writes over more entities or partitions",
            self.what, self.retry.attempts
        );
        let mut error = Error::new(ErrorCode::UpdateConditionNotSatisfied, message).with_rule("CON-3");
        let Some(conflict) = conflict else { return error };
        if let Some(table) = conflict.table() {
            error = error.with_table(table);
        }
        if let Some((partition_key, row_key)) = conflict.key() {
            error = error.with_key(partition_key, row_key);
        }
        error.with_source(conflict)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn rty_1_delays_stay_below_a_bound_that_doubles() {
        let waits = Arc::new(Mutex::new(Vec::new()));
        let recorder = Arc::clone(&waits);
        let pace = Runtime::new().sleep_by(move |time| {
            recorder.lock().unwrap().push(time);
            Box::pin(async {})
        });
        let retry = Retry::new(6, Duration::from_millis(1), Duration::from_millis(5)).with_runtime(pace);
        let mut attempts = retry.start("it");
        let lost = || {
            Error::new(ErrorCode::EntityAlreadyExists, "another writer committed first").with_table("Company")
        };
        let given_up = loop {
            if let Err(error) = pollster::block_on(attempts.retry(lost())) {
                break error;
            }
        };
        assert_eq!((given_up.rule(), given_up.table()), (Some("CON-3"), Some("Company")));
        assert!(given_up.source().is_some() && given_up.to_string().contains("it changed during each of 6"));
        let bounds = [1, 2, 4, 5, 5].map(Duration::from_millis);
        let waits = waits.lock().unwrap();
        assert_eq!(waits.len(), bounds.len());
        assert!(
            waits.iter().zip(bounds).all(|(wait, bound)| bound / 2 <= *wait && *wait <= bound),
            "{waits:?}"
        );
    }

    #[test]
    fn at_least_one_attempt_is_made() {
        let retry = Retry::new(0, Duration::ZERO, Duration::ZERO);
        assert_eq!(retry.attempts(), 1);
        assert!(pollster::block_on(retry.start("it").retry(None)).is_err());
    }
}
