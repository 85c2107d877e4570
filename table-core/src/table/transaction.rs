//! Typed entity group transactions, which write atomically to one partition. Each write is checked when it is added (EGT rules).

mod refused;

use std::fmt;

use table_store::{Error, Result};

use crate::entity::{SharesTable, ToEntity};
use crate::etag::{ETag, IntoIfMatch};
use crate::key::EntityKey;
use crate::operation::{Operation, OperationKind};
use crate::row::Row;
use crate::selection::{Point, Selection};
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::uncommitted::Uncommitted;
use crate::table::written_types::WrittenTypes;
use crate::table::{InPartition, Table};
use crate::transaction::Transaction;

/// Writes of entities in one partition, applied atomically by [`commit`](Self::commit) (EGT-9).
///
/// Every function that adds an operation checks the limits before anything is sent. A transaction has at most 100 operations (EGT-2) and 4 MiB (EGT-3), one
/// operation per entity (EGT-4), and one partition (EGT-5). The limits of an entity are checked too. A rejected operation leaves the transaction unchanged.
///
/// A transaction may contain entities of other types in the same table (PAT-CK-3). For larger writes, use [`Table::bulk`], which is not atomic.
///
/// If a non-empty transaction is dropped without a commit, nothing is written, and a `WARN` event is emitted.
///
/// ```
/// # use table_core::{Entity, Table, TableStoreExt, embedded::Engine};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
/// # let ada = Employee { department: "Sales".into(), id: 223, age: 36 };
/// # pollster::block_on(async {
/// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
/// let mut sales = employees.transaction(Employee::partition("Sales"))?;
/// sales.insert(&ada)?.insert(&Employee { id: 224, ..ada.clone() })?;
/// let elsewhere = Employee { department: "Marketing".into(), ..ada };
/// assert_eq!(sales.insert(&elsewhere).unwrap_err().rule(), Some("EGT-5"));
/// assert_eq!(sales.commit().await?.len(), 2);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a transaction has no effect until it is committed; bind it with `let mut`, and write `.commit().await?` after its operations"]
pub struct EntityTransaction<E, S> {
    table: Table<E, S>,
    transaction: Transaction,
    uncommitted: Uncommitted,
    written: Vec<WrittenTypes>,
}

impl<E, S: TableStore + Clone> Table<E, S> {
    /// Starts a transaction on one partition. No request is sent.
    ///
    /// # Errors
    /// `KeyEncoding` or `PropertyValueTooLarge` if the partition key is not legal (KEY-8).
    pub fn transaction(&self, partition: impl InPartition<E>) -> Result<EntityTransaction<E, S>>
    where
        E: ToEntity,
    {
        let limits = self.store.capabilities().limits;
        let transaction =
            Transaction::new(partition.partition_key()?, limits).map_err(|error| self.in_table(error))?;
        Ok(EntityTransaction {
            table: self.clone(),
            transaction,
            uncommitted: Uncommitted::default(),
            written: Vec::new(),
        })
    }
}

impl<E, S> Table<E, S> {
    pub(crate) fn in_table(&self, error: Error) -> Error {
        match &self.name {
            Ok(name) => error.with_table(name.as_str()),
            Err(_) => error,
        }
    }
}

impl<E: ToEntity, S: TableStore> EntityTransaction<E, S> {
    /// Adds an insert. The commit fails if the entity exists (INS-1).
    ///
    /// # Errors
    /// A validation error, such as `EntityTooLarge`, if the operation exceeds one of the limits listed at [`EntityTransaction`].
    pub fn insert<M: ToEntity + SharesTable<E>>(&mut self, entity: &M) -> Result<&mut Self> {
        self.write_row(entity, M::entity_row, OperationKind::Insert, false)
    }

    /// Adds a replace. The commit fails unless the stored entity satisfies `if_match` (UPD-1).
    ///
    /// # Errors
    /// A validation error, such as `EntityTooLarge`, if the operation exceeds one of the limits listed at [`EntityTransaction`].
    pub fn replace<M: ToEntity + SharesTable<E>>(
        &mut self,
        entity: &M,
        etag_or_any: impl IntoIfMatch,
    ) -> Result<&mut Self> {
        let if_match = etag_or_any.into();
        self.write_whole(entity, |row| OperationKind::Replace(row, if_match))
    }

    /// Adds a merge. The commit fails unless the stored entity satisfies `if_match` (MRG-1).
    ///
    /// # Errors
    /// A validation error, such as `EntityTooLarge`, if the operation exceeds one of the limits listed at [`EntityTransaction`].
    pub fn merge<M: ToEntity + SharesTable<E>>(
        &mut self,
        entity: &M,
        etag_or_any: impl IntoIfMatch,
    ) -> Result<&mut Self> {
        let if_match = etag_or_any.into();
        self.write_row(entity, M::merge_row, |row| OperationKind::Merge(row, if_match), false)
    }

    /// Adds an insert-or-replace (UPS-2).
    ///
    /// # Errors
    /// A validation error, such as `EntityTooLarge`, if the operation exceeds one of the limits listed at [`EntityTransaction`].
    pub fn insert_or_replace<M: ToEntity + SharesTable<E>>(&mut self, entity: &M) -> Result<&mut Self> {
        self.write_whole(entity, OperationKind::InsertOrReplace)
    }

