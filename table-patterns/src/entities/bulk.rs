//! Bulk writes through an [`Entities`] handle. Each transaction contains as many entities as fit, together with their derived rows, such as index entries
//! (PAT-INTRA-8).

use table_core::entity::Entity;
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey};
use table_core::limits::Limits;
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::row::{self, Row};
use table_core::store::{StoredRow, TableStore};
use table_core::table::{Bulk, BulkTarget, BulkVerb};
use table_core::{Error, ErrorCode, Result};

use crate::entities::batch::Batch;
use crate::entities::draft::{Draft, EntityWrite};
use crate::entities::fault::EntityFault;
use crate::entities::handle::Entities;
use crate::entities::outbox::StepRecorder;
use crate::entities::plan::EntityPlan;
use crate::entities::read::{RACE, read_as};
use crate::entities::retries::{Retries, is_too_large};
use crate::read_many;

/// The write of one entity in a bulk write.
#[derive(Clone, Debug)]
pub struct BulkItem {
    key: EntityKey,
    verb: BulkVerb,
    /// The properties, or `None` for a delete.
    row: Option<Row>,
    /// The write plan. If the write depends on the stored version, the plan is used only to estimate the size.
    plan: EntityPlan,
}

/// A batch of bulk items for one partition, committed in one transaction.
#[derive(Debug)]
pub struct BulkBatch {
    items: Vec<BulkItem>,
    batch: Batch,
}

impl<E: Entity + Send + Sync, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Creates a bulk write. A bulk write is not atomic. Each of its transactions contains as many entities as fit, together with their derived rows: for
    /// example, 33 entities with two index rows each (99 operations).
    ///
    /// ```
    /// # use table_core::{Engine, Entity};
    /// # use table_patterns::EntityStore;
    /// # #[derive(Entity, Clone)]
    /// # #[partition_key(department)]
    /// # #[row_key("empid_", id)]
    /// # #[index(ByEmail, unique, row_key("email_", email))]
    /// # #[index(ByAge, row_key("age_", age, "_", id))]
    /// # struct Employee { department: String, #[digits(6)] id: u32, #[digits(3)] age: u8, email: String }
    /// # pollster::block_on(async {
    /// let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
    /// let employee = |id| Employee { department: "Sales".into(), id, age: 36, email: format!("{id}@contoso.com") };
    /// let written = employees.bulk().insert_all((0..100).map(employee)).await?;
    /// assert_eq!((written.len(), employees.query(Employee::partition("Sales")).collect().await?.len()), (100, 100));
    ///
    /// let error = employees.bulk().insert_all((95..105).map(employee)).await.unwrap_err();
    /// assert!(error.source.is_already_exists() && error.at == Some(0) && error.written.is_empty());
    ///
    /// let older = |id| Employee { age: 37, ..employee(id) };
    /// employees.bulk().insert_or_replace_all((0..100).map(older)).await?;
    /// assert_eq!(employees.query(Employee::by_age("Sales", 37)).collect().await?.len(), 100);
    /// employees.bulk().delete_all((0..50).map(|id| Employee::key("Sales", id))).await?;
    /// assert_eq!(employees.query(Employee::by_age("Sales", 37)).collect().await?.len(), 50);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn bulk(&self) -> Bulk<'_, Self> {
        Bulk::new(self)
    }

    fn limits(&self) -> Limits {
        self.table.store().capabilities().limits
    }

    /// Returns `true` if a write with this verb must be planned from the stored version of the entity.
    fn plans_from_stored(&self, verb: BulkVerb) -> bool {
        verb != BulkVerb::Insert && !self.is_blind()
    }

    /// Reads the stored entities, and plans the items' writes from them.
    async fn plan_items(&self, items: &[BulkItem]) -> Result<Draft<'_>> {
        let keys: Vec<_> = items.iter().map(|item| item.key.clone()).collect();
        let stored = if items.iter().any(|item| self.plans_from_stored(item.verb)) {
            let table = (self.table.store(), self.table.name()?);
            let read = |row: table_core::query::EntityRef<'_>| {
                Ok(StoredRow { row: row.row.to_row(), etag: row.etag() })
            };
            read_many::rows(table, &keys, &Select::All, read).await?
        } else {
            keys.iter().map(|_| None).collect()
        };
        let mut draft = Draft::new(partition_of(items));
        for (at, (item, stored)) in items.iter().zip(stored).enumerate() {
            let stored = stored.filter(|_| self.plans_from_stored(item.verb));
            let planned = self.plan_item(item, stored.as_ref()).and_then(|write| draft.push(write, None));
            planned.map_err(|error| error.with_operation(at))?;
        }
        Ok(draft)
    }

    /// Plans one item's write from the stored version of its entity.
    fn plan_item(&self, item: &BulkItem, stored: Option<&StoredRow>) -> Result<EntityWrite<'_>> {
        let key = item.key.clone();
        let old = stored.map(|stored| read_as::<E>(&key, &stored.row)).transpose();
        let old = old.map_err(|error| self.here(error, &key))?;
        let if_match = stored.map(|stored| IfMatch::ETag(stored.etag.clone()));
        let (kind, after) = match (&item.row, if_match) {
            (None, None) => return Err(self.here(Error::of(EntityFault::NotFound), &key)),
            (None, Some(if_match)) => (OperationKind::Delete(if_match), None),
            (Some(row), None) => (OperationKind::Insert(row.clone()), Some(row.clone())),
            (Some(row), Some(if_match)) if item.verb == BulkVerb::InsertOrMerge => {
                let before = stored.map_or_else(|| row.view(), |stored| stored.row.view());
                let merged = row::merge(before, row.view())?;
                (OperationKind::Merge(row.clone(), if_match), Some(merged))
            }
            (Some(row), Some(if_match)) => (OperationKind::Replace(row.clone(), if_match), Some(row.clone())),
        };
        let new = after.map(|row| read_as::<E>(&key, &row)).transpose()?;
        let old = old.as_ref().map(|old| (old, stored.map(|stored| &stored.row)));
        let is_whole = item.verb == BulkVerb::InsertOrReplace;
        Ok(self.plan(key, kind, old, new.as_ref())?.whole(is_whole))
    }
}

