//! One pass over an index, for a check or a backfill. It first compares index rows with entities, and then entities with index rows. Each finding is confirmed
//! by a second read, and repaired if requested. Other programs may write during a pass.

mod entities;
mod packs;
mod rows;

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::index::{IndexEntry, IndexOf};
use table_core::key::EntityKey;
use table_core::mixed::{RowOwner, classify_index_row, classify_row};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, KeyRange, Query, TextRange};
use table_core::row::Row;
use table_core::schema::{IndexKind, IndexSchema, KeyPiece};
use table_core::selection::{Scan, Selection};
use table_core::store::{StoredRow, TableStore};
use table_core::{Error, Result};

use crate::converge;
use crate::entities::{Batch, Contribution, Entities, EntityPlan, Outcome, StepRecorder, touch};
use crate::failure::Failure;
use crate::index::changes::{Change, ChangeKind};
use crate::index::contributor::Indexes;
use crate::index::finding::{Finding, FindingKind};
use crate::index::list::{ListForm, Members, is_unreadable};
use crate::index::pace::Pacer;
use crate::panicked::caught_in;
use crate::position::{PageAt, Position};

/// A phase of a pass over an index. Index rows are processed first, because dangling rows must be removed before other entities need their keys.
///
/// ```
/// use table_patterns::index::Phase;
///
/// /// Formats the line of a progress bar.
/// fn title(phase: Phase) -> &'static str {
///     match phase {
///         Phase::Rows => "rows of the index",
///         Phase::Entities => "entities",
///     }
/// }
/// assert_eq!(title(Phase::Rows), "rows of the index");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Comparing each index row with its entities.
    #[default]
    Rows,
    /// Comparing each entity with its index rows.
    Entities,
}

/// The result of processing one page of a pass.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    /// The number of processed entities or index rows.
    pub(crate) items: u64,
    /// The number of rows that the store cannot represent and whose keys it does not return.
    pub(crate) skipped: u64,
    /// The confirmed findings. Unreadable rows come first. All other findings follow in key order.
    pub(crate) findings: Vec<Finding>,
    /// The resume position of the next page, or `None` at the end of the phase.
    pub(crate) next: Option<Position>,
    /// `true` if the phase has restarted. Its first page was then processed instead of the page at the given position.
    pub(crate) is_restart: bool,
}

impl Swept {
    /// Returns the number of entities without an index entry. Rows that cannot be read count too, because they may be such entities.
    pub(crate) fn aside(&self) -> u64 {
        let bad = self.findings.iter().filter(|finding| finding.kind == FindingKind::BadEntity);
        self.skipped.saturating_add(u64::try_from(bad.count()).unwrap_or(u64::MAX))
    }
}

/// An entity or an index row on the page.
struct Item {
    key: EntityKey,
    found: StoredRow,
}

/// A pass that checks one index, and repairs it if `repair` is `true`.
pub(crate) struct Sweep<'a, E: 'static, S, O> {
    pub(crate) table: &'a Entities<E, S, O>,
    pub(crate) index: &'static IndexOf<E>,
    pub(crate) repair: bool,
    pub(crate) top: Option<usize>,
    /// The partitions to which the pass is restricted, for an index in the entity's partition. `None` for all partitions.
    pub(crate) within: Option<&'a [TextRange]>,
    /// The first error that left the index incomplete: a readable entity has no index entry, or an index row could not be checked.
    pub(crate) blocked: OnceLock<Error>,
    /// The error of the first entity that cannot be read.
    pub(crate) unread: OnceLock<Error>,
}

impl<'a, E: Entity, S: TableStore, O: StepRecorder> Sweep<'a, E, S, O> {
    /// Creates a pass over all partitions, with pages of the store's size.
    pub(crate) fn new(table: &'a Entities<E, S, O>, index: &'static IndexOf<E>, repair: bool) -> Self {
        let (blocked, unread) = (OnceLock::new(), OnceLock::new());
        Self { table, index, repair, top: None, within: None, blocked, unread }
    }

