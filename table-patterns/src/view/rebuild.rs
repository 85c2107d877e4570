//! Builds a view from the rows of its source, while other programs keep writing to the source. A rebuild proceeds page by page and is resumable.

use std::collections::BTreeSet;

use table_core::entity::Entity;
use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};
use table_core::mixed::{RowOwner, classify_row};
use table_core::name::TableName;
use table_core::query::{EntityRef, KeyRange, Page, Query, Select, TextRange};
use table_core::schema::KeyPiece;
use table_core::store::TableStore;
use table_core::{Error, Result};
use uuid::Uuid;

use crate::key_hash;
use crate::omitted::{self, Unreadable, WholePage, whole_page};
use crate::read_many;
use crate::view::View;
use crate::view::applied::Applied;
use crate::view::fault::ViewFault;
use crate::view::position::{Phase, RebuildPosition, RebuildProgress};
use crate::view::record::{BY, OF, Places};
use crate::view::state_row::StateRow;
use crate::view::table::ViewTable;
use crate::visited::Visited;

/// A rebuild in progress. Created by [`ViewTable::rebuild`].
///
/// ```
/// use table_patterns::view::{Rebuild, RebuildPosition, View};
/// use table_patterns::{Result, TableStore};
///
/// /// Runs one step. Returns the position, from which another process can resume.
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
    /// `true` once the rebuild has checked that the resume position belongs to this view.
    is_begun: bool,
    /// The partitions of the view recounted by this process, if the store returns rows without key order.
    counted: Visited,
}

/// The stored row at the key of an entity that was applied to the view.
enum Stored {
    /// An entity of the source.
    Own,
    /// A row of another type.
    Other,
    /// A row that the store cannot represent.
    Unreadable,
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Creates a rebuild. It rebuilds the view in place from the rows of its source. Programs may write to the source during the rebuild. When the rebuild is
    /// complete, the view is [ready](crate::view::ViewState::Ready).
    pub fn rebuild(&self) -> Rebuild<'_, V, S> {
        Rebuild {
            view: self,
            position: RebuildPosition::default(),
            page: 1_000,
            is_begun: false,
            counted: Visited::default(),
        }
    }
}

