//! One pass over an index: from its rows to their entities, then from the entities to their rows; each finding confirmed, and
//! made good if that is wanted. Safe beside live writers.

use table_core::entity::Entity;
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::index::IndexOf;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{Continuation, KeyRange, Query, Select, TextRange};
use table_core::row::{Row, RowWriter};
use table_core::schema::{IndexKind, IndexSchema, KeyPiece, fits};
use table_core::selection::{Scan, Selection};
use table_core::store::{StoredRow, TableStore};
use table_core::transaction::Transaction;

use crate::index::batch::{Batch, RemoteChange, Write};
use crate::index::changes::{Change, ChangeKind, owner_of};
use crate::index::check::{Finding, FindingKind};
use crate::index::commit::Attempt;
use crate::index::list::{ListForm, ListWrite, Members, is_unreadable};
use crate::index::outbox::IndexOutbox;
use crate::index::pace::{Pacer, back_off};
use crate::index::settle::{has_same, is_conflict};
use crate::index::table::IndexedTable;
use crate::index::write::{Current, WRITE_ATTEMPTS, read_as};

/// What a pass goes over first, and what then. Rows first: what nobody owns is out of the way before others take its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The rows of the index, each compared with the entity that it belongs to.
    Rows,
    /// The entities, each compared with its rows.
    Entities,
}

/// Where a page of a phase begins: which of its ranges of keys, and where in that.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub(crate) range: usize,
    pub(crate) from: Option<Continuation>,
}

/// One page of a pass.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    /// What was gone over.
    pub(crate) items: u64,
    /// What was found, confirmed; whether it was made good stands in each.
    pub(crate) findings: Vec<Finding>,
    /// Where the next page begins; `None` at the end of the phase.
    pub(crate) next: Option<Place>,
}

/// A pass over one index.
pub(crate) struct Sweep<'a, E: 'static, S, O> {
    pub(crate) table: &'a IndexedTable<E, S, O>,
    pub(crate) index: &'static IndexOf<E>,
    pub(crate) repair: bool,
    pub(crate) top: Option<usize>,
}

