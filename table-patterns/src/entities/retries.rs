//! Repeated attempts to commit a batch, with backoff.

use table_core::etag::ETag;
use table_core::key::RowKey;
use table_core::retry::{Retry, RetryLoop};
use table_core::row::Row;
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result};

use crate::entities::batch::Batch;
use crate::entities::commit::{Conflict, Outcome, Site};
use crate::entities::draft::Draft;
use crate::entities::outbox::StepRecorder;

/// The retry loop that commits a write. After a conflict, the rows are reread and the write is planned again.
pub(crate) struct Retries<'a> {
    race: RetryLoop<'a>,
    /// `true` if the write is planned again after a conflict on an entity. If `false`, the write fails.
    replans_entities: bool,
    /// `true` if derived rows are read before they are written.
    look: bool,
    /// `true` if the same transaction may also write other entities.
    together: bool,
    /// The number of conflicts left before the write fails.
    left: usize,
    /// The properties that the last attempt wrote to the first entity, or `None` if the draft needed no completion.
    completed: Option<Row>,
}

impl<'a> Retries<'a> {
    /// Creates the retry loop for committing a write. `what` describes the contended rows in the error after the last attempt.
    pub(crate) const fn new(retry: &'a Retry, what: &'static str) -> Self {
        let race = retry.start(what);
        let (together, left) = (true, usize::MAX);
        Self { race, replans_entities: false, look: false, together, left, completed: None }
    }

    /// Sets whether a conflict on an entity makes the loop plan the write again. Otherwise, the write fails.
    pub(crate) fn replan_entities(self, replans_entities: bool) -> Self {
        Self { replans_entities, ..self }
    }

    /// Sets the maximum number of conflicts. When the maximum is reached, the last conflict becomes the outcome.
    pub(crate) fn at_most(self, left: usize) -> Self {
        Self { left, ..self }
    }

    /// Returns the properties that the last attempt wrote to the first entity, or `None` if the draft needed no completion.
    pub(crate) fn into_completed(self) -> Option<Row> {
        self.completed
    }

    /// Builds a draft's batch, and makes one attempt to commit it. Returns `None` if the write must be planned again for another attempt.
    ///
    /// # Errors
    /// The attempt's error, if rebuilding the write cannot resolve it; `UpdateConditionNotSatisfied` after the last attempt (CON-3).
    pub(crate) async fn submit<S: TableStore, O: StepRecorder>(
        &mut self,
        site: &Site<'_, S, O>,
        draft: &Draft<'_>,
    ) -> Result<Option<Outcome>> {
        let (planned, most) = (draft.planned(), site.store.capabilities().limits.operations);
        let batch = match draft.batch(&mut self.together, most).await {
            // The plan itself requires a certain version of the row, so other attempts would also fail.
            Err(error) if is_moved(&error) && !self.replans_entities && requires_row_of(planned, &error) => {
                return Ok(Some(Outcome::Conflict(Conflict::Entity, error)));
            }
            Err(error) if is_moved(&error) => return self.lost(Conflict::Related, error).await,
            batch => batch?,
        };
        if draft.is_pending() {
            self.completed = batch.entities().first().and_then(|first| first.kind.row().cloned());
        }
        self.attempt(site, &batch, draft.is_pending().then_some(planned)).await
    }

    /// Makes one attempt to commit a batch. `planned` contains the draft's parts before completion, or is `None` if nothing needed completion.
    async fn attempt<S: TableStore, O: StepRecorder>(
        &mut self,
        site: &Site<'_, S, O>,
        batch: &Batch,
        planned: Option<&Batch>,
    ) -> Result<Option<Outcome>> {
        let has_others = planned.is_some_and(|planned| batch.entities().len() > planned.entities().len());
        let (conflict, error) = match site.attempt(batch, self.look).await {
            Ok(Outcome::Conflict(conflict, error)) => match planned {
                Some(planned) if !conflict.is_in(planned, batch, &error) => (Conflict::Related, error),
                _ => (conflict, error),
            },
            Ok(committed) => return Ok(Some(committed)),
            // The plan is based on rows that changed before the transaction was built.
            Err(error) if planned.is_some() && error.is_conflict() => (Conflict::Related, error),
            Err(error) if has_others && is_too_large(&error) => {
                self.together = false;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match conflict {
            Conflict::Entity if !self.replans_entities => Ok(Some(Outcome::Conflict(conflict, error))),
            Conflict::Fixed => Ok(Some(Outcome::Conflict(conflict, error))),
            // The next attempt reads the derived rows. There is no backoff, because the assumption about the rows may have been wrong even without a concurrent
            // writer.
            Conflict::Derived if !self.look => {
                self.look = true;
                Ok(None)
            }
            _ => {
                self.look |= planned.is_some();
                self.lost(conflict, error).await
            }
        }
    }

    /// Counts an attempt that ended with a conflict. Returns the conflict if the maximum number of conflicts is reached, otherwise backs off before the next
    /// attempt.
    ///
    /// # Errors
    /// `UpdateConditionNotSatisfied` after the last attempt (CON-3).
    async fn lost(&mut self, conflict: Conflict, error: Error) -> Result<Option<Outcome>> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Ok(Some(Outcome::Conflict(conflict, error)));
        }
        self.wait(error).await
    }

    /// Backs off before the next attempt.
    ///
    /// # Errors
    /// `UpdateConditionNotSatisfied` after the last attempt (CON-3).
    pub(crate) async fn wait(&mut self, conflict: impl Into<Option<Error>>) -> Result<Option<Outcome>> {
        self.race.retry(conflict).await.map(|()| None)
    }

    /// Commits a draft. Retries after conflicts, without replanning the writes.
    ///
    /// # Errors
    /// Any error from [`submit`](Self::submit).
    pub(crate) async fn commit<S: TableStore, O: StepRecorder>(
        mut self,
        site: &Site<'_, S, O>,
        draft: &Draft<'_>,
    ) -> Result<Outcome> {
        loop {
            if let Some(outcome) = self.submit(site, draft).await? {
                return Ok(outcome);
            }
        }
    }

    /// Commits a batch whose writes are all complete.
    ///
    /// # Errors
    /// The conflict's error, if an entity's condition is not satisfied; any error from [`submit`](Self::submit).
    pub(crate) async fn commit_batch<S: TableStore, O: StepRecorder>(
        mut self,
        site: &Site<'_, S, O>,
        batch: &Batch,
    ) -> Result<Vec<Option<ETag>>> {
        loop {
            if let Some(outcome) = self.attempt(site, batch, None).await? {
                return outcome.committed();
            }
        }
    }
}

/// Returns `true` if the error means that a row changed while the plan's rows were being read.
fn is_moved(error: &Error) -> bool {
    error.code() == ErrorCode::UpdateConditionNotSatisfied
}

/// Returns `true` if the plan requires a version, or the absence, of the row named by the error.
fn requires_row_of(planned: &Batch, error: &Error) -> bool {
    let row_key = error.key().and_then(|(_, row_key)| RowKey::new(row_key).ok());
    row_key.is_some_and(|row_key| planned.requires(&row_key))
}

/// Returns `true` if the error reports a write that does not fit into one transaction.
pub(super) fn is_too_large(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::InvalidInput | ErrorCode::RequestBodyTooLarge)
}
