//! Reads a log in one or more partitions: the newest events, the events since a given time, or the events between two stamps.

use std::ops::Bound;

use chrono::{DateTime, Utc};
use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::entity::{Entity, Versioned};
use table_core::limits::PAGE_ENTITIES;
use table_core::query::{EntityRef, KeyRange, Query, TextRange};
use table_core::selection::{Class, FanOut, Partition, Selection};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::entities::StepRecorder;
use crate::log_tail::fault::LogFault;
use crate::log_tail::{LogStamp, LogTail};

/// The maximum number of partitions that are queried concurrently if a log is distributed over several partitions (IMP-5).
const CONCURRENCY: usize = 8;

/// A selection of complete partitions: a single partition, or all partitions of a `bucket(…)`.
#[diagnostic::on_unimplemented(
    message = "[T181] a log is read by whole partitions, and `{Self}` is not one",
    label = "this selection is a part of a partition, or spans partitions in ranges",
    note = "give every part of the partition key: `Event::partition(…)`"
)]
pub trait WholePartitions: Class {}

#[diagnostic::do_not_recommend]
impl WholePartitions for Partition {}
#[diagnostic::do_not_recommend]
impl WholePartitions for FanOut {}

/// Events with their stamps, newest first.
type Stamped<E> = Vec<(LogStamp, Versioned<E>)>;

/// A part of a log. It contains events, newest first, and the stamp from which to continue with older events.
///
/// ```
/// use table_patterns::log_tail::LogSlice;
///
/// /// Returns the last line on a page of a log.
/// fn footer<E>(slice: &LogSlice<E>) -> String {
///     match slice.resume_before {
///         Some(stamp) => format!("{} events; older ones before {stamp}", slice.items.len()),
///         None => format!("{} events, and these are all", slice.items.len()),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSlice<E> {
    /// The events in the slice, newest first.
    pub items: Vec<Versioned<E>>,
    /// The stamp of the last item if older events may follow; continue before this stamp. `None` if the slice is complete, or if no events were requested.
    pub resume_before: Option<LogStamp>,
}

impl<E: Entity, S: TableStore, O: StepRecorder> LogTail<E, S, O> {
    /// Returns the newest `n` events, newest first (PAT-LOG-1). Sends one request per 1,000 events and partition, and reads one event more than `n`. If the
    /// store's results are [not ordered](table_core::store::Capabilities::ordered), reads all events in the partitions.
    ///
    /// # Errors
    /// `TableNotFound` (OPT-6) if the table does not exist; any error from a query.
    pub async fn newest<C: WholePartitions>(
        &self,
        log: Selection<E, C>,
        n: usize,
    ) -> Result<Vec<Versioned<E>>> {
        let newest = self.find(&log, None, LogStamp::LAST, n).await?;
        Ok(newest.into_iter().take(n).map(|(_, item)| item).collect())
    }

    /// Returns at most `most` of the newest events since the given time, newest first. Events with equal stamps are returned together, even if this exceeds
    /// `most`. An import can create such events in several partitions.
    ///
    /// # Errors
    /// `KeyEncoding` if the time is outside the years 1 to 9999; any error from [`newest`](Self::newest).
    pub async fn since<C: WholePartitions>(
        &self,
        log: Selection<E, C>,
        instant: DateTime<Utc>,
        most: usize,
    ) -> Result<LogSlice<E>> {
        self.slice(&log, just_before(instant)?, LogStamp::LAST, most).await
    }

    /// Returns the newest events between the given time and a stamp, like [`since`](Self::since). Use it to continue an incomplete slice. The event with this
    /// stamp is not included.
    ///
    /// ```
    /// # use table_patterns::log_tail::{LogStamp, LogTail};
    /// # use table_patterns::{Entity, TableStoreExt, embedded::Engine};
    /// # #[derive(Entity)]
    /// # #[partition_key(employee)]
    /// # #[row_key(stamp)]
    /// # struct Expense { #[digits(6)] employee: u32, stamp: LogStamp, cents: i64 }
    /// # pollster::block_on(async {
    /// # let expenses = LogTail::new(Engine::in_memory().table::<Expense>().create_if_missing().await?);
    /// # for cents in 0..5 { expenses.append(|stamp| Expense { employee: 123, stamp, cents }).await?; }
    /// let day = chrono::DateTime::UNIX_EPOCH;
    /// let mut slice = expenses.since(Expense::partition(123), day, 2).await?;
    /// let mut cents: Vec<_> = slice.items.iter().map(|expense| expense.cents).collect();
    /// while let Some(stamp) = slice.resume_before {
    ///     slice = expenses.older_than(Expense::partition(123), stamp, day, 2).await?;
    ///     cents.extend(slice.items.iter().map(|expense| expense.cents));
    /// }
    /// assert_eq!(cents, [4, 3, 2, 1, 0]);
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Any error from [`since`](Self::since).
    pub async fn older_than<C: WholePartitions>(
        &self,
        log: Selection<E, C>,
        stamp: LogStamp,
        instant: DateTime<Utc>,
        most: usize,
    ) -> Result<LogSlice<E>> {
        let Some(before) = predecessor(stamp) else {
            return Ok(LogSlice { items: Vec::new(), resume_before: None });
        };
        self.slice(&log, just_before(instant)?, before, most).await
    }

