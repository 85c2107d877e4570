//! Claims on outbox rows. A worker claims rows in batches, and other workers do not process claimed rows.
//!
//! One transaction claims a batch of rows until the message's lease expires. An attempt is counted when it starts, in the transaction that also records the
//! outcomes of the previous rows. Rows that were never tried are started together; a row that is being retried is started alone. While a row waits behind a
//! long step, its claim may expire. Another worker may then claim the row, and no attempt is counted for the expired claim.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use table_core::Result;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::Operation;
use table_core::query::Select;
use table_core::queue::QueueStore;
use table_core::retry::Retry;
use table_core::runtime::ticks_of;
use table_core::store::{Committed, TableStore};
use uuid::Uuid;

use crate::outbox::notes::Note;
use crate::outbox::place::Place;
use crate::outbox::rows::{Pending, together};
use crate::outbox::work::Work;
use crate::work::handler::Keep;
use crate::work::lease::Held;
use crate::work::outcome::End;
use crate::work::reading::Reading;
use crate::work::submitted::Submitted;
use crate::work::worker::{Outcome, Worker};

/// The maximum number of rows that a worker reads, claims and holds in memory at a time.
pub(super) const PORTION: usize = 32;
/// The number of pages and claimed rows after which a delivery ends. The message is then redelivered after the other messages. The next delivery continues
/// after the last processed row, or with the first row if the store has no key order.
const MOST: usize = 1_024;
/// The maximum number of operations per attempt in a transaction that ends some attempts and starts as many others. Starting an attempt takes one operation,
/// which claims the row. Ending it takes one operation, or two if the row is moved to the poison rows.
const PER_ROW: usize = 3;

/// A worker's claims on the outbox rows that a message refers to.
pub(super) struct Claims<'a, 'q, S, Q> {
    pub(super) worker: &'a Worker<S, Q>,
    pub(super) held: &'a Held<'q, Q>,
    /// The table and the partition of the rows.
    pub(super) table: &'a TableName,
    pub(super) partition_key: &'a PartitionKey,
    /// The identifier of these claims. If a response is lost, the worker recognises its own claims by it (CON-11).
    pub(super) id: String,
    /// For each row of the current page, the number of attempts before the row was claimed. If the response to a claim is lost, the claim is repeated with this
    /// number, so that no attempt is counted twice.
    pub(super) attempts: BTreeMap<RowKey, u32>,
    /// `true` if the message has been delivered before. An earlier receiver may then have claimed rows and died.
    pub(super) is_repeated: bool,
    /// The expiry time written in the claims.
    pub(super) until: u64,
    /// The earliest time at which one of the remaining rows is due again.
    pub(super) later: Option<u64>,
    /// The maximum number of rows per claim. It is halved if the claims are too large for one transaction.
    pub(super) most: usize,
}

/// The result of claiming the rows in one page.
struct Claimed {
    /// The rows whose attempts have been started.
    begun: Vec<Pending>,
    /// The claimed rows whose attempts have not been started.
    portion: VecDeque<Pending>,
    /// `true` if some free rows of the page were not claimed, because the claims would have been too large for one transaction.
    is_partial: bool,
}

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Processes the outbox rows that a message refers to.
    pub(super) async fn rows(&self, held: &Held<'_, Q>, work: &Work, is_repeated: bool) -> Result<Outcome> {
        let id = Uuid::new_v4().simple().to_string();
        let (table, partition_key) = work.place();
        let (attempts, later) = (BTreeMap::new(), work.progress().later);
        let (until, most) = (0, PORTION);
        let mut claims = Claims {
            worker: self,
            held,
            table,
            partition_key,
            id,
            attempts,
            is_repeated,
            until,
            later,
            most,
        };
        let after = claims.work(work).await?;
        let delay = match (&after, claims.later) {
            (Some(_), _) => 0,
            (None, Some(later)) => later.saturating_sub(held.now()),
            (None, None) => return Ok(Outcome::Done),
        };
        let is_moved = after != work.progress().after;
        let text = is_moved.then(|| work.next(after, claims.later).write()).transpose()?;
        Ok(Outcome::Again { delay, text })
    }
}

