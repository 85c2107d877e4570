//! Building a view from the rows of its source, beside live writers: resumable, page by page.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};
use table_core::mixed::{Belonging, judge};
use table_core::name::TableName;
use table_core::query::{Continuation, EntityRef, KeyRange, Page, Query, Select, TextRange};
use table_core::schema::{ENTITY_TYPE, KeyPiece};
use table_core::store::TableStore;

use crate::many;
use crate::view::View;
use crate::view::applied::Applied;
use crate::view::ends::Ends;
use crate::view::fault::ViewFault;
use crate::view::record::{BY, OF};
use crate::view::standing::Standing;
use crate::view::table::ViewTable;

/// A rebuild under way: of [`ViewTable::rebuild`].
///
/// ```
/// use table_patterns::view::{Rebuild, RebuildPosition, View};
/// use table_patterns::{Result, TableStore};
///
/// /// One step, and where it ended: to be stored, so that another process goes on from there.
/// async fn step<V: View, S: TableStore>(rebuild: Rebuild<'_, V, S>, stored: RebuildPosition) -> Result<RebuildPosition> {
///     let mut rebuild = rebuild.resume(stored);
///     rebuild.step().await?;
///     Ok(rebuild.position().clone())
/// }
/// ```
#[must_use = "a rebuild does nothing until `step` or `run` is called"]
pub struct Rebuild<'a, V: View, S> {
    view: &'a ViewTable<V, S>,
    position: RebuildPosition,
    page: usize,
    /// Whether the position is known to be of this view.
    is_begun: bool,
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
    /// The view that it is of; none before the first step.
    #[serde(default)]
    view: Option<String>,
    /// The ends of the feeds when it began.
    #[serde(default)]
    ends: Ends,
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
    /// The feeds are followed from where they ended when the rebuild began.
    Feeds,
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
    /// Entities that cannot be applied, and were set aside: see [`ViewTable::poison`].
    #[serde(default)]
    pub failed: u64,
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
        Rebuild { view: self, position: RebuildPosition::default(), page: 1_000, is_begun: false }
    }
}

