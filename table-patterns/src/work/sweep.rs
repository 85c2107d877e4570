//! Sweeps, which find intents whose messages were lost (PAT-EC-8).
//!
//! A sweep searches for outbox rows that are older than their messages should be, and sends a message for each. It finds partitions in the registry,
//! whose entries are created before the first intent of a partition. It therefore only reads outboxes. [`Sweep::whole_table`] reads a table instead,
//! for intents that were recorded without registering their partition, and for audits.

use std::time::Duration;

use table_core::error::{Error, Result};
use table_core::name::TableName;
use table_core::query::{EntityRef, Query};
use table_core::queue::QueueStore;
use table_core::runtime::ticks_of;
use table_core::store::TableStore;

use crate::failure::Failure;
use crate::outbox::record::Outbox;
use crate::outbox::registry;
use crate::outbox::rows::{self, Note, Pending, Place, together};
use crate::outbox::work::Work;
use crate::work::fault::WorkFault;

/// A sweep finds pending intents without messages and sends messages for them.
///
/// ```
/// # use table_patterns::{Engine, QueueName, outbox::Outbox};
/// use table_patterns::work::Sweep;
///
/// # pollster::block_on(async {
/// # let store = Engine::in_memory();
/// # let outbox = Outbox::new(store.clone(), store, QueueName::new("work")?);
/// let report = Sweep::new(outbox).registered().await?; // every few minutes, from anywhere
/// assert_eq!((report.partitions, report.prompted), (0, 0));
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Sweep<S, Q> {
    outbox: Outbox<S, Q>,
    after: Duration,
}

/// The result of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweepReport {
    /// Number of partitions that were read.
    pub partitions: u64,
    /// Number of intents that are not done, except poison; see [`Outbox::depth`].
    pub pending: u64,
    /// Number of messages sent.
    pub prompted: u64,
    /// Number of partitions removed from the registry.
    pub forgotten: u64,
    /// Number of invalid rows of the registry, and of partitions and rows that could not be swept. All others were swept.
    pub failed: u64,
    /// The first errors, with table and key; at most [`SweepReport::ERRORS`].
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
    /// Creates a sweep that sends messages for intents older than five minutes, and again every five minutes.
    #[must_use]
    pub fn new(outbox: Outbox<S, Q>) -> Self {
        Self { outbox, after: Duration::from_secs(5 * 60) }
    }

    /// Sets the age from which messages are sent for intents. It should exceed the time that workers need for the messages in the queue.
    #[must_use]
    pub const fn after(mut self, time: Duration) -> Self {
        self.after = time;
        self
    }

    /// Sweeps every partition of the registry, with one range query each. Failures are [counted](SweepReport::failed) and do not affect
    /// other partitions.
    ///
    /// # Errors
    /// Any error of reading the registry or of the queue store. Messages that were already sent remain.
    pub async fn registered(&self) -> Result<SweepReport> {
        let store = self.outbox.store();
        let mut report = SweepReport::default();
        let (entries, strange) = registry::entries(store, registry::REGISTRY).await?;
        for error in &strange {
            report.fail(error);
        }
        for entry in entries {
            report.partitions += 1;
            let query = Query::new(rows::range(&entry.partition_key));
            let (pending, failed) = (report.pending, report.failed);
            match self.sweep(&entry.table, &query, None, &mut report).await? {
                Err(error) if !error.is_table_not_found() => report.fail(&error),
                _ => {}
            }
            if (report.pending, report.failed) != (pending, failed) {
                continue;
            }
            match registry::forget(store, &entry, self.outbox.runtime().now()).await {
                Ok(forgotten) => report.forgotten += u64::from(forgotten),
                Err(error) => report.fail(&error),
            }
        }
        Ok(report)
    }

    /// Reads a whole table to find outbox rows. This is a table scan that is limited to a number of rows.
    ///
    /// # Errors
    /// `InvalidInput` if more than `max_rows` rows were read (DQ-5); any error of the stores.
    pub async fn whole_table(&self, table: &TableName, max_rows: u64) -> Result<SweepReport> {
        let mut report = SweepReport::default();
        let query = Query::new(rows::everywhere());
        self.sweep(table, &query, Some(max_rows), &mut report).await??;
        Ok(report)
    }

    /// The outer error is an error of the queue, which all partitions share; the inner one is an error of the table.
    async fn sweep(
        &self,
        table: &TableName,
        query: &Query,
        max_rows: Option<u64>,
        report: &mut SweepReport,
    ) -> Result<Result<()>> {
        let (mut from, mut read) = (None, 0_u64);
        loop {
            let page = match self.outbox.store().query(table, query, from.as_ref()).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            let returned = u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
            read = read.saturating_add(page.rows_read.unwrap_or(returned).max(returned));
            if let Some(most) = max_rows
                && read > most
            {
                return Ok(Err(Error::of(WorkFault::Rows { read, most }).with_table(table.as_str())));
            }
            for entity in page.rows.iter() {
                let sent = match self.note(table, entity, report).await {
                    Ok(Some(work)) => self.outbox.send(&work).await.map(|()| report.prompted += 1),
                    other => other.map(|_| ()),
                };
                match sent {
                    Err(error) if Failure::of(&error) == Failure::Outage => return Err(error),
                    Err(error) => {
                        let key = (entity.partition_key, entity.row_key);
                        report.fail(&error.with_table(table.as_str()).with_key(key.0, key.1));
                    }
                    Ok(()) => {}
                }
            }
            from = page.continuation;
            if from.is_none() {
                return Ok(Ok(()));
            }
        }
    }

    /// Records that a message is sent for a row. Returns the message, if one is due.
    async fn note(
        &self,
        table: &TableName,
        entity: EntityRef<'_>,
        report: &mut SweepReport,
    ) -> Result<Option<Work>> {
        let pending = Pending::read(table, entity)?;
        report.pending += 1;
        let now = self.outbox.runtime().now();
        let last = pending.prompted.unwrap_or(pending.version);
        // A claimed row, or one that waits for its next attempt, has a message that will be delivered again.
        if pending.not_before > now || now.saturating_sub(last) < ticks_of(self.after) {
            return Ok(None);
        }
        // IMPORTANT: recorded before the message is sent. Of two concurrent sweeps, only one sends a message, and a crash in between delays the
        // message by one more period.
        let Place { table, key } = &pending.place;
        let limits = self.outbox.store().capabilities().limits;
        let note = together(&key.partition_key, [pending.note(Note::Prompted(now))], limits)?;
        match self.outbox.store().submit(table, note).await {
            Err(error) if error.is_not_found() || error.is_precondition_failed() => return Ok(None),
            outcome => outcome?,
        };
        Ok(Some(Work::Row {
            table: table.clone(),
            partition_key: key.partition_key.clone(),
            row_key: key.row_key.clone(),
        }))
    }
}