impl<V: View, S: TableStore> Rebuild<'_, V, S> {
    /// Continues an earlier rebuild from its stored resume position.
    pub fn resume(self, position: RebuildPosition) -> Self {
        Self { position, is_begun: false, counted: Visited::default(), ..self }
    }

    /// Sets the number of rows per step, at most one page; 1,000 by default. A rebuild begins with steps that read the ends of the feeds, at most `rows` feeds
    /// per step. During these steps, only [`skipped`](RebuildProgress::skipped) changes in the [progress](RebuildPosition::progress).
    pub const fn page(mut self, rows: usize) -> Self {
        self.page = rows;
        self
    }

    /// Returns the current position of the rebuild.
    #[must_use]
    pub const fn position(&self) -> &RebuildPosition {
        &self.position
    }

    /// Runs all steps.
    ///
    /// # Errors
    /// Any error from [`step`](Self::step).
    pub async fn run(mut self) -> Result<RebuildProgress> {
        while self.step().await? {}
        Ok(self.position.progress)
    }

    /// Processes one page. The first pages contain partitions with a feed, the others contain rows. Returns `false` when the rebuild is complete.
    ///
    /// # Errors
    /// - `IndexNotReady` (IMP-6) if older programs may write without the feed; see [`backfill_feed`](crate::Entities::backfill_feed).
    /// - `SchemaMismatch` (IMP-6) if the position belongs to a deleted view. The new view lacks the rows built earlier; start from the beginning.
    /// - Any error from [`ViewTable::apply`] or the store. The position is unchanged, and the step can be repeated.
    pub async fn step(&mut self) -> Result<bool> {
        let mut position = self.position.clone();
        let is_new = position == RebuildPosition::default();
        if !self.is_begun {
            self.check_state(&mut position).await?;
        }
        if is_new || position.listed.is_some() {
            self.read_ends(&mut position).await?;
        }
        self.is_begun = true;
        self.position = position.clone();
        if position.listed.is_some() {
            return Ok(true);
        }
        let next = match position.phase {
            Phase::Sources => {
                let range = sources::<V::Source>();
                let query = self.query(range, Select::All);
                let WholePage { page, unreadable } =
                    self.whole_page(self.view.source.name()?, &query).await?;
                let mut found = Vec::with_capacity(page.rows.len());
                for row in page.rows.iter() {
                    let source = EntityKey::new(row.partition_key, row.row_key)?;
                    let places = match ViewTable::<V, S>::projected(row) {
                        Ok(Some(projection)) => {
                            projection.places.into_keys().map(PartitionKey::into_string).collect()
                        }
                        Ok(None) => continue,
                        // An entity that cannot be projected is set aside when it is applied.
                        Err(_) => BTreeSet::new(),
                    };
                    found.push(Applied { source, places });
                }
                // An entity that the store cannot represent is set aside in the same way.
                let unreadable = unreadable.into_iter().filter(|row| Self::is_own(row.entity()));
                found.extend(unreadable.map(|row| Applied { source: row.key, places: BTreeSet::new() }));
                position.progress.applied += u64::try_from(found.len()).unwrap_or(u64::MAX);
                position.progress.failed += self.apply(found).await?;
                position.progress.skipped += page.skipped;
                (page.continuation, Phase::Gone)
            }
            Phase::Gone => {
                let select = Select::names(["PartitionKey", "RowKey", "Places"]);
                let query = self.query(everywhere(OF), select);
                let whole = self.whole_page(self.view.rows.name()?, &query).await?;
                let (gone, unreadable) = self.gone(sources_of(&whole)?).await?;
                let count = u64::try_from(gone.len()).unwrap_or(u64::MAX);
                let failed = self.apply(gone.into_iter().map(Applied::from).collect()).await?;
                position.progress.removed += count.saturating_sub(failed);
                let unreadable = unreadable.into_iter().map(Applied::from).collect();
                position.progress.failed += failed + self.apply(unreadable).await?;
                position.progress.skipped += whole.page.skipped;
                (whole.page.continuation, Phase::Sums)
            }
            Phase::Sums => {
                let (rows, query) = (&self.view.rows, self.query(everywhere(BY), Select::All));
                let page = rows.store().query(rows.name()?, &query, self.position.from.as_ref()).await?;
                position.progress.skipped += page.skipped;
                position.progress.failed += self.apply(self.view.unlisted(&page).await?).await?;
                self.recount(&page, &mut position).await?;
                (page.continuation, Phase::Feeds)
            }
            Phase::Feeds => {
                self.view.follow_from(&position.ends).await?;
                if let Some(mark) = &position.mark {
                    self.view.end_reports(mark).await?;
                }
                (None, Phase::Done)
            }
            Phase::Done => {
                // Marking the view as ready fails if another rebuild has just completed. In that case, the next step rereads the state.
                let (state, etag) = self.check_state(&mut position).await?;
                if !state.ready && !self.view.set_ready(state, etag).await? {
                    return Ok(true);
                }
                self.view.supersede().await?;
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

    /// Reads the view's state, and checks that the position belongs to this view. Called at the start and at the end of a rebuild. If the view is replaced in
    /// between, this rebuild may have written rows to the new view. These rows are either correct there, or a later rebuild [finds](ViewTable::unlisted) them.
    async fn check_state(&self, position: &mut RebuildPosition) -> Result<(StateRow, Option<ETag>)> {
        let (state, etag) = self.view.read_state().await?;
        let id = state.id.simple().to_string();
        if *position == RebuildPosition::default() {
            position.view = Some(id.clone());
        }
        if position.view.as_ref() != Some(&id) {
            return Err(Error::of(ViewFault::OtherView).with_table(V::Row::SCHEMA.table));
        }
        Ok((state, etag))
    }

    /// Reads the ends of the next page of feeds and, after the last page, marks the reports that become obsolete when the rebuild ends.
    ///
    /// IMPORTANT: the ends are read and the reports are marked before the first row is read, so both precede every change that the rebuild could miss.
    async fn read_ends(&self, position: &mut RebuildPosition) -> Result<()> {
        let (from, most) = (position.listed.take(), self.page.clamp(1, 1_000));
        let (skipped, next) = self.view.read_ends(&mut position.ends, from.as_ref(), most).await?;
        position.progress.skipped += skipped;
        position.listed = next;
        if position.listed.is_none() {
            let mark = Uuid::new_v4().simple().to_string();
            position.mark = self.view.mark_reports(&mark).await?.then_some(mark);
        }
        Ok(())
    }

    /// Recounts the partitions of the view that contain the records in a page.
    async fn recount(&mut self, page: &Page, position: &mut RebuildPosition) -> Result<()> {
        // If the store returns rows in key order, one partition's records are consecutive, and it is sufficient to remember the last partition.
        let is_ordered = self.view.rows.store().capabilities().ordered;
        for row in page.rows.iter() {
            let place = PartitionKey::new(row.partition_key)?;
            let hash = key_hash::of_texts(&[place.as_str()]);
            let is_known = position.counted.as_deref() == Some(place.as_str());
            if is_known || (!is_ordered && self.counted.contains(hash)) {
                continue;
            }
            let corrected = self.view.recount(&place).await?;
            position.progress.corrected += u64::try_from(corrected).unwrap_or(u64::MAX);
            position.counted = Some(place.as_str().to_owned());
            if !is_ordered {
                self.counted.insert(hash);
            }
        }
        Ok(())
    }

    /// Applies entities to the view, and sets aside those that cannot be applied. Returns the number of entities set aside.
    async fn apply(&self, entities: Vec<Applied>) -> Result<u64> {
        let failed = self.view.apply_all(entities).await?;
        for (applied, error) in &failed {
            self.view.set_aside(&applied.source, error).await?;
        }
        Ok(u64::try_from(failed.len()).unwrap_or(u64::MAX))
    }

    /// Returns two lists: the entities that no longer exist in the source, and the entities that the store cannot represent.
    async fn gone(&self, sources: Vec<EntityKey>) -> Result<(Vec<EntityKey>, Vec<EntityKey>)> {
        let of = (self.view.source.store(), self.view.source.name()?);
        let state = |row: EntityRef<'_>| Ok(if Self::is_own(row) { Stored::Own } else { Stored::Other });
        let unreadable = |_| Ok(Stored::Unreadable);
        let states = read_many::rows_or(of, &sources, &omitted::identity(), state, unreadable).await?;
        let (mut gone, mut unreadable) = (Vec::new(), Vec::new());
        for (source, state) in sources.into_iter().zip(states) {
            match state {
                Some(Stored::Own) => {}
                Some(Stored::Unreadable) => unreadable.push(source),
                Some(Stored::Other) | None => gone.push(source),
            }
        }
        Ok((gone, unreadable))
    }

    /// Returns `true` for an entity of the view's source. The row may have no properties but its `EntityType`.
    fn is_own(row: EntityRef<'_>) -> bool {
        match classify_row::<V::Source>(row) {
            Ok(owner) => owner == RowOwner::Own && !ViewTable::<V, S>::is_hidden(row.partition_key),
            // An entity that cannot be decoded is set aside when it is applied.
            Err(_) => ViewTable::<V, S>::is_source(row.partition_key, row.row_key),
        }
    }

    fn query(&self, range: KeyRange, select: Select) -> Query {
        Query { select, top: Some(self.page.clamp(1, 1_000)), ..Query::new(range) }
    }

    async fn whole_page(&self, table: &TableName, query: &Query) -> Result<WholePage> {
        whole_page((self.view.rows.store(), table), query, self.position.from.as_ref()).await
    }
}

/// Returns a key range that contains all source entities, and possibly other rows in the same table.
fn sources<E: Entity>() -> KeyRange {
    let row_key = match E::SCHEMA.row_key {
        [KeyPiece::Literal(literal), ..] => TextRange::prefix(literal),
        _ => TextRange::ALL,
    };
    KeyRange { partition_key: TextRange::ALL, row_key }
}

/// Returns the range that contains all rows whose `RowKey` begins with a prefix, in all partitions.
fn everywhere(prefix: &str) -> KeyRange {
    KeyRange { partition_key: TextRange::ALL, row_key: TextRange::prefix(prefix) }
}

/// Returns the entities whose list of partitions is nonempty or unreadable.
fn sources_of(WholePage { page, unreadable }: &WholePage) -> Result<Vec<EntityKey>> {
    let is_in_some = |row: &EntityRef<'_>| Places::read(row.row).map_or(true, |places| !places.0.is_empty());
    let source = |row_key: &str| row_key.strip_prefix(OF).unwrap_or_default().to_owned();
    let rows = page.rows.iter().chain(unreadable.iter().map(Unreadable::entity)).filter(is_in_some);
    rows.map(|row| EntityKey::new(row.partition_key, source(row.row_key))).collect()
}

debug_fields!([V: View, S] Rebuild['_, V, S] { position, .. });