    /// Processes one page of a phase. All writes for the page are complete when this function returns.
    pub(crate) async fn page(&self, phase: Phase, position: &Position, pacer: &mut Pacer) -> Result<Swept> {
        let (table, ranges) = match phase {
            Phase::Rows => (self.table.table_of(self.schema())?, vec![rows_of::<E>(self.schema())]),
            Phase::Entities => {
                let entities = Selection::<E, Scan>::scan("to go over an index").own_rows();
                (self.table.table.name()?.clone(), entities.into_ranges()?)
            }
        };
        let ranges = match self.within {
            Some(partitions) => in_partitions(&ranges, partitions),
            None => ranges,
        };
        let query = |keys| Query { top: self.top, ..Query::new(keys) };
        let PageAt { page, unreadable, next, is_restart } =
            position.page((self.store(), &table), &ranges, query).await?;
        let mut swept = Swept { skipped: page.skipped, next, is_restart, ..Swept::default() };
        let mut items = Vec::with_capacity(page.rows.len());
        for entity in page.rows.iter() {
            let key = EntityKey::new(entity.partition_key, entity.row_key)?;
            match self.owner(phase, entity) {
                Ok(RowOwner::Own) => {
                    let row = entity.row.to_row();
                    items.push(Item { key, found: StoredRow { row, etag: entity.etag() } });
                }
                Ok(_) => {}
                Err(error) => swept.findings.push(self.unread(phase, &key, &error)),
            }
        }
        for row in unreadable {
            if !matches!(self.owner(phase, row.entity()), Ok(RowOwner::Other)) {
                swept.findings.push(self.unread(phase, &row.key, &row.error));
            }
        }
        for some in items.chunks(pacer.burst()) {
            swept.findings.extend(match phase {
                Phase::Rows => self.rows(&table, some).await?,
                Phase::Entities => self.entities(some).await?,
            });
            swept.items += u64::try_from(some.len()).unwrap_or(u64::MAX);
            pacer.items(some.len()).await;
        }
        Ok(swept)
    }

    /// Returns the owner of a row on a page. `Own` means that the phase processes the row: it is an index row or an entity, depending on the phase.
    fn owner(&self, phase: Phase, row: EntityRef<'_>) -> Result<RowOwner> {
        match phase {
            Phase::Rows => classify_index_row::<E>(self.schema(), row),
            Phase::Entities => classify_row::<E>(row),
        }
    }