impl<S: TableStore, Q: QueueStore> Claims<'_, '_, S, Q> {
    /// Returns the operation that claims a row until the given time, and records the number of its started attempts.
    pub(super) fn claimed(&self, pending: &Pending, attempts: u32, until: u64) -> Result<Operation> {
        // IMPORTANT: the duration of the claim is not the difference of two clock readings, because the clock may have been set in between.
        let wait = ticks_of(self.held.hidden);
        pending.note(Note::Claimed { by: &self.id, attempts, until, wait })
    }

    /// Submits operations on outbox rows.
    ///
    /// # Errors
    /// Any error from [`Submitted::of`].
    pub(super) async fn submit(&self, operations: Vec<Operation>) -> Result<Submitted> {
        if operations.is_empty() {
            return Ok(Submitted::Committed(Committed::default()));
        }
        let (store, is_divisible) = (self.worker.outbox.store(), operations.len() > 1);
        let committed = match together(self.partition_key, operations, store.capabilities().limits) {
            Ok(transaction) => {
                self.worker.retry(self.held, || store.submit(self.table, transaction.clone())).await
            }
            Err(error) => Err(error),
        };
        Submitted::of(committed, is_divisible)
    }

    /// Processes the rows. If the delivery ends before the last page, returns the key of the last row.
    async fn work(&mut self, work: &Work) -> Result<Option<RowKey>> {
        let retry = Retry::default().with_runtime(self.worker.outbox.runtime().clone());
        let is_ordered = self.worker.outbox.store().capabilities().ordered;
        let (mut reading, mut made) = (Reading::new(work, is_ordered), 0);
        loop {
            self.attempts.clear();
            let mut race = retry.start("the rows of the outbox");
            let Claimed { mut begun, mut portion, is_partial } = loop {
                let page = self.portion(work, &mut reading).await?;
                match self.claim(page).await? {
                    Some(claimed) => break claimed,
                    None => race.retry(None).await?,
                }
            };
            let claimed = begun.len() + portion.len();
            made += usize::from(is_ordered) + claimed;
            while !begun.is_empty() {
                let (ended, failed) = self.attempt(begun).await;
                if let Some(error) = failed {
                    self.next(ended, &mut VecDeque::new()).await?;
                    return Err(error);
                }
                begun = self.next(ended, &mut portion).await?;
            }
            // If some free rows in the page were not claimed, the page is reread.
            if !is_partial && !reading.advance(claimed > 0) {
                return Ok(None);
            }
            // The delivery ends here. Otherwise, a long backlog or newly inserted rows could delay other messages for a long time.
            if made >= MOST && reading.after.is_some() {
                // IMPORTANT: a store without key order may later return rows with smaller keys, so the next delivery begins with the first row. On such a
                // store, only claimed rows count towards the limit, so each delivery makes progress.
                if is_partial || !is_ordered {
                    self.wait_until(self.held.now());
                }
                return Ok(reading.after.filter(|_| is_ordered));
            }
        }
    }

    /// Reads one outbox row. Returns `None` if it does not exist.
    pub(super) async fn row(&self, place: &Place) -> Result<Option<Pending>> {
        let (store, key) = (self.worker.outbox.store(), place.key());
        let found = self.worker.retry(self.held, || store.get(self.table, &key, &Select::All)).await;
        let found = none_if_deleted(found)?;
        found.map(|found| Pending::of(place.clone(), found.row.view(), found.etag)).transpose()
    }

    /// Returns `true` if this delivery may claim the row or has already claimed it.
    pub(super) fn is_free(&self, pending: &Pending, now: u64) -> bool {
        self.is_ours(pending) || self.worker.is_due(pending, now)
    }

