//! Transactions of several entities of one partition with their indexes: all or none (EGT rules, PAT-INTRA-4).

use std::fmt;

use table_core::entity::{Entity, Versioned};
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::PartitionKey;
use table_core::operation::OperationKind;
use table_core::selection::{Partition, Selection};
use table_core::store::TableStore;

use crate::index::batch::{Batch, Write};
use crate::index::commit::Attempt;
use crate::index::outbox::IndexOutbox;
use crate::index::table::IndexedTable;

/// Writes of entities of one partition and of their copies and lists there, applied all or none.
///
/// What replaces or deletes takes the entity as it was read: its version is the condition, its values tell what the indexes
/// hold. Copies count against the 100 operations and 4 MiB (PAT-INTRA-8), which is told as they are added.
///
/// ```
/// # use table_core::{Engine, Entity};
/// # use table_patterns::index::IndexedStore;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # #[index(ByEmail, unique, row_key("email_", email))]
/// # struct Employee { department: String, #[digits(6)] id: u32, email: String }
/// # pollster::block_on(async {
/// let employees = Engine::in_memory().indexed::<Employee>().create_if_missing().await?;
/// let ada = Employee { department: "Sales".into(), id: 1, email: "ada@contoso.com".into() };
/// let bob = Employee { id: 2, email: "bob@contoso.com".into(), ..ada.clone() };
/// let mut sales = employees.transaction(Employee::partition("Sales"))?;
/// sales.insert(&ada)?.insert(&bob)?;
/// assert_eq!((sales.operations(), sales.commit().await?.len()), (4, 2));
///
/// // Two entities change places in a unique index: no order of single writes could do that.
/// let ada = employees.get(Employee::key("Sales", 1)).await?.expect("inserted");
/// let bob = employees.get(Employee::key("Sales", 2)).await?.expect("inserted");
/// let mut sales = employees.transaction(Employee::partition("Sales"))?;
/// sales.replace(&ada, &Employee { email: bob.email.clone(), ..ada.value().clone() })?;
/// sales.replace(&bob, &Employee { email: ada.email.clone(), ..bob.value().clone() })?;
/// sales.commit().await?;
/// let found = employees.get(Employee::by_email("Sales", "ada@contoso.com")).await?;
/// assert_eq!(found.map(|found| found.id), Some(2));
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a transaction does nothing until it is committed"]
pub struct IndexedTransaction<E, S, O> {
    table: IndexedTable<E, S, O>,
    batch: Batch,
}

impl<E: Entity, S: TableStore + Clone, O: IndexOutbox> IndexedTable<E, S, O> {
    /// Begins a transaction on one partition. Sends nothing.
    ///
    /// # Errors
    /// `KeyEncoding`, `PropertyValueTooLarge` if the partition has no legal key (KEY-8).
    pub fn transaction(&self, partition: Selection<E, Partition>) -> Result<IndexedTransaction<E, S, O>> {
        let ranges = partition.into_ranges()?;
        let name = ranges.first().and_then(|range| range.partition_key.single()).unwrap_or_default();
        Ok(IndexedTransaction { table: self.clone(), batch: Batch::new(PartitionKey::new(name)?) })
    }
}

impl<E: Entity, S: TableStore, O: IndexOutbox> IndexedTransaction<E, S, O> {
    /// Adds an insert: the entity must not exist (INS-1).
    ///
    /// # Errors
    /// One operation, or byte, too many (EGT-2, EGT-3), an entity that is in it already (EGT-4), another partition (EGT-5), a
    /// value that is in it already (PAT-INTRA-5). The transaction stays as it was.
    pub fn insert(&mut self, entity: &E) -> Result<&mut Self> {
        let kind = OperationKind::Insert(entity.to_row()?);
        self.push(Write::new(entity.key_of()?, kind, None, Some(entity))?)
    }

