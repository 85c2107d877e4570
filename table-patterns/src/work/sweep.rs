//! Sweeps search for intents whose messages were lost, and send new messages for them (PAT-EC-8).
//!
//! A sweep searches for outbox rows whose messages are overdue, and sends a new message for each. It finds the partitions in the registry, so it need not scan
//! tables. Each partition is added to the registry before its first intent. [`Sweep::sweep_table`] does scan a table. Use it for audits, and for intents whose
//! partition was not registered.
//!
//! The age of a row is measured by the store's clock, or by the sweep's clock if that clock is ahead. Only the store's clock decides whether a claim has
//! expired. A wrong clock in a sweep or a worker therefore never delays a message.

use std::collections::HashMap;
use std::time::Duration;

use table_core::name::TableName;
use table_core::query::{EntityRef, Query};
use table_core::queue::QueueStore;
use table_core::runtime::ticks_of;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::failure::Failure;
use crate::omitted::WholePage;
use crate::outbox::notes::Note;
use crate::outbox::record::Outbox;
use crate::outbox::registry::{self, Entry};
use crate::outbox::rows::{self, Pending, together};
use crate::outbox::work::Work;
use crate::paging::Pages;
use crate::work::fault::WorkFault;

/// The maximum number of separate messages that a sweep sends for rows in one partition. One message for the partition covers all other rows.
const SEPARATE: usize = 100;

/// The maximum number of quiet partitions (without pending intents) that one sweep reads.
const QUIET: usize = 64;

/// The longest plausible time until a claim ends. If a claim ends later, the clock that recorded it was ahead, and sweeps ignore the claim. Claims made for a
/// longer time have a higher limit.
const CLAIMED: Duration = Duration::from_secs(60 * 60);

/// The maximum time between two messages for a row, unless the minimum age is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A search for pending intents whose messages were lost. It sends new messages for them.
///
/// ```
/// # use table_patterns::{Engine, QueueName, outbox::Outbox};
/// use table_patterns::work::Sweep;
///
/// # pollster::block_on(async {
/// # let store = Engine::in_memory();
/// # let outbox = Outbox::new(store.clone(), store, QueueName::new("work")?);
/// let report = Sweep::new(outbox).sweep_registered().await?; // every few minutes, in any process
/// assert_eq!((report.partitions, report.prompted), (0, 0));
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Sweep<S, Q> {
    outbox: Outbox<S, Q>,
    min_age: Duration,
}

/// A message to send for rows in a partition. If the time of the message must be recorded in a row, the row is included.
type Due = (Work, Option<Pending>);

/// The state of a running sweep.
#[derive(Default)]
struct Progress {
    report: SweepReport,
    /// The store's time; `None` until it is needed.
    now: Option<u64>,
}

impl Progress {
    /// Returns the store's time, and reads it from the store on the first call.
    async fn time<S: TableStore>(&mut self, store: &S) -> Result<u64> {
        match self.now {
            Some(now) => Ok(now),
            None => Ok(*self.now.insert(registry::store_time(store).await?)),
        }
    }
}

/// The result of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweepReport {
    /// The number of partitions that were read.
    pub partitions: u64,
    /// The number of intents that are pending and not poison; see [`Outbox::backlog`].
    pub pending: u64,
    /// The number of messages that the sweep sent.
    pub prompted: u64,
    /// The number of partitions without pending intents that the sweep marked as quiet. Later sweeps read only a random sample of the quiet partitions. A
    /// partition is no longer quiet once an intent is written to it.
    pub quiet: u64,
    /// The number of invalid registry rows, plus the number of partitions and rows that could not be swept. Such failures do not affect other partitions and
    /// rows. A row is also counted if its message was sent but the time of the message could not be recorded, or if a page
    /// [omits](table_core::query::Page::skipped) the row.
    pub failed: u64,
    /// The first errors, each with its table and key; at most [`SweepReport::ERRORS`].
    pub errors: Vec<String>,
}

impl SweepReport {
    /// The maximum number of errors in a report.
    pub const ERRORS: usize = 16;

    fn fail(&mut self, error: &Error) {
        self.failed += 1;
        if self.errors.len() < Self::ERRORS {
            self.errors.push(error.to_string());
        }
    }
}