/// Returns the partition of the items.
fn partition_of(items: &[BulkItem]) -> PartitionKey {
    items.first().map(|item| item.key.partition_key.clone()).unwrap_or_default()
}

impl<E: Entity + Send + Sync, S: TableStore, O: StepRecorder> BulkTarget for Entities<E, S, O> {
    type Entity = E;
    type Item = BulkItem;
    type Batch = BulkBatch;

    fn item(&self, verb: BulkVerb, entity: &E) -> Result<BulkItem> {
        let (key, row) = match verb {
            BulkVerb::InsertOrMerge => (entity.key_of()?, entity.to_merge()?),
            _ => (entity.key_of()?, entity.to_row()?),
        };
        let kind = match verb {
            BulkVerb::InsertOrReplace => OperationKind::InsertOrReplace(row.clone()),
            BulkVerb::InsertOrMerge => OperationKind::InsertOrMerge(row.clone()),
            _ => OperationKind::Insert(row.clone()),
        };
        let is_whole = verb == BulkVerb::InsertOrReplace;
        let plan = EntityPlan {
            is_whole,
            ..self.estimate(key.clone(), kind, Some(entity), self.plans_from_stored(verb))?
        };
        Ok(BulkItem { key, verb, row: Some(row), plan })
    }

    fn deletion(&self, key: EntityKey) -> Result<BulkItem> {
        let kind = OperationKind::Delete(IfMatch::Any);
        let plan = if self.is_blind() {
            self.estimate(key.clone(), kind, None, false)?
        } else {
            EntityPlan::alone(key.clone(), kind)
        };
        Ok(BulkItem { key, verb: BulkVerb::Delete, row: None, plan })
    }

    fn partition_key(item: &BulkItem) -> &PartitionKey {
        &item.key.partition_key
    }

    fn batch(&self, item: BulkItem) -> Result<BulkBatch> {
        let batch = Batch::of(item.plan.clone())?;
        Ok(BulkBatch { items: vec![item], batch })
    }

    fn push(&self, batch: &mut BulkBatch, item: BulkItem) -> Result<Option<BulkItem>> {
        // The item does not fit, or it conflicts with an earlier item: both write the same row, or both have the same unique value. Conflicting items are sent
        // in separate transactions. This lets the store decide whether they really conflict.
        if batch.batch.push_within(item.plan.clone(), Some(&self.limits())).is_err() {
            return Ok(Some(item));
        }
        batch.items.push(item);
        Ok(None)
    }

    fn bytes(batch: &BulkBatch) -> usize {
        batch.batch.bytes()
    }

    async fn commit(&self, batch: &BulkBatch) -> Result<()> {
        let BulkBatch { items, batch } = batch;
        let (completes, site) = (self.completer().is_some(), self.site(self.table.name()?));
        let reads = items.iter().any(|item| self.plans_from_stored(item.verb));
        if !completes && !reads {
            return Self::commit(self, batch).await.map(drop);
        }
        let mut retries = Retries::new(&self.retry, RACE).replan_entities(reads);
        loop {
            let draft = self.plan_items(items).await?;
            // IMPORTANT: check the admission only after the stored versions have been read, because a program with a newer schema may have written them.
            if let Some(outcome) = retries.submit(&site, &draft).await? {
                return outcome.committed().map(drop);
            }
        }
    }

    fn is_too_large(&self, error: &Error) -> bool {
        // Participants may write the same row for two entities. This conflict is detected only when the writes are planned from the stored entities. Splitting
        // the batch resolves it.
        error.code() == ErrorCode::InvalidDuplicateRow || is_too_large(error)
    }

    fn split(&self, batch: BulkBatch, at: usize) -> Result<(BulkBatch, BulkBatch)> {
        let mut items = batch.items;
        let back = items.split_off(at.min(items.len()));
        let of = |items: Vec<BulkItem>| {
            let mut batch = Batch::new(partition_of(&items));
            items.iter().try_for_each(|item| batch.push(item.plan.clone()))?;
            Ok::<_, Error>(BulkBatch { items, batch })
        };
        Ok((of(items)?, of(back)?))
    }

    fn in_table(&self, error: Error) -> Error {
        Self::in_table(self, error)
    }
}