    /// Adds an insert-or-merge (UPS-2).
    ///
    /// # Errors
    /// A validation error, such as `EntityTooLarge`, if the operation exceeds one of the limits listed at [`EntityTransaction`].
    pub fn insert_or_merge<M: ToEntity + SharesTable<E>>(&mut self, entity: &M) -> Result<&mut Self> {
        self.write_row(entity, M::merge_row, OperationKind::InsertOrMerge, false)
    }

    /// Adds a delete. The commit fails unless the stored entity satisfies `if_match` (DEL-2).
    ///
    /// # Errors
    /// A validation error, such as `InvalidDuplicateRow`, if the operation exceeds one of the limits listed at [`EntityTransaction`].
    pub fn delete<M: ToEntity + SharesTable<E>>(
        &mut self,
        key: Selection<M, Point>,
        etag_or_any: impl IntoIfMatch,
    ) -> Result<&mut Self> {
        self.require_table::<M>()?;
        let kind = OperationKind::Delete(etag_or_any.into());
        self.push(key.into_key()?, kind)?;
        WrittenTypes::new(M::schemas(), false).add_to(&mut self.written);
        Ok(self)
    }

    fn write_whole<M: ToEntity>(
        &mut self,
        entity: &M,
        kind: impl FnOnce(Row) -> OperationKind,
    ) -> Result<&mut Self> {
        self.write_row(entity, M::entity_row, kind, true)
    }

    fn write_row<M: ToEntity>(
        &mut self,
        entity: &M,
        row: impl FnOnce(&M) -> Result<Row>,
        kind: impl FnOnce(Row) -> OperationKind,
        is_whole: bool,
    ) -> Result<&mut Self> {
        self.require_table::<M>()?;
        let key = entity.entity_key()?;
        let row = row(entity)?;
        self.push(key, kind(row))?;
        WrittenTypes::new(entity.own_schema(), is_whole).add_to(&mut self.written);
        Ok(self)
    }

    /// Checks that an entity is stored in the transaction's table. A transaction writes to one table (EGT-1), which may contain entities of several types.
    ///
    /// Only a transaction on a table without a schema can fail this check. In all other transactions, the `SharesTable` bound rejects an entity of another
    /// table at compile time.
    fn require_table<M: ToEntity>(&self) -> Result<()> {
        let Some(design) = M::schema_table() else { return Ok(()) };
        let table = match E::schema_table() {
            Some(table) => table,
            None => self.table.name()?.as_str(),
        };
        if design.eq_ignore_ascii_case(table) {
            return Ok(());
        }
        let fault = TableFault::OtherTable { design, table: table.to_owned() };
        Err(self.table.in_table(Error::of(fault).with_operation(self.len())))
    }

    fn push(&mut self, key: EntityKey, kind: OperationKind) -> Result<&mut Self> {
        let pushed = push(&mut self.transaction, key, kind);
        pushed.map_err(|error| self.table.in_table(error))?;
        self.uncommitted.add();
        Ok(self)
    }

    /// Returns the number of operations in the transaction.
    #[must_use]
    pub fn len(&self) -> usize {
        self.transaction.operations().len()
    }

    /// Returns `true` if the transaction has no operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the total size of the entities in bytes, according to the service's published formula (SIZE-2, ENG-17).
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.transaction.bytes()
    }

    /// Applies all operations atomically. Returns the new versions in the order of the operations, with `None` for each delete.
    ///
    /// # Errors
    /// - The error of the first operation that fails, with its [index](Error::operation) and key (IMP-3, EGT-34).
    /// - `InvalidInput` if the transaction has no operations (EGT-12).
    /// - `SchemaMismatch` if a program with a newer schema forbids writes of one of the types.
    ///
    /// After an error, nothing has been applied, unless the error [is ambiguous](Error::is_ambiguous) (CON-11).
    pub async fn commit(self) -> Result<Vec<Option<ETag>>> {
        self.uncommitted.commit();
        self.table.submit(self.transaction, &self.written).await
    }
}

/// Adds an operation. Returns an error if it does not write to the transaction's partition (EGT-5).
pub(crate) fn push(transaction: &mut Transaction, key: EntityKey, kind: OperationKind) -> Result<()> {
    if key.partition_key != *transaction.partition_key() {
        let fault = TableFault::OtherPartition {
            entity: key.partition_key.to_string(),
            transaction: transaction.partition_key().to_string(),
        };
        return Err(Error::of(fault)
            .with_operation(transaction.operations().len())
            .with_key(key.partition_key.as_str(), key.row_key.as_str()));
    }
    transaction.push(Operation { row_key: key.row_key, kind })
}

impl<E, S: Clone> Clone for EntityTransaction<E, S> {
    fn clone(&self) -> Self {
        Self {
            table: self.table.clone(),
            transaction: self.transaction.clone(),
            uncommitted: self.uncommitted.clone(),
            written: self.written.clone(),
        }
    }
}

impl<E, S: fmt::Debug> fmt::Debug for EntityTransaction<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntityTransaction")
            .field("table", &self.table)
            .field("transaction", &self.transaction)
            .finish_non_exhaustive()
    }
}
