//! The wait while a physical partition is split, merged or moved, which the client itself gives up after some immediate attempts.

use azure_data_cosmos::CosmosError;

use crate::failure::is_moving;
use crate::options::Options;

impl Options {
    /// Sends a request until its partition is there, or the attempts are used up (MAP-12).
    pub(crate) async fn while_moving<T, F>(&self, mut send: impl FnMut() -> F) -> Result<T, CosmosError>
    where
        F: Future<Output = Result<T, CosmosError>>,
    {
        let mut attempt: u32 = 0;
        loop {
            match Box::pin(send()).await {
                Err(error) if is_moving(&error) && (attempt as usize) + 1 < self.splits => {
                    let wait = self.split_backoff.delay(attempt, self.runtime().random());
                    tracing::debug!(target: "table_cosmos", attempt, ?wait, "the partition is being moved");
                    self.runtime().sleep(wait).await;
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }
}