    fn schema(&self) -> &'static IndexSchema {
        self.index.schema()
    }

    fn store(&self) -> &S {
        self.table.table.store()
    }

    fn finding(&self, kind: FindingKind, at: &EntityKey, owner: Option<&EntityKey>) -> Finding {
        Finding {
            index: self.schema().name,
            kind,
            at: at.clone(),
            owner: owner.cloned(),
            repaired: false,
            reason: None,
        }
    }

    /// Returns the finding for an entity or an index row that cannot be read. Records the error of the first entity.
    fn unread(&self, phase: Phase, key: &EntityKey, error: &Error) -> Finding {
        if phase == Phase::Entities {
            self.unread.get_or_init(|| self.table.here(error.clone(), key));
        }
        self.bad(phase, key, error)
    }

    /// Returns the finding for an entity or an index row that cannot be checked.
    fn bad(&self, phase: Phase, key: &EntityKey, error: &Error) -> Finding {
        let (kind, owner) = match phase {
            Phase::Rows => (FindingKind::Unreadable, None),
            Phase::Entities => (FindingKind::BadEntity, Some(key)),
        };
        Finding { reason: Some(error.to_string()), ..self.finding(kind, key, owner) }
    }

    /// Awaits the check of one item. A permanent error or a panic becomes a finding, which is returned as the inner `Err`.
    ///
    /// # Errors
    /// The error of the check, if a retry can succeed.
    async fn checked<T>(
        &self,
        (phase, key): (Phase, &EntityKey),
        check: impl Future<Output = Result<T>>,
    ) -> Result<Result<T, Finding>> {
        match caught_in("the code of the entity type", check).await {
            Ok(done) => Ok(Ok(done)),
            Err(error) if Failure::of(&error) == Failure::Lasting => Ok(Err(self.bad(phase, key, &error))),
            Err(error) => Err(error),
        }
    }

    /// Awaits the check of one item. A permanent error of the store or of another row becomes a finding. The index is then recorded as incomplete.
    async fn guarded<T>(
        &self,
        (phase, key): (Phase, &EntityKey),
        check: impl Future<Output = Result<T>>,
    ) -> Result<Result<T, Finding>> {
        match caught_in("the code of the entity type", check).await {
            Err(error) if Failure::of(&error) == Failure::Lasting => {
                let bad = self.bad(phase, key, &error);
                // IMPORTANT: because of this error, the index may lack the entry of an entity, or contain a dangling entry.
                let _ = self.blocked.set(error);
                Ok(Err(bad))
            }
            done => done.map(Ok),
        }
    }

    /// Returns the members of a list, or `None` if the list cannot be read.
    async fn members(&self, form: &ListForm, key: &EntityKey, row: &Row) -> Result<Option<Members>> {
        let table = self.table.table_of(self.schema())?;
        match self.table.lists(&table).read::<E>(form, key, Some(row)).await {
            Err(error) if is_unreadable(&error) => Ok(None),
            members => members.map(Some),
        }
    }

    /// Plans a transaction that adds an entity's index entry. The transaction also touches the entity. If the entity's version has changed, it therefore fails.
    fn joining(&self, key: EntityKey, etag: ETag, entry: IndexEntry) -> EntityPlan {
        let indexes = Indexes { blobs: self.table.list_blobs().cloned(), ..Indexes::of::<E>() };
        let kind = match self.schema().kind {
            IndexKind::List => ChangeKind::Join(entry.row),
            IndexKind::Copies => ChangeKind::Add(entry.row),
        };
        let change = Change { index: self.schema(), key: entry.key, kind };
        let mut out = Contribution::default();
        let watch = self.table.table.schema_watch();
        indexes.add_row::<E>(change, (&key, self.table.retry.runtime(), &watch), &mut out);
        out.into_plan(key, touch(IfMatch::ETag(etag)))
    }

    /// Makes one attempt to commit a batch. If `look` is `true`, first reads the index rows.
    async fn attempt(&self, batch: &Batch, look: bool) -> Result<Outcome> {
        self.table.admit(false).await?;
        self.table.site(self.table.table.name()?).attempt(batch, look).await
    }

    async fn delete(&self, table: &TableName, key: &EntityKey, etag: ETag) -> Result<()> {
        self.submit(table, key, OperationKind::Delete(IfMatch::ETag(etag))).await
    }

    async fn submit(&self, table: &TableName, key: &EntityKey, kind: OperationKind) -> Result<()> {
        self.table.admit(false).await?;
        let operation = [(key.row_key.clone(), kind)];
        converge::submit(self.store(), table, &key.partition_key, operation).await.map(drop)
    }
}

fn begin(pieces: &[KeyPiece]) -> TextRange {
    match pieces {
        [KeyPiece::Literal(literal), ..] => TextRange::prefix(literal),
        _ => TextRange::ALL,
    }
}

/// Returns the intersection of the key ranges with the given partitions.
fn in_partitions(ranges: &[KeyRange], partitions: &[TextRange]) -> Vec<KeyRange> {
    let parts = ranges.iter().flat_map(|range| {
        partitions.iter().map(|partition_key| {
            let mut part = range.clone();
            part.partition_key.intersect(partition_key);
            part
        })
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// Returns a key range that contains all rows of an index, and possibly other rows.
pub(super) fn rows_of<E: Entity>(index: &IndexSchema) -> KeyRange {
    KeyRange {
        partition_key: begin(index.partition_key.unwrap_or(E::SCHEMA.partition_key)),
        row_key: begin(index.row_key),
    }
}
