//! Request time limits: the query parameter `timeout`, in seconds (REQ-6).

use std::time::Duration;

use tokio::sync::MutexGuard;

use crate::account::Account;
use crate::exchange::Exchange;
use crate::refusal::Refusal;

/// The maximum time limit, in seconds. The service clamps larger values to it.
const MOST: u64 = 30;

impl Exchange {
    /// Checks that the request's time limit has not passed since its head arrived. A request without `timeout`, or with `timeout=0`, has no time limit. Call
    /// this function after each wait that precedes the request's operation.
    ///
    /// # Errors
    /// `OperationTimedOut` if the time limit has passed; `InvalidQueryParameterValue` or `OutOfRangeQueryParameterValue` if the parameter is not a number of
    /// seconds.
    pub(crate) fn check_time(&self) -> Result<(), Refusal> {
        let limit = self.number("timeout")?.filter(|seconds| *seconds > 0);
        match limit.map(|seconds: u64| Duration::from_secs(seconds.min(MOST))) {
            Some(limit) if self.begun.elapsed() >= limit => {
                let help = "the request was not applied; send its body sooner, or increase `timeout`";
                Err(Refusal::new(500, "OperationTimedOut", help))
            }
            _ => Ok(()),
        }
    }

    /// Acquires the lock for settings changes, and then checks this request's time limit.
    ///
    /// # Errors
    /// Any error from [`check_time`](Self::check_time).
    pub(crate) async fn turn<'a>(&self, account: &'a Account) -> Result<MutexGuard<'a, ()>, Refusal> {
        let turn = account.settings.turn.lock().await;
        self.check_time()?;
        Ok(turn)
    }
}

#[cfg(test)]
mod tests;
