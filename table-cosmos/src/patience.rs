//! Waits between attempts: while a physical partition is being split, merged or moved, and after a response was lost.

use azure_data_cosmos::CosmosError;

use crate::failure;
use crate::options::Options;
use crate::usage;

impl Options {
    /// Sends a read repeatedly until its partition is available or the attempts are used up (MAP-12).
    /// The Azure SDK itself gives up after a few immediate attempts.
    pub(crate) async fn while_moving<T, F>(&self, send: impl FnMut() -> F) -> Result<T, CosmosError>
    where
        F: Future<Output = Result<T, CosmosError>>,
    {
        self.repeat(send, failure::is_moving).await
    }

    /// Sends a write like [`while_moving`](Self::while_moving), but does not retry if the response was lost.
    pub(crate) async fn while_moving_unwritten<T, F>(&self, send: impl FnMut() -> F) -> Result<T, CosmosError>
    where
        F: Future<Output = Result<T, CosmosError>>,
    {
        self.repeat(send, |error| failure::is_moving(error) && !failure::is_repeated(error)).await
    }

    async fn repeat<T, F>(
        &self,
        mut send: impl FnMut() -> F,
        may_repeat: impl Fn(&CosmosError) -> bool,
    ) -> Result<T, CosmosError>
    where
        F: Future<Output = Result<T, CosmosError>>,
    {
        let mut attempt: u32 = 0;
        loop {
            let ended = Box::pin(send()).await;
            if let Some(diagnostics) = ended.as_ref().err().and_then(CosmosError::diagnostics) {
                usage::charge(&diagnostics);
            }
            match ended {
                Err(error) if may_repeat(&error) && (attempt as usize) + 1 < self.splits => {
                    tracing::debug!(target: "table_cosmos", attempt, "the partition is being moved");
                    self.pause(attempt).await;
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }

    /// Waits before the next attempt.
    pub(crate) async fn pause(&self, attempt: u32) {
        let wait = self.split_backoff.delay(attempt, self.runtime().random());
        self.runtime().sleep(wait).await;
    }
}