impl<E: Entity, S: TableStore, O: IndexOutbox> Sweep<'_, E, S, O> {
    fn schema(&self) -> &'static IndexSchema {
        self.index.schema()
    }

    fn store(&self) -> &S {
        self.table.table.store()
    }

    /// One page of a phase.
    pub(crate) async fn page(&self, phase: Phase, place: &Place, pacer: &mut Pacer) -> Result<Swept> {
        let (table, ranges) = match phase {
            Phase::Rows => (self.table.table_of(self.schema())?, vec![rows_of::<E>(self.schema())]),
            Phase::Entities => {
                let entities = Selection::<E, Scan>::scan("to go over an index").own_rows();
                (self.table.table.name()?.clone(), entities.into_ranges()?)
            }
        };
        let Some(keys) = ranges.get(place.range).cloned() else { return Ok(Swept::default()) };
        let query = Query { top: self.top, ..Query::new(keys) };
        let page = self.store().query(&table, &query, place.from.as_ref()).await?;
        let next = match page.continuation {
            Some(from) => Some(Place { range: place.range, from: Some(from) }),
            None => (place.range + 1 < ranges.len()).then_some(Place { range: place.range + 1, from: None }),
        };
        let mut swept = Swept { next, ..Swept::default() };
        for entity in page.rows.iter() {
            let is_of = match phase {
                Phase::Rows => self.is_row(entity.partition_key, entity.row_key),
                Phase::Entities => {
                    fits(E::SCHEMA.partition_key, entity.partition_key)
                        && fits(E::SCHEMA.row_key, entity.row_key)
                }
            };
            if !is_of {
                continue;
            }
            let key = EntityKey::new(entity.partition_key, entity.row_key)?;
            let row = entity.row.to_row();
            let found = StoredRow { row, etag: entity.etag() };
            match phase {
                Phase::Rows => self.row(&table, &key, found, &mut swept.findings).await?,
                Phase::Entities => self.entity(&table, &key, &found, &mut swept.findings).await?,
            }
            swept.items += 1;
            pacer.item().await;
        }
        Ok(swept)
    }

    fn is_row(&self, partition_key: &str, row_key: &str) -> bool {
        let partition = self.schema().partition_key.unwrap_or(E::SCHEMA.partition_key);
        fits(partition, partition_key) && fits(self.schema().row_key, row_key)
    }

    fn finding(&self, kind: FindingKind, at: &EntityKey, owner: Option<&EntityKey>) -> Finding {
        Finding { index: self.schema().name, kind, at: at.clone(), owner: owner.cloned(), repaired: false }
    }

    /// One entity: is there what there should be?
    async fn entity(
        &self,
        table: &TableName,
        key: &EntityKey,
        found: &StoredRow,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        let entity: E = read_as(key, &found.row).map_err(|error| {
            error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
        })?;
        if self.judge(&entity, key).await?.is_none() {
            return Ok(());
        }
        let mut repaired = None;
        for attempts in 0..WRITE_ATTEMPTS {
            // From here on the page does not count: the entity before, its row, the entity after.
            let Some(current) = self.table.current(key).await? else { return Ok(()) };
            let Some((kind, at)) = self.judge(&current.entity, key).await? else {
                // Made good, here or by a live writer.
                findings.extend(repaired);
                return Ok(());
            };
            let again = self.table.current(key).await?;
            if again.is_none_or(|again| again.etag != current.etag) {
                continue;
            }
            let finding = self.finding(kind, &at, Some(key));
            if !self.repair || kind == FindingKind::Duplicate {
                findings.push(finding);
                return Ok(());
            }
            match self.make_good(current, key, &at, kind).await {
                Ok(()) => repaired = Some(Finding { repaired: true, ..finding }),
                Err(error) if error.code() == ErrorCode::UniqueViolation => {
                    findings.push(self.finding(FindingKind::Duplicate, &at, Some(key)));
                    return Ok(());
                }
                Err(error) if is_conflict(&error) => back_off(&self.table.pace, attempts).await,
                Err(error) => return Err(error),
            }
        }
        Err(self.given_up(table, key))
    }

    fn given_up(&self, table: &TableName, key: &EntityKey) -> Error {
        let message = format!(
            "others wrote where the index `{}` is looked at, during each of {WRITE_ATTEMPTS} attempts: go on later",
            self.schema().name
        );
        Error::new(ErrorCode::UpdateConditionNotSatisfied, message)
            .with_rule("CON-3")
            .with_table(table.as_str())
            .with_key(key.partition_key.as_str(), key.row_key.as_str())
    }

    /// What is wrong where an entity has its entry; `None` if nothing is.
    async fn judge(&self, entity: &E, owner: &EntityKey) -> Result<Option<(FindingKind, EntityKey)>> {
        let Some(entry) = self.index.entry(entity)? else { return Ok(None) };
        let table = self.table.table_of(self.schema())?;
        let found = self.store().get(&table, &entry.key, &Select::All).await?;
        let Some(found) = found else { return Ok(Some((FindingKind::Missing, entry.key))) };
        let kind = if self.schema().kind == IndexKind::List {
            let form = ListForm::new(E::SCHEMA, self.schema());
            match self.members(&form, &entry.key, &found.row).await? {
                Some(members) if members.contains(owner) => None,
                Some(_) => Some(FindingKind::Missing),
                None => Some(FindingKind::Unreadable),
            }
        } else {
            match owner_of::<E>(self.schema(), &entry.key, &found.row) {
                Some(holder) if holder == *owner => {
                    (!has_same(found.row.view(), entry.row.view())?).then_some(FindingKind::Stale)
                }
                Some(holder) if self.table.has_entry(self.index, &holder, &entry.key).await? => {
                    Some(FindingKind::Duplicate)
                }
                Some(_) => Some(FindingKind::Missing),
                None => Some(FindingKind::Unreadable),
            }
        };
        Ok(kind.map(|kind| (kind, entry.key)))
    }

    /// Writes what an entity has in the index. In its partition that is one transaction with the entity, whose version is the
    /// condition and changes: so no writer with another value in mind gets between.
    async fn make_good(
        &self,
        current: Current<E>,
        key: &EntityKey,
        at: &EntityKey,
        kind: FindingKind,
    ) -> Result<()> {
        let schema = self.schema();
        if !schema.is_same_partition() {
            let change = RemoteChange { index: schema, owner: key.clone(), keys: vec![at.clone()] };
            return self.table.settle(&change).await.map(drop);
        }
        let Some(entry) = self.index.entry(&current.entity)? else { return Ok(()) };
        if kind != FindingKind::Stale {
            // What is in the way belongs to nobody.
            self.clear(at, key).await?;
        }
        let touch = OperationKind::Merge(RowWriter::with_capacity(0).finish(), IfMatch::ETag(current.etag));
        let what = if schema.kind == IndexKind::List {
            ChangeKind::Join(entry.row)
        } else {
            ChangeKind::Add(entry.row)
        };
        let changes = vec![Change { index: schema, key: entry.key, kind: what }];
        let batch = Batch::of::<E>(Write { key: key.clone(), kind: touch, changes })?;
        match self.table.attempt(&batch, true).await? {
            Attempt::Done(_) => Ok(()),
            Attempt::Entity(error) | Attempt::Index(error) => Err(error),
        }
    }

    /// Removes what lies where an entity has its copy and is of nobody: of an owner that has no such entry, or unreadable.
    async fn clear(&self, at: &EntityKey, owner: &EntityKey) -> Result<()> {
        let table = self.table.table_of(self.schema())?;
        let Some(found) = self.store().get(&table, at, &Select::All).await? else { return Ok(()) };
        if self.schema().kind == IndexKind::List {
            let form = ListForm::new(E::SCHEMA, self.schema());
            return match self.members(&form, at, &found.row).await? {
                Some(_) => Ok(()),
                None => self.delete(&table, at, found.etag).await,
            };
        }
        match owner_of::<E>(self.schema(), at, &found.row) {
            Some(holder) if holder == *owner => Ok(()),
            Some(holder) if self.table.has_entry(self.index, &holder, at).await? => Ok(()),
            _ => self.delete(&table, at, found.etag).await,
        }
    }

    /// One row of the index: does it belong to somebody?
    async fn row(
        &self,
        table: &TableName,
        key: &EntityKey,
        mut found: StoredRow,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        for attempts in 0..WRITE_ATTEMPTS {
            let Some(astray) = self.astray(key, &found.row).await? else { return Ok(()) };
            // IMPORTANT: the row was read before its owners. Who came to own it since has written it, and so changed its version.
            let again = self.store().get(table, key, &Select::All).await?;
            let Some(again) = again else { return Ok(()) };
            if again.etag != found.etag {
                found = again;
                continue;
            }
            if !self.repair {
                findings.extend(astray);
                return Ok(());
            }
            match self.remove(table, key, &found, &astray).await {
                Ok(()) => {
                    findings.extend(astray.into_iter().map(|finding| Finding { repaired: true, ..finding }));
                    return Ok(());
                }
                Err(error) if is_conflict(&error) => back_off(&self.table.pace, attempts).await,
                Err(error) => return Err(error),
            }
            let Some(again) = self.store().get(table, key, &Select::All).await? else { return Ok(()) };
            found = again;
        }
        Err(self.given_up(table, key))
    }

    /// What a row holds for entities that do not have it; `None` if all is well.
    async fn astray(&self, key: &EntityKey, row: &Row) -> Result<Option<Vec<Finding>>> {
        let schema = self.schema();
        let mut astray = Vec::new();
        let unreadable = || self.finding(FindingKind::Unreadable, key, None);
        if schema.kind == IndexKind::List {
            let form = ListForm::new(E::SCHEMA, schema);
            let Some(members) = self.members(&form, key, row).await? else {
                return Ok(Some(vec![unreadable()]));
            };
            astray.extend((0..members.strays()).map(|_| unreadable()));
            for owner in members.owners() {
                if !self.table.has_entry(self.index, owner, key).await? {
                    astray.push(self.finding(FindingKind::Dangling, key, Some(owner)));
                }
            }
        } else {
            match owner_of::<E>(schema, key, row) {
                None => astray.push(unreadable()),
                Some(owner) if self.table.has_entry(self.index, &owner, key).await? => {}
                Some(owner) => astray.push(self.finding(FindingKind::Dangling, key, Some(&owner))),
            }
        }
        Ok((!astray.is_empty()).then_some(astray))
    }

    async fn remove(
        &self,
        table: &TableName,
        key: &EntityKey,
        found: &StoredRow,
        astray: &[Finding],
    ) -> Result<()> {
        if !self.schema().is_same_partition() && astray.iter().all(|finding| finding.owner.is_some()) {
            // A settling that found the row in line wrote nothing: only one that looks at the entity afterwards is safe beside it.
            for owner in astray.iter().filter_map(|finding| finding.owner.clone()) {
                let change = RemoteChange { index: self.schema(), owner, keys: vec![key.clone()] };
                self.table.settle(&change).await?;
            }
            return Ok(());
        }
        if self.schema().kind == IndexKind::Copies {
            return self.delete(table, key, found.etag.clone()).await;
        }
        let form = ListForm::new(E::SCHEMA, self.schema());
        let before = self.members(&form, key, &found.row).await?.unwrap_or_default();
        let mut after = before.clone();
        after.leave_strays();
        for owner in astray.iter().filter_map(|finding| finding.owner.as_ref()) {
            after.leave(owner);
        }
        let lists = self.table.lists(table);
        let write = lists.write(&form, key, Some(found), &before, &after).await?;
        let Some(ListWrite { kind, upload }) = write else { return Ok(()) };
        upload.as_ref().map_or(Ok(()), |upload| lists.check_age(upload))?;
        let done = self.submit(table, key, kind).await;
        if let (Err(error), Some(upload)) = (&done, &upload)
            && is_conflict(error)
        {
            lists.discard(upload).await;
        }
        done
    }

    /// Who is in a list; `None` if it is not to be read.
    async fn members(&self, form: &ListForm, key: &EntityKey, row: &Row) -> Result<Option<Members>> {
        let table = self.table.table_of(self.schema())?;
        match self.table.lists(&table).read::<E>(form, key, Some(row)).await {
            Err(error) if is_unreadable(&error) => Ok(None),
            members => members.map(Some),
        }
    }

    async fn delete(&self, table: &TableName, key: &EntityKey, etag: ETag) -> Result<()> {
        self.submit(table, key, OperationKind::Delete(IfMatch::ETag(etag))).await
    }

    async fn submit(&self, table: &TableName, key: &EntityKey, kind: OperationKind) -> Result<()> {
        let mut transaction =
            Transaction::new(key.partition_key.clone(), self.store().capabilities().limits)?;
        transaction.push(Operation { row_key: key.row_key.clone(), kind })?;
        self.store().submit(table, transaction).await.map(drop)
    }
}

fn begin(pieces: &[KeyPiece]) -> TextRange {
    match pieces {
        [KeyPiece::Literal(literal), ..] => TextRange::prefix(literal),
        _ => TextRange::ALL,
    }
}

/// The keys that the rows of an index have, and perhaps others.
fn rows_of<E: Entity>(index: &IndexSchema) -> KeyRange {
    KeyRange {
        partition_key: begin(index.partition_key.unwrap_or(E::SCHEMA.partition_key)),
        row_key: begin(index.row_key),
    }
}