    /// Skips a row that is not free. The worker that claimed the row retries it through its own message. If this message was delivered before, an earlier
    /// receiver may have claimed the row and died. This message is then redelivered when the row becomes free.
    pub(super) fn leave(&mut self, pending: &Pending) {
        if self.is_repeated {
            self.wait_until(pending.not_before);
        }
    }

    /// Claims the free rows of a page in the order of their changes, or as many of them as one transaction can claim. Also starts attempts for the first rows.
    /// Returns `None` if another worker committed first.
    async fn claim(&mut self, page: Vec<Pending>) -> Result<Option<Claimed>> {
        let (now, mut free) = (self.held.now(), Vec::new());
        for mut pending in page {
            let is_ours = self.is_ours(&pending);
            // IMPORTANT: if the response to a claim was lost, the row may count an attempt that never started.
            match self.attempts.get(&pending.place.row_key.to_row_key()) {
                Some(before) if is_ours => pending.attempts = *before,
                _ => drop(self.attempts.insert(pending.place.row_key.to_row_key(), pending.attempts)),
            }
            if !self.is_free(&pending, now) {
                self.leave(&pending);
            } else if !pending.has_space && free.iter().any(|other: &Pending| !other.has_space) {
                // The claim of a row without space for notes contains the whole intent, so a transaction claims only one such row.
                self.wait_until(now);
            } else {
                free.push(pending);
            }
        }
        free.sort_by_key(|pending| pending.version);
        let mut free = VecDeque::from(free);
        self.held.keep().await?;
        let all = free.len();
        let (begins, etags) = loop {
            free.truncate(self.most);
            let begins = self.begins(&free);
            self.until = self.held.until();
            let claim = |(at, pending): (usize, &Pending)| {
                let attempts = if at < begins { started(pending) } else { pending.attempts };
                self.claimed(pending, attempts, self.until)
            };
            match self.submit(free.iter().enumerate().map(claim).collect::<Result<_>>()?).await? {
                Submitted::Committed(etags) => break (begins, etags),
                Submitted::Lost => return Ok(None),
                // Some stores count the whole row that a claim changes. The size of the transaction can therefore not be computed here.
                Submitted::TooLarge => self.most = free.len().div_ceil(2),
            }
        };
        let is_partial = free.len() < all;
        free.iter_mut().take(begins).for_each(begin);
        for (pending, etag) in free.iter_mut().zip(etags) {
            pending.versioned(etag);
        }
        let begun = free.drain(..begins).collect();
        Ok(Some(Claimed { begun, portion: free, is_partial }))
    }

    /// Records the outcomes of the completed attempts, and starts the next rows of the batch. Skips rows that another worker has claimed in the meantime.
    async fn next(
        &mut self,
        ended: Vec<(Pending, End)>,
        portion: &mut VecDeque<Pending>,
    ) -> Result<Vec<Pending>> {
        // IMPORTANT: a row is deleted after its last step, and the message after all its rows. Unfinished work is therefore always retried.
        self.held.keep().await?;
        let now = self.held.now();
        for delay in ended.iter().filter_map(|(_, end)| end.again()) {
            self.wait_until(now.saturating_add(delay));
        }
        let mut begun: Vec<_> = portion.drain(..self.begins(portion)).collect();
        begun.iter_mut().for_each(begin);
        let mut operations = Vec::with_capacity(ended.len() + begun.len());
        for (pending, end) in &ended {
            operations.extend(end.operations(pending, now)?);
        }
        let ends = operations.len();
        self.until = self.held.until();
        for next in &begun {
            operations.push(self.claimed(next, next.attempts, self.until)?);
        }
        if let Submitted::Committed(etags) = self.submit(operations).await? {
            for (pending, end) in &ended {
                self.count(pending, end);
            }
            for (next, etag) in begun.iter_mut().zip(etags.into_iter().skip(ends)) {
                next.versioned(etag);
            }
            return Ok(begun);
        }
        // Another worker has claimed one of the rows, or the rows are too large for one transaction. Each row's operations are now submitted separately.
        for (pending, end) in &ended {
            let is_recorded = match self.submit(end.operations(pending, now)?).await? {
                Submitted::Committed(_) => true,
                Submitted::Lost => self.record_again(pending, end, now).await?,
                Submitted::TooLarge => false,
            };
            if is_recorded {
                self.count(pending, end);
            } else {
                self.worker.count(|metrics| metrics.lost += 1);
            }
        }
        let mut free = Vec::with_capacity(begun.len());
        for mut next in begun {
            let claim = self.claimed(&next, next.attempts, self.until)?;
            if let Submitted::Committed(etags) = self.submit(vec![claim]).await? {
                next.versioned(etags.into_iter().next().flatten());
                free.push(next);
            } else if let Some(own) = self.own(&next).await? {
                free.push(own);
            } else {
                self.worker.count(|metrics| metrics.lost += 1);
                self.wait_until(self.held.until());
            }
        }
        if free.is_empty() && !portion.is_empty() {
            return Box::pin(self.next(Vec::new(), portion)).await;
        }
        Ok(free)
    }