    /// Adds a replace of an entity as it was read (UPD-1).
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert); `InvalidInput` if the two have different keys (UPD-6).
    pub fn replace(&mut self, old: &Versioned<E>, new: &E) -> Result<&mut Self> {
        let key = new.key_of()?;
        if old.key_of()? != key {
            let message = "the entity has another key than the one it replaces: keys are fixed";
            return Err(self.here(Error::new(ErrorCode::InvalidInput, message).with_rule("UPD-6")));
        }
        let kind = OperationKind::Replace(new.to_row()?, IfMatch::ETag(old.etag().clone()));
        self.push(Write::new(key, kind, Some(old.value()), Some(new))?)
    }

    /// Adds a delete of an entity as it was read (DEL-2).
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn delete(&mut self, old: &Versioned<E>) -> Result<&mut Self> {
        let kind = OperationKind::Delete(IfMatch::ETag(old.etag().clone()));
        self.push(Write::new(old.key_of()?, kind, Some(old.value()), None)?)
    }

    fn push(&mut self, write: Write) -> Result<&mut Self> {
        if write.key.partition_key != self.batch.partition_key {
            let message = format!(
                "the entity lies in partition '{}', the transaction in '{}': a transaction has one partition",
                write.key.partition_key, self.batch.partition_key
            );
            let error =
                Error::new(ErrorCode::CommandsInBatchActOnDifferentPartitions, message).with_rule("EGT-5");
            return Err(self.here(error));
        }
        let mut batch = self.batch.clone();
        batch.push::<E>(write).map_err(|error| self.here(error))?;
        let limits = self.table.table().store().capabilities().limits;
        let refuse = |code, rule, message: String| Err(self.here(Error::new(code, message).with_rule(rule)));
        let (operations, most) = (batch.operations(), limits.operations);
        if operations > most {
            let message = format!(
                "with their copies the entities would be {operations} operations; a transaction holds at most {most}"
            );
            return refuse(ErrorCode::InvalidInput, "EGT-2", message);
        }
        let (bytes, most) = (batch.bytes(), limits.transaction_bytes);
        if bytes > most {
            let message =
                format!("with their copies the entities would be {bytes} bytes; at most {most} are allowed");
            return refuse(ErrorCode::RequestBodyTooLarge, "EGT-3", message);
        }
        self.batch = batch;
        Ok(self)
    }

    fn here(&self, error: Error) -> Error {
        let table = self.table.table().name().map(|table| table.as_str().to_owned());
        table.map_or(error.clone(), |table| error.with_table(table))
    }

    /// How many operations it holds at most, those of copies, lists and the outbox included.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.batch.operations()
    }

    /// The sum of the sizes of entities and copies, by the published formula (SIZE-2).
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.batch.bytes()
    }

    /// Applies all or nothing, and gives the new versions of the entities in order; `None` for a delete. Where a list was
    /// changed by others meanwhile, it is read again.
    ///
    /// # Errors
    /// That of the first entity that is not as its condition has it, with its [position](Error::operation); `UniqueViolation`
    /// (PAT-INTRA-5), `IndexListFull` (PAT-IX-4); `InvalidInput` for a transaction without operations (EGT-12);
    /// `UpdateConditionNotSatisfied` if all attempts lost their race for a list.
    pub async fn commit(self) -> Result<Vec<Option<ETag>>> {
        if self.batch.entities.is_empty() {
            let message = "the transaction has no operations: add one, or do not commit";
            return Err(self.here(Error::new(ErrorCode::InvalidInput, message).with_rule("EGT-12")));
        }
        self.table.commit(&self.batch).await
    }
}

impl<E: Entity, S: TableStore, O: IndexOutbox> IndexedTable<E, S, O> {
    /// Writes a batch whose conditions on entities are the caller's; copies and lists are looked at until that is done.
    pub(crate) async fn commit(&self, batch: &Batch) -> Result<Vec<Option<ETag>>> {
        let mut look = false;
        let mut race = self.retry.race("the indexes of the entities");
        loop {
            match self.attempt(batch, look).await? {
                Attempt::Done(etags) => return Ok(etags),
                Attempt::Entity(error) => return Err(error),
                Attempt::Index(_) if !look => look = true,
                Attempt::Index(error) => race.lost(error).await?,
            }
        }
    }
}

impl<E, S: fmt::Debug, O: fmt::Debug> fmt::Debug for IndexedTransaction<E, S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexedTransaction").field("table", &self.table).field("batch", &self.batch).finish()
    }
}
