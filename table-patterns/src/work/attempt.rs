//! Attempts to process claimed outbox rows. Rows of different entities are processed concurrently. Rows of one entity that are claimed together are processed
//! in the order of their changes.

use futures_util::future::BoxFuture;
use futures_util::lock::Mutex;
use table_core::queue::QueueStore;
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result};

use crate::failure::Failure;
use crate::outbox::rows::Pending;
use crate::outbox::work::Work;
use crate::requests;
use crate::work::circuit::StepError;
use crate::work::claim::Claims;
use crate::work::fault::{WorkFault, kept};
use crate::work::handler::Keep;
use crate::work::outcome::End;
use crate::work::submitted::Submitted;

impl<S: TableStore, Q: QueueStore> Claims<'_, '_, S, Q> {
    /// Makes one attempt to process each of the rows, and returns the rows with their outcomes. If any attempt ended without an outcome, also returns the first
    /// error.
    pub(super) async fn attempt(&self, begun: Vec<Pending>) -> (Vec<(Pending, End)>, Option<Error>) {
        let rows = Claimed { rows: begun.clone(), until: self.until, is_uncertain: false };
        let hands = Hands { claims: self, rows: Mutex::new(rows) };
        let attempts = by_source(&begun).into_iter().map(|run| {
            let hands = &hands;
            async move {
                let mut ends = Vec::with_capacity(run.len());
                for (at, pending) in run {
                    ends.push((at, hands.attempt(pending).await));
                }
                ends
            }
        });
        let attempts = requests::all(attempts, begun.len().max(1));
        let ends: Vec<_> = attempts.await;
        let mut claimed = hands.rows.into_inner();
        // Errors can be ignored: if this read fails, the next transaction on these rows fails too, and their work is retried later.
        let _ = claimed.read_again(self).await;
        let mut ends: Vec<_> = ends.into_iter().flatten().collect();
        ends.sort_by_key(|(at, _)| *at);
        let (mut ended, mut failed) = (Vec::with_capacity(ends.len()), None);
        for (pending, (_, end)) in claimed.rows.into_iter().zip(ends) {
            match end {
                Ok(end) => ended.push((pending, end)),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        (ended, failed)
    }
}

/// Returns `true` if the last attempt found that an entity in another partition has the same value in a unique index. Such a row never becomes poison. It is
/// retried with increasing backoff until one of the two entities releases the value. A `UniqueViolation` from a handler does not count; it has been wrapped in
/// an error with a different code.
fn is_contested(pending: &Pending) -> bool {
    pending.error.as_deref().is_some_and(|error| error.starts_with(ErrorCode::UniqueViolation.as_str()))
}

/// Groups rows by their source, the changed entity. Each row comes with its index in `begun`.
fn by_source(begun: &[Pending]) -> Vec<Vec<(usize, &Pending)>> {
    let mut runs: Vec<Vec<(usize, &Pending)>> = Vec::new();
    for (at, pending) in begun.iter().enumerate() {
        let has_source = |run: &&mut Vec<(usize, &Pending)>| {
            run.first()
                .is_some_and(|(_, first)| first.place.row_key.source() == pending.place.row_key.source())
        };
        match runs.iter_mut().find(has_source) {
            Some(run) => run.push((at, pending)),
            None => runs.push(vec![(at, pending)]),
        }
    }
    runs
}

/// The rows that are being processed. Their claims are extended together with the message's lease.
struct Hands<'a, 'd, 'q, S, Q> {
    claims: &'a Claims<'d, 'q, S, Q>,
    rows: Mutex<Claimed>,
}

/// The rows that are being processed.
struct Claimed {
    rows: Vec<Pending>,
    /// The time until which the rows are claimed.
    until: u64,
    /// `true` while it is unknown whether the claims have been extended, and therefore which `ETag`s the rows have. This state begins with the request. It
    /// persists if the request fails, or if a handler cancels the request by dropping the future of [`keep`](Keep::keep).
    is_uncertain: bool,
}

impl Claimed {
    /// Rereads the rows if it is unknown whether the claims have been extended. If another worker has claimed a row, the old `ETag` is kept, so the next
    /// request on the row fails.
    async fn read_again<S: TableStore, Q: QueueStore>(
        &mut self,
        claims: &Claims<'_, '_, S, Q>,
    ) -> Result<()> {
        if self.is_uncertain {
            for row in &mut self.rows {
                if let Some(own) = claims.own(row).await? {
                    *row = own;
                }
            }
            self.is_uncertain = false;
        }
        Ok(())
    }
}

impl<S: TableStore, Q: QueueStore> Hands<'_, '_, '_, S, Q> {
    /// # Errors
    /// Any error from setting the row aside as poison.
    async fn attempt(&self, pending: &Pending) -> Result<End> {
        let worker = self.claims.worker;
        if pending.attempts > worker.options.poison_after && !is_contested(pending) {
            return self.put_aside(pending, pending.error.clone(), pending.attempts - 1).await;
        }
        let taken = worker.take_row(self, pending).await;
        let Err(StepError { error, delay, is_refused }) = taken else { return Ok(End::Done) };
        let failure = Failure::of(&error);
        let was_contested = is_contested(pending);
        // While a unique value is contested, the number of failures determines only the delays. If a different permanent error follows, the count therefore
        // restarts at 1.
        let restarts = was_contested && error.code() != ErrorCode::UniqueViolation;
        let failures = match failure {
            Failure::Lasting if restarts => 1,
            Failure::Lasting => pending.failures.saturating_add(1),
            Failure::Outage | Failure::Newer => pending.failures,
        };
        let delay = delay.or_else(|| (failure == Failure::Newer).then(|| worker.longer(pending.wait)));
        match worker.failed(&error, failures, delay) {
            None => self.put_aside(pending, Some(kept(&error)), pending.attempts).await,
            Some(delay) => {
                // An outage does not tell whether the value is still contested, so the error that says so is kept.
                let keeps_error = is_refused || (failure != Failure::Lasting && was_contested);
                let error = (!keeps_error).then(|| kept(&error));
                Ok(End::Failed { error, failures, delay })
            }
        }
    }

