//! The time limit of a request: the query parameter `timeout`, in seconds (REQ-6).

use std::time::Duration;

use tokio::sync::MutexGuard;

use crate::account::Account;
use crate::exchange::Exchange;
use crate::refusal::Refusal;

/// The largest time limit. The service reduces larger ones to it.
const MOST: u64 = 30;

impl Exchange {
    /// Checks that the time limit of the request has not passed since its head arrived. A request without the parameter `timeout`, or with `timeout=0`, has
    /// no time limit. Call this function after each wait that precedes the request's operation.
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

    /// Waits until no other request changes settings, and then checks the time limit of this request.
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