    /// Returns the newest `most` events whose stamps are later than `after` and not later than `upto`. Events with equal stamps are always in one slice,
    /// because the next slice begins before a stamp. A slice can therefore contain fewer than `most` events, or more if all its events have the same stamp.
    pub(super) async fn slice<C: WholePartitions>(
        &self,
        log: &Selection<E, C>,
        after: Option<LogStamp>,
        upto: LogStamp,
        most: usize,
    ) -> Result<LogSlice<E>> {
        let mut found = self.find(log, after, upto, most).await?;
        let whole = if found.len() > most { whole_stamps(&found, most) } else { found.len() };
        let is_cut = found.len() > whole;
        found.truncate(whole);
        let resume_before = found.last().filter(|_| is_cut).map(|(stamp, _)| *stamp);
        Ok(LogSlice { items: found.into_iter().map(|(_, item)| item).collect(), resume_before })
    }

    /// Returns the newest events between two stamps, newest first, each with its stamp. If more than `most` events exist, returns more than `most`.
    async fn find<C: WholePartitions>(
        &self,
        log: &Selection<E, C>,
        after: Option<LogStamp>,
        upto: LogStamp,
        most: usize,
    ) -> Result<Stamped<E>> {
        let mut queries = Vec::new();
        for range in log.ranges()?.iter() {
            let partition_key = range.partition_key.single().ok_or_else(not_one_partition)?;
            let rows = rows(&Self::prefix(), after, upto);
            queries.push(Query { select: E::select(), ..Query::new(KeyRange::rows(partition_key, rows)) });
        }
        let asked = stream::iter(queries.into_iter().map(|query| self.first(query, most.saturating_add(1))));
        let mut found: Stamped<E> =
            asked.buffered(CONCURRENCY).try_collect::<Vec<_>>().await?.into_iter().flatten().collect();
        // The sort is stable. Events in one partition are already in order, and events with the same stamp keep the order of their partitions.
        found.sort_by(|(left, _), (right, _)| right.cmp(left));
        Ok(found)
    }

    /// Returns the first `n` events of a query, which are the newest ones. If pages are short or empty, reads several pages (PAGE-4).
    async fn first(&self, mut query: Query, n: usize) -> Result<Stamped<E>> {
        let (store, table, prefix) = (self.table().store(), self.table().name()?, Self::prefix());
        let is_ordered = store.capabilities().ordered;
        let (mut found, mut from, mut skips) = (Vec::new(), None, false);
        loop {
            // Rows of other types may fill any number of pages. Full pages are therefore requested once such a row has been skipped.
            query.top = (is_ordered && !skips).then(|| PAGE_ENTITIES.min(n - found.len()).max(1));
            let page = store.query(table, &query, from.as_ref()).await?;
            for entity in page.rows.iter() {
                let in_table = |error: Error| error.with_table(table.as_str());
                match E::read_own(entity).map_err(in_table)? {
                    Some(item) => found.push((stamp_of(entity, &prefix).map_err(in_table)?, item)),
                    None => skips = true,
                }
            }
            if !is_ordered {
                found.sort_by(|(left, _), (right, _)| right.cmp(left));
                found.truncate(n);
            }
            from = page.continuation;
            if from.is_none() || is_ordered && found.len() >= n {
                found.truncate(n);
                return Ok(found);
            }
        }
    }
}

/// Returns the number of events in a slice of about `most` events. The slice does not split events with the same stamp.
fn whole_stamps<T>(found: &[(LogStamp, T)], most: usize) -> usize {
    let stamp = |at: usize| found.get(at).map(|(stamp, _)| *stamp);
    let begins_here = |at: &usize| at.checked_sub(1).and_then(stamp) != stamp(*at);
    let before = (1..=most).rev().find(begins_here);
    before.or_else(|| (most..=found.len()).find(begins_here)).unwrap_or(found.len())
}

fn stamp_of(entity: EntityRef<'_>, prefix: &str) -> Result<LogStamp> {
    let text = entity.row_key.strip_prefix(prefix).unwrap_or_default();
    text.parse().map_err(|error: Error| error.with_key(entity.partition_key, entity.row_key))
}

/// Returns the range of `RowKey`s whose stamps are later than `after` and not later than `upto`. Later stamps have smaller keys.
fn rows(prefix: &str, after: Option<LogStamp>, upto: LogStamp) -> TextRange {
    let upper = match after {
        Some(after) => Bound::Excluded(format!("{prefix}{after}")),
        None => Bound::Included(format!("{prefix}{}", LogStamp::FIRST)),
    };
    TextRange { lower: Bound::Included(format!("{prefix}{upto}")), upper }
}

/// Returns the last stamp before the given time. Returns `None` if no earlier stamp exists.
fn just_before(instant: DateTime<Utc>) -> Result<Option<LogStamp>> {
    Ok(predecessor(LogStamp::new(instant, 0)?))
}

/// Returns the previous stamp. Returns `None` for the first stamp.
fn predecessor(stamp: LogStamp) -> Option<LogStamp> {
    match stamp.tie_breaker().checked_sub(1) {
        Some(tie) => Some(LogStamp::from_ticks(stamp.ticks(), tie)),
        None => stamp.ticks().checked_sub(1).map(|ticks| LogStamp::from_ticks(ticks, u64::MAX)),
    }
}

fn not_one_partition() -> Error {
    Error::of(LogFault::Selection)
}