    /// Moves a row to the poison queue, with its last error and the number of attempts that count.
    async fn put_aside(&self, pending: &Pending, error: Option<String>, attempts: u32) -> Result<End> {
        let work = Work::Row(pending.place.clone()).write()?;
        let worker = self.claims.worker;
        worker.put_aside(self, &worker.poisoned(work, error, attempts)).await?;
        Ok(End::Poisoned)
    }
}

impl<S: TableStore, Q: QueueStore> Keep for Hands<'_, '_, '_, S, Q> {
    fn keep(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            // IMPORTANT: only one task at a time extends the claims. If two tasks used the same `ETag`s, the second one would fail.
            let mut claimed = self.rows.lock().await;
            self.claims.held.extend().await?;
            let until = self.claims.held.until();
            // If extending the claims failed, the next call tries again.
            if claimed.until == until {
                return Ok(());
            }
            claimed.read_again(self.claims).await?;
            let claim = |row: &Pending| self.claims.claimed(row, row.attempts, until);
            let claims = claimed.rows.iter().map(claim).collect::<Result<_>>()?;
            claimed.is_uncertain = true;
            let is_too_large = match self.claims.submit(claims).await? {
                Submitted::Committed(etags) => {
                    for (row, etag) in claimed.rows.iter_mut().zip(etags) {
                        row.versioned(etag);
                    }
                    (claimed.until, claimed.is_uncertain) = (until, false);
                    return Ok(());
                }
                Submitted::Lost => false,
                Submitted::TooLarge => true,
            };
            // If a row contains the extended claim, only the response to an earlier try was lost. If it contains the previous claim, no other worker has
            // claimed it. In that case, the transaction failed because of another row, or because a sweep's note has changed this row's `ETag`.
            for row in &mut claimed.rows {
                if is_too_large
                    && let Submitted::Committed(etags) = self.claims.submit(vec![claim(row)?]).await?
                {
                    row.versioned(etags.into_iter().next().flatten());
                    continue;
                }
                let lost = || Error::of(WorkFault::Claimed);
                *row = self.claims.own(row).await?.ok_or_else(lost)?;
                if row.not_before == until {
                    continue;
                }
                let Submitted::Committed(etags) = self.claims.submit(vec![claim(row)?]).await? else {
                    return Err(lost());
                };
                row.versioned(etags.into_iter().next().flatten());
            }
            (claimed.until, claimed.is_uncertain) = (until, false);
            Ok(())
        })
    }

    fn now(&self) -> u64 {
        self.claims.held.now()
    }
}
