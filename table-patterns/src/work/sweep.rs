//! Sweeps: find intents whose messages were lost (PAT-EC-8).
//!
//! A sweep looks for outbox rows that are older than their messages should be, and puts a message for each. It finds partitions by
//! the registry, whose entries are made before the first intent of a partition; so it reads only outboxes. [`Sweep::whole_table`] reads
//! a table instead, for intents that were recorded without registering their partition, and as an audit.

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

/// Finds what was forgotten and puts messages for it.
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

/// What a sweep found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweepReport {
    /// Partitions looked into.
    pub partitions: u64,
    /// Intents that are not done. Poison is not among them: see [`Outbox::depth`].
    pub pending: u64,
    /// Messages put.
    pub prompted: u64,
    /// Partitions taken out of the registry.
    pub forgotten: u64,
    /// Rows of the registry that are not entries, and partitions and rows that could not be swept. The others were.
    pub failed: u64,
    /// The errors of the first of these, with table and key; at most [`SweepReport::ERRORS`].
    pub errors: Vec<String>,
}

impl SweepReport {
    /// How many errors a report keeps.
    pub const ERRORS: usize = 16;

    fn fail(&mut self, error: &Error) {
        self.failed += 1;
        if self.errors.len() < Self::ERRORS {
            self.errors.push(error.to_string());
        }
    }
}

impl<S: TableStore, Q: QueueStore> Sweep<S, Q> {
    /// A sweep that prompts for what is older than five minutes, and again every five minutes.
    #[must_use]
    pub fn new(outbox: Outbox<S, Q>) -> Self {
        Self { outbox, after: Duration::from_mins(5) }
    }

    /// Prompts after another time. It should be longer than workers need for what is in the queue.
    #[must_use]
    pub const fn after(mut self, time: Duration) -> Self {
        self.after = time;
        self
    }

    /// Looks into every partition of the registry: one range query each. What fails is [counted](SweepReport::failed), and keeps no
    /// other partition from being swept.
    ///
    /// # Errors
    /// Those of reading the registry and of the queue store; what was prompted before stays so.
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

    /// Reads a whole table for outbox rows: a table scan, bounded by the rows that may be read.
    ///
    /// # Errors
    /// `InvalidInput` if more than `max_rows` were read (DQ-5); those of the stores.
    pub async fn whole_table(&self, table: &TableName, max_rows: u64) -> Result<SweepReport> {
        let mut report = SweepReport::default();
        let query = Query::new(rows::everywhere());
        self.sweep(table, &query, Some(max_rows), &mut report).await??;
        Ok(report)
    }

    /// Outside are the errors of the queue, which is one for all; inside those of the table.
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

    /// Notes that a row is prompted; the message to put, if there is one.
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
        // Of one that a worker has, or that waits for its next attempt, there is a message that comes back.
        if pending.not_before > now || now.saturating_sub(last) < ticks_of(self.after) {
            return Ok(None);
        }
        // IMPORTANT: noted before it is put: of two sweeps at one time one puts a message, and a stop between the two costs one
        // more period, not a message each period.
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