impl<V: View, S: TableStore> Rebuild<'_, V, S> {
    /// Goes on where another was.
    pub fn resume(self, position: RebuildPosition) -> Self {
        Self { position, is_begun: false, ..self }
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
    /// `LayoutMismatch` (IMP-6) if the position is of a view that was deleted since: what it passed over is not in the new
    /// one, so begin again. Those of [`ViewTable::apply`] and of the store; the position stays, and the step may be made again.
    pub async fn step(&mut self) -> Result<bool> {
        let mut position = self.position.clone();
        if !self.is_begun {
            self.stand(&mut position).await?;
            self.position = position.clone();
            self.is_begun = true;
        }
        let next = match position.phase {
            Phase::Sources => {
                let page = self.read(self.view.source.name()?, sources::<V::Source>(), Select::All).await?;
                let mut found = Vec::with_capacity(page.rows.len());
                for row in page.rows.iter() {
                    let source = EntityKey::new(row.partition_key, row.row_key)?;
                    let places = match ViewTable::<V, S>::projected(row) {
                        Ok(Some(projection)) => {
                            projection.places.into_keys().map(PartitionKey::into_string).collect()
                        }
                        Ok(None) => continue,
                        // An entity that cannot be projected is set aside where it is applied.
                        Err(_) => BTreeSet::new(),
                    };
                    found.push(Applied { source, places });
                }
                position.progress.applied += u64::try_from(found.len()).unwrap_or(u64::MAX);
                position.progress.failed += self.apply(found).await?;
                (page.continuation, Phase::Gone)
            }
            Phase::Gone => {
                let page = self.read(self.view.rows.name()?, everywhere(OF), keys_only()).await?;
                let gone = self.gone(sources_of(&page)?).await?;
                position.progress.removed += u64::try_from(gone.len()).unwrap_or(u64::MAX);
                position.progress.failed += self.apply(gone.into_iter().map(Applied::from).collect()).await?;
                (page.continuation, Phase::Sums)
            }
            Phase::Sums => {
                let page = self.read(self.view.rows.name()?, everywhere(BY), keys_only()).await?;
                let places = page.rows.iter().map(|row| PartitionKey::new(row.partition_key));
                let mut places = places.collect::<Result<Vec<_>>>()?;
                places.dedup();
                for place in places {
                    if position.counted.as_deref() == Some(place.as_str()) {
                        continue;
                    }
                    let corrected = self.view.recount(&place).await?;
                    position.progress.corrected += u64::try_from(corrected).unwrap_or(u64::MAX);
                    position.counted = Some(place.as_str().to_owned());
                }
                (page.continuation, Phase::Feeds)
            }
            Phase::Feeds => {
                self.view.follow_from(&position.ends).await?;
                (None, Phase::Done)
            }
            Phase::Done => {
                // Another that ended at the same time is looked at by one more step.
                let (standing, etag) = self.stand(&mut position).await?;
                return Ok(!standing.ready && !self.view.set_ready(standing, etag).await?);
            }
        };
        position.from = next.0;
        if position.from.is_none() {
            position.phase = next.1;
        }
        self.position = position;
        Ok(true)
    }

    /// What is stored of the view, which must be the one that the position is of. Asked at the beginning and at the end: in between, what is
    /// written into another view is right there, too.
    async fn stand(&self, position: &mut RebuildPosition) -> Result<(Standing, Option<ETag>)> {
        let (standing, etag) = self.view.standing().await?;
        let id = standing.id.simple().to_string();
        if *position == RebuildPosition::default() {
            position.view = Some(id.clone());
            // IMPORTANT: before the first row is read. What changes from here on is behind these ends.
            position.ends = self.view.ends().await?;
        }
        if position.view.as_ref() != Some(&id) {
            return Err(Error::of(ViewFault::OtherView).with_table(V::Row::SCHEMA.table));
        }
        Ok((standing, etag))
    }

    /// Applies entities; returns how many were set aside.
    async fn apply(&self, entities: Vec<Applied>) -> Result<u64> {
        let failed = self.view.apply_all(entities).await?;
        for (applied, error) in &failed {
            self.view.set_aside(&applied.source, error).await?;
        }
        Ok(u64::try_from(failed.len()).unwrap_or(u64::MAX))
    }

    /// Returns the entities that are no longer there.
    async fn gone(&self, sources: Vec<EntityKey>) -> Result<Vec<EntityKey>> {
        let of = (self.view.source.store(), self.view.source.name()?);
        let select = Select::names(["PartitionKey", "RowKey", ENTITY_TYPE]);
        let is_own = |row: EntityRef<'_>| Ok(judge::<V::Source>(row)? == Belonging::Own);
        let are_there = many::rows(of, &sources, &select, is_own).await?;
        let found = sources.into_iter().zip(are_there);
        Ok(found.filter(|(_, is_there)| *is_there != Some(true)).map(|(source, _)| source).collect())
    }

    async fn read(&self, table: &TableName, range: KeyRange, select: Select) -> Result<Page> {
        let query = Query { select, top: Some(self.page.clamp(1, 1_000)), ..Query::new(range) };
        self.view.rows.store().query(table, &query, self.position.from.as_ref()).await
    }
}

/// The rows that can be the source's, of all that may lie in its table.
fn sources<E: Entity>() -> KeyRange {
    let row_key = match E::SCHEMA.row_key {
        [KeyPiece::Literal(literal), ..] => TextRange::prefix(literal),
        _ => TextRange::ALL,
    };
    KeyRange { partition_key: TextRange::ALL, row_key }
}

fn keys_only() -> Select {
    Select::names(["PartitionKey", "RowKey"])
}

/// Rows of all partitions whose keys begin so.
fn everywhere(prefix: &str) -> KeyRange {
    KeyRange { partition_key: TextRange::ALL, row_key: TextRange::prefix(prefix) }
}

/// The entities that rows of places are of.
fn sources_of(page: &Page) -> Result<Vec<EntityKey>> {
    let source = |row_key: &str| row_key.strip_prefix(OF).unwrap_or_default().to_owned();
    page.rows.iter().map(|row| EntityKey::new(row.partition_key, source(row.row_key))).collect()
}

impl<V: View, S> fmt::Debug for Rebuild<'_, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rebuild").field("position", &self.position).finish_non_exhaustive()
    }
}