    /// Records an outcome again, provided that the row still contains this claim. The first try may have failed only because a sweep's note changed the row's
    /// `ETag`. Returns `false` if another worker has claimed the row.
    async fn record_again(&self, pending: &Pending, end: &End, now: u64) -> Result<bool> {
        let Some(own) = self.own(pending).await? else { return Ok(false) };
        Ok(matches!(self.submit(end.operations(&own, now)?).await?, Submitted::Committed(_)))
    }

    fn is_ours(&self, pending: &Pending) -> bool {
        pending.claim.as_ref() == Some(&self.id)
    }

    /// Rereads a row after a conflict. Returns the row only if it still contains this worker's claim. The conflict then had another cause: a response was lost,
    /// or a sweep has added a note.
    pub(super) async fn own(&self, next: &Pending) -> Result<Option<Pending>> {
        let is_begun = |found: &Pending| self.is_ours(found) && found.attempts == next.attempts;
        Ok(self.row(&next.place).await?.filter(is_begun))
    }

    /// Returns the number of rows at the start of a batch that are started together. If the first row has never been tried, these are all leading rows that
    /// have never been tried. Otherwise, it is only the first row: it may have killed its worker, so it is started alone. If it kills the worker again, no
    /// attempt is counted for other rows.
    fn begins(&self, portion: &VecDeque<Pending>) -> usize {
        let options = &self.worker.options;
        // One transaction ends the attempts for some rows and starts the attempts for as many others.
        let limit = self.worker.outbox.store().capabilities().limits.operations / PER_ROW;
        // If only a single attempt is allowed, rows are started one by one. Otherwise, a row that never ran could become poison because another row killed the
        // worker.
        let most = if options.poison_after > 1 { options.concurrency.min(limit).max(1) } else { 1 };
        let fresh = portion.iter().take(most).take_while(|pending| pending.attempts == 0).count();
        fresh.max(1).min(portion.len())
    }

    /// Counts a row in the metrics if all its steps have been performed.
    fn count(&self, ended: &Pending, end: &End) {
        if matches!(end, End::Done) {
            let lag = self.worker.outbox.runtime().now().saturating_sub(ended.version);
            self.worker.count(|metrics| metrics.finish(Some(Duration::from_micros(lag / 10))));
        }
    }

    fn wait_until(&mut self, instant: u64) {
        self.later = Some(self.later.map_or(instant, |later| later.min(instant)));
    }
}

/// Counts the attempt that is starting for a row.
fn begin(pending: &mut Pending) {
    pending.attempts = started(pending);
}

/// Returns the number of a row's attempts, including the one that is starting.
const fn started(pending: &Pending) -> u32 {
    pending.attempts.saturating_add(1)
}

/// Converts the error for a missing table to `None`. A deleted table has no rows.
pub(super) fn none_if_deleted<T>(found: Result<Option<T>>) -> Result<Option<T>> {
    match found {
        Err(error) if error.is_table_not_found() => Ok(None),
        found => found,
    }
}