impl<S: TableStore, Q: QueueStore> Sweep<S, Q> {
    /// Creates a sweep that sends messages for intents older than five minutes. It sends another message each time the age of the intent has doubled, and at
    /// least once a day. It sends at most 101 messages for one partition. The last of them covers all remaining intents of the partition.
    ///
    /// Run one sweep at a time. Concurrent sweeps may send several messages for one intent, but only the first one has an effect.
    #[must_use]
    pub fn new(outbox: Outbox<S, Q>) -> Self {
        Self { outbox, min_age: Duration::from_secs(5 * 60) }
    }

    /// Sets the minimum age at which a sweep sends a message for an intent. It should be longer than the time that messages usually wait in the queue.
    #[must_use]
    pub const fn min_age(mut self, time: Duration) -> Self {
        self.min_age = time;
        self
    }

    /// Sweeps the registered partitions, with one range query each. These are all active partitions, all partitions with an unexpired [grant](crate::grant),
    /// and at most 64 quiet partitions, chosen at random. Reads the registry page by page. Failures are [counted](SweepReport::failed) and do not affect other
    /// partitions.
    ///
    /// # Errors
    /// Any error from reading the registry or from the queue store. Messages sent before the error are not withdrawn.
    pub async fn sweep_registered(&self) -> Result<SweepReport> {
        let store = self.outbox.store();
        let mut progress = Progress::default();
        let random = || self.outbox.runtime().random();
        let fail = |error| progress.report.fail(&error);
        for entry in registry::chosen(store, registry::REGISTRY, (QUIET, random), fail).await? {
            progress.report.partitions += 1;
            let query = Query::new(rows::range(&entry.partition_key));
            let (pending, failed) = (progress.report.pending, progress.report.failed);
            match self.sweep(&entry.table, &query, None, &mut progress).await? {
                Err(error) if !error.is_table_not_found() => progress.report.fail(&error),
                _ => {}
            }
            let is_idle = (progress.report.pending, progress.report.failed) == (pending, failed);
            let marked = if is_idle && entry.is_erased {
                self.remove_erased(&entry, &mut progress).await.map(|()| false)
            } else if is_idle {
                self.mark_quiet(&entry, &mut progress).await
            } else {
                registry::unmark(store, &entry).await.map(|()| false)
            };
            match marked {
                Ok(marked) => progress.report.quiet += u64::from(marked),
                Err(error) => progress.report.fail(&error),
            }
        }
        Ok(progress.report)
    }

    /// Marks a partition without pending rows as quiet, provided that it was last registered, and its grants expired, at least two hours ago by the store's
    /// clock.
    async fn mark_quiet(&self, entry: &Entry, progress: &mut Progress) -> Result<bool> {
        let store = self.outbox.store();
        // The store's time is read only if the partition may be old enough.
        if !registry::may_be_quiet(entry, self.outbox.runtime().now()) {
            return Ok(false);
        }
        registry::mark_quiet(store, entry, progress.time(store).await?).await
    }

    async fn remove_erased(&self, entry: &Entry, progress: &mut Progress) -> Result<()> {
        let now = progress.time(self.outbox.store()).await?;
        registry::remove_erased(self.outbox.store(), entry, now).await
    }

    /// Scans an entire table for outbox rows. The scan fails if it would read more than `max_rows` rows.
    ///
    /// # Errors
    /// `InvalidInput` if the scan reads more than `max_rows` rows (DQ-5); any error from the stores.
    pub async fn sweep_table(&self, table: &TableName, max_rows: u64) -> Result<SweepReport> {
        let mut progress = Progress::default();
        let query = Query::new(rows::everywhere());
        self.sweep(table, &query, Some(max_rows), &mut progress).await??;
        Ok(progress.report)
    }

