//! Repeated attempts to commit a batch, with back-off.

use table_core::etag::ETag;
use table_core::retry::{Retry, RetryLoop};
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result};

use crate::entities::batch::Batch;
use crate::entities::commit::{Conflict, Outcome, Site};
use crate::entities::outbox::StepRecorder;

/// The retry loop for committing a write. After a conflict, the write is planned again.
pub(crate) struct Rounds<'a> {
    race: RetryLoop<'a>,
    /// `true` if the write is planned again after a conflict on an entity.
    replans_entities: bool,
    /// `true` if the write is planned again after a conflict on any other row.
    replans_rows: bool,
    /// `true` if derived rows are read before they are written.
    look: bool,
    /// The number of conflicts until the write fails.
    left: usize,
}

impl<'a> Rounds<'a> {
    /// Creates the retry loop for committing a write. `what` names the rows that other writers may change, for the error after the last attempt.
    pub(crate) const fn new(retry: &'a Retry, what: &'static str) -> Self {
        let race = retry.start(what);
        Self { race, replans_entities: false, replans_rows: false, look: false, left: usize::MAX }
    }

    /// Sets whether the write is planned again after a conflict on an entity, instead of failing.
    pub(crate) const fn replan_entities(self, replans_entities: bool) -> Self {
        Self { replans_entities, ..self }
    }

    /// Sets whether the write is planned again after a conflict on a contributed row, instead of failing.
    pub(crate) const fn replan_rows(self, replans_rows: bool) -> Self {
        Self { replans_rows, ..self }
    }

    /// Sets whether derived rows are read in every attempt, including the first.
    pub(crate) const fn look(self, look: bool) -> Self {
        Self { look, ..self }
    }

    /// Sets the maximum number of conflicts. The last conflict is returned as an error.
    pub(crate) const fn at_most(self, left: usize) -> Self {
        Self { left, ..self }
    }

    /// Makes one attempt. Returns `None` if the write must be planned again. The first `own` entities belong to the caller.
    ///
    /// # Errors
    /// The error of the attempt if another plan cannot resolve it; `UpdateConditionNotSatisfied` after the last attempt (CON-3).
    pub(crate) async fn submit<S: TableStore, O: StepRecorder>(
        &mut self,
        site: &Site<'_, S, O>,
        batch: &Batch,
        own: usize,
    ) -> Result<Option<Vec<Option<ETag>>>> {
        let (conflict, error) = match site.attempt(batch, self.look).await {
            Ok(Outcome::Committed(etags)) => return Ok(Some(etags)),
            Ok(Outcome::Conflict(Conflict::Entity, error))
                if error.operation().is_some_and(|at| at >= own) =>
            {
                (Conflict::Fixed, error)
            }
            Ok(Outcome::Conflict(conflict, error)) => (conflict, error),
            // Rows on which the plan is based changed before the transaction was built.
            Err(error) if self.replans_rows && error.is_conflict() => (Conflict::Fixed, error),
            Err(error) => return Err(error),
        };
        match conflict {
            Conflict::Entity if !self.replans_entities => return Err(error),
            Conflict::Fixed if !self.replans_rows => return Err(error),
            // The next attempt reads the rows and needs no wait: the assumption may have been wrong without a concurrent writer.
            Conflict::Derived if !self.look && !self.replans_rows => self.look = true,
            _ => {
                self.look |= self.replans_rows;
                self.lost(error).await?;
            }
        }
        Ok(None)
    }

    /// Records an attempt that had a conflict, and waits before the next attempt.
    ///
    /// # Errors
    /// `UpdateConditionNotSatisfied` after the last attempt (CON-3).
    pub(crate) async fn lost(&mut self, conflict: Error) -> Result<()> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Err(conflict);
        }
        self.race.retry(conflict).await
    }

    /// Commits a batch that never needs to be planned again.
    ///
    /// # Errors
    /// Any error from [`submit`](Self::submit).
    pub(crate) async fn commit<S: TableStore, O: StepRecorder>(
        mut self,
        site: &Site<'_, S, O>,
        batch: &Batch,
    ) -> Result<Vec<Option<ETag>>> {
        loop {
            if let Some(etags) = self.submit(site, batch, usize::MAX).await? {
                return Ok(etags);
            }
        }
    }
}

/// Returns `true` if rows on which a plan is based changed before all of them were read.
pub(crate) fn is_moved(error: &Error) -> bool {
    error.code() == ErrorCode::UpdateConditionNotSatisfied
}

/// Returns `true` if a write does not fit into one transaction.
pub(crate) fn is_too_large(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::InvalidInput | ErrorCode::RequestBodyTooLarge)
}
