//! Building a view from the rows of its source, beside live writers: resumable, page by page.

use std::fmt;

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use table_core::error::Result;
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::query::{Continuation, KeyRange, Page, Query, Select, TextRange};
use table_core::store::TableStore;

use crate::view::View;
use crate::view::apply::CONCURRENCY;
use crate::view::record::{BY, OF};
use crate::view::table::ViewTable;

/// A rebuild under way: of [`ViewTable::rebuild`].
#[must_use = "a rebuild does nothing until `step` or `run` is called"]
pub struct Rebuild<'a, V: View, S> {
    view: &'a ViewTable<V, S>,
    position: RebuildPosition,
    page: usize,
}

/// How far a rebuild has come. It can be stored, as JSON for example, and resumed by another process.
///
/// ```
/// use table_patterns::view::RebuildPosition;
///
/// let stored = serde_json::to_string(&RebuildPosition::default())?;
/// assert_eq!(serde_json::from_str::<RebuildPosition>(&stored)?, RebuildPosition::default());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebuildPosition {
    phase: Phase,
    from: Option<Continuation>,
    progress: RebuildProgress,
    /// The partition of the view whose sums were counted last: its records may go on in the next page.
    #[serde(default)]
    counted: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// Every row of the source is applied.
    #[default]
    Sources,
    /// Entities with something in the view that are not rows of the source are taken out.
    Gone,
    /// The sums are counted again.
    Sums,
    Done,
}

/// What a rebuild has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RebuildProgress {
    /// Rows of the source that were applied.
    pub applied: u64,
    /// Entities that were taken out, because they are no more.
    pub removed: u64,
    /// Rows of sums that were not right.
    pub corrected: u64,
}

impl RebuildPosition {
    /// What has been done.
    #[must_use]
    pub const fn progress(&self) -> RebuildProgress {
        self.progress
    }

    /// Whether nothing is left.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done)
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Makes the view anew from the rows of its source, in place: readers and writers go on meanwhile. At its end the view is
    /// [ready](crate::view::ViewState::Ready).
    pub fn rebuild(&self) -> Rebuild<'_, V, S> {
        Rebuild { view: self, position: RebuildPosition::default(), page: 1_000 }
    }
}

impl<V: View, S: TableStore> Rebuild<'_, V, S> {
    /// Goes on where another was.
    pub fn resume(self, position: RebuildPosition) -> Self {
        Self { position, ..self }
    }

    /// So many rows a step, at most a page; 1,000 without it.
    pub const fn page(mut self, rows: usize) -> Self {
        self.page = rows;
        self
    }

    /// How far it has come.
    #[must_use]
    pub const fn position(&self) -> &RebuildPosition {
        &self.position
    }

    /// Steps to the end.
    ///
    /// # Errors
    /// Those of [`step`](Self::step).
    pub async fn run(mut self) -> Result<RebuildProgress> {
        while self.step().await? {}
        Ok(self.position.progress)
    }

    /// Works on one page; `false` once nothing is left.
    ///
    /// # Errors
    /// Those of [`ViewTable::apply`] and of the store; the position stays, and the step may be made again.
    pub async fn step(&mut self) -> Result<bool> {
        let mut position = self.position.clone();
        let next = match position.phase {
            Phase::Sources => {
                let own = ViewTable::<V, S>::own_rows()?;
                let page = self.read(self.view.source.name()?, own.clone()).await?;
                let mut keys = keys(&page)?;
                keys.retain(|EntityKey { partition_key, row_key }| {
                    ViewTable::<V, S>::is_own(&own, partition_key.as_str(), row_key.as_str())
                });
                self.view.apply_all(&keys).await?;
                position.progress.applied += u64::try_from(keys.len()).unwrap_or(u64::MAX);
                (page.continuation, Phase::Gone)
            }
            Phase::Gone => {
                let page = self.read(self.view.rows.name()?, everywhere(OF)).await?;
                let gone = reserved_keys(&page)?.into_iter().map(|key| self.gone(key));
                let gone: Vec<_> = stream::iter(gone).buffered(CONCURRENCY).try_collect().await?;
                let gone: Vec<_> = gone.into_iter().flatten().collect();
                self.view.apply_all(&gone).await?;
                position.progress.removed += u64::try_from(gone.len()).unwrap_or(u64::MAX);
                (page.continuation, Phase::Sums)
            }
            Phase::Sums => {
                let page = self.read(self.view.rows.name()?, everywhere(BY)).await?;
                let mut places: Vec<PartitionKey> =
                    reserved_keys(&page)?.into_iter().map(|key| key.partition_key).collect();
                places.dedup();
                for place in places {
                    if position.counted.as_deref() == Some(place.as_str()) {
                        continue;
                    }
                    let corrected = self.view.recount(&place).await?;
                    position.progress.corrected += u64::try_from(corrected).unwrap_or(u64::MAX);
                    position.counted = Some(place.as_str().to_owned());
                }
                (page.continuation, Phase::Done)
            }
            Phase::Done => {
                self.view.set_ready().await?;
                return Ok(false);
            }
        };
        position.from = next.0;
        if position.from.is_none() {
            position.phase = next.1;
        }
        self.position = position;
        Ok(true)
    }

    /// The source entity that a row of places is of, if it is no more.
    async fn gone(&self, places: EntityKey) -> Result<Option<EntityKey>> {
        let row_key = places.row_key.as_str().strip_prefix(OF).unwrap_or_default();
        let source = EntityKey::new(places.partition_key.as_str(), row_key)?;
        let (table, select) = (self.view.source.name()?, Select::names(["PartitionKey"]));
        let found = self.view.source.store().get(table, &source, &select).await?;
        Ok(found.is_none().then_some(source))
    }

    async fn read(&self, table: &TableName, range: KeyRange) -> Result<Page> {
        let select = Select::names(["PartitionKey", "RowKey"]);
        let query = Query { select, top: Some(self.page.clamp(1, 1_000)), ..Query::new(range) };
        self.view.rows.store().query(table, &query, self.position.from.as_ref()).await
    }
}

/// Rows of all partitions whose keys begin so.
fn everywhere(prefix: &str) -> KeyRange {
    KeyRange { partition_key: TextRange::ALL, row_key: TextRange::prefix(prefix) }
}

fn reserved_keys(page: &Page) -> Result<Vec<EntityKey>> {
    page.rows.iter().map(|entity| EntityKey::new(entity.partition_key, entity.row_key)).collect()
}

/// The keys of a page but for the rows that patterns keep for themselves.
fn keys(page: &Page) -> Result<Vec<EntityKey>> {
    let mut keys = reserved_keys(page)?;
    keys.retain(|key| !key.row_key.is_reserved());
    Ok(keys)
}

impl<V: View, S> fmt::Debug for Rebuild<'_, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rebuild").field("position", &self.position).finish_non_exhaustive()
    }
}
