//! Delays between attempts while a physical partition is being split, merged or moved, and after a lost response.

use azure_data_cosmos::CosmosError;

use crate::failure;
use crate::options::Options;
use crate::usage;

impl Options {
    /// Retries a read until its partition is available or the attempts are exhausted (MAP-12). The Azure SDK alone would give up after a few attempts without
    /// delays.
    pub(crate) async fn while_moving<T, F>(&self, mut send: impl FnMut() -> F) -> Result<T, CosmosError>
    where
        F: Future<Output = Result<T, CosmosError>>,
    {
        let charged = || {
            let answer = Box::pin(send());
            async { answer.await.inspect_err(usage::charge_failed) }
        };
        self.while_busy(charged, failure::is_moving).await
    }

    /// Retries a request until it succeeds, fails permanently, or has exhausted its attempts.
    pub(crate) async fn while_busy<T, E, F>(
        &self,
        mut send: impl FnMut() -> F,
        is_temporary: impl Fn(&E) -> bool,
    ) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        let mut attempt: u32 = 0;
        loop {
            match Box::pin(send()).await {
                Err(error) if is_temporary(&error) && (attempt as usize) + 1 < self.splits => {
                    tracing::debug!(target: "table_cosmos", attempt, "the partition is being moved, or is busy");
                    self.pause(attempt).await;
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }

    /// Waits for the backoff delay after attempt number `attempt`.
    pub(crate) async fn pause(&self, attempt: u32) {
        let wait = self.split_backoff.delay(attempt, self.runtime().random());
        self.runtime().sleep(wait).await;
    }
}