    /// Sends a message for each due outbox row that `query` finds. The outer error comes from the queue, which all partitions share. The inner error comes from
    /// reading the table, and concerns only this query.
    async fn sweep(
        &self,
        table: &TableName,
        query: &Query,
        max_rows: Option<u64>,
        progress: &mut Progress,
    ) -> Result<Result<()>> {
        let (mut read, mut sent) = (0_u64, HashMap::<String, usize>::new());
        let mut pages = Pages::new(self.outbox.store(), table, query);
        loop {
            let WholePage { page, unreadable } = match pages.next_whole().await {
                Ok(Some(whole)) => whole,
                Ok(None) => return Ok(Ok(())),
                Err(error) => return Ok(Err(error)),
            };
            for row in &unreadable {
                progress.report.fail(&row.error);
            }
            progress.report.failed += page.skipped;
            let returned = u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
            read = read.saturating_add(page.rows_read.unwrap_or(returned).max(returned));
            if let Some(most) = max_rows
                && read > most
            {
                return Ok(Err(Error::of(WorkFault::Rows { read, most }).with_table(table.as_str())));
            }
            for entity in page.rows.iter() {
                let at = |error: Error| {
                    error.with_table(table.as_str()).with_key(entity.partition_key, entity.row_key)
                };
                let count = sent.get(entity.partition_key).copied().unwrap_or_default();
                let due = if count < SEPARATE {
                    self.due(table, entity, progress).await
                } else {
                    Self::rest(table, entity, count == SEPARATE, progress)
                };
                let (work, noted) = match due {
                    Ok(Some(due)) => due,
                    Ok(None) => continue,
                    Err(error) => {
                        progress.report.fail(&at(error));
                        continue;
                    }
                };
                sent.insert(entity.partition_key.to_owned(), count + 1);
                match self.outbox.send_work(&work).await {
                    Ok(()) => progress.report.prompted += 1,
                    Err(error) if Failure::of(&error) == Failure::Outage => return Err(error),
                    Err(error) => {
                        progress.report.fail(&at(error));
                        continue;
                    }
                }
                // IMPORTANT: the time of the message is recorded after it has been sent. If the queue is unavailable, or if the sweep dies in between, the next
                // sweep sends a message. If two sweeps run concurrently, both may send one.
                match noted {
                    None => {}
                    Some(noted) => match self.note(table, noted, progress).await {
                        Ok(()) => {}
                        // During an outage of the table, each sweep sends at most one message for the partition.
                        Err(error) if Failure::of(&error) == Failure::Outage => return Ok(Err(at(error))),
                        Err(error) => progress.report.fail(&at(error)),
                    },
                }
            }
        }
    }

    /// Counts a row in a partition for which this sweep has already sent the maximum number of separate messages. For the first such row, returns a message
    /// that covers the whole partition. The time of that message is not recorded.
    fn rest(
        table: &TableName,
        entity: EntityRef<'_>,
        is_first: bool,
        progress: &mut Progress,
    ) -> Result<Option<Due>> {
        let pending = Pending::read(table, entity)?;
        progress.report.pending += 1;
        Ok(is_first.then(|| (Work::partition(table, &pending.place.partition_key), None)))
    }

    /// Returns `true` if a message for the row is due at the store's time `stored`.
    fn is_due(&self, pending: &Pending, stored: u64) -> bool {
        let min_age = ticks_of(self.min_age);
        // If a row is claimed or waits for its next attempt, its message will be redelivered. A claim that ends later than its duration allows is ignored: a
        // clock that was ahead has recorded it.
        let most = pending.wait.saturating_mul(2).max(ticks_of(CLAIMED));
        if pending.not_before > stored && pending.not_before - stored <= most {
            return false;
        }
        // If the sweep's clock is ahead, messages are merely sent early.
        let now = stored.max(self.outbox.runtime().now());
        // Later times are ignored: a clock that was ahead has recorded them.
        let latest = now.saturating_add(min_age);
        let last = pending.prompted.filter(|prompted| *prompted <= latest).unwrap_or(pending.version);
        // The delay between messages doubles. A row that no worker processes therefore does not fill the queue.
        let age = last.saturating_sub(pending.version);
        let wait = age.clamp(min_age, min_age.max(ticks_of(LONGEST_WAIT)));
        last > latest || now.saturating_sub(last) >= wait
    }

    /// Returns the message for an outbox row if one is due.
    async fn due(
        &self,
        table: &TableName,
        entity: EntityRef<'_>,
        progress: &mut Progress,
    ) -> Result<Option<Due>> {
        let pending = Pending::read(table, entity)?;
        progress.report.pending += 1;
        let now = progress.time(self.outbox.store()).await?;
        let is_due = self.is_due(&pending, now);
        Ok(is_due.then(|| (Work::Row(pending.place.clone()), Some(pending))))
    }

    /// Records in an outbox row that a message for it has been sent. Does nothing if another process has since changed or deleted the row.
    async fn note(&self, table: &TableName, pending: Pending, progress: &mut Progress) -> Result<()> {
        let now = progress.time(self.outbox.store()).await?;
        let limits = self.outbox.store().capabilities().limits;
        let note = together(&pending.place.partition_key, [pending.note(Note::Prompted(now))?], limits)?;
        match self.outbox.store().submit(table, note).await {
            Err(error) if error.is_not_found() || error.is_precondition_failed() => Ok(()),
            outcome => outcome.map(drop),
        }
    }
}
