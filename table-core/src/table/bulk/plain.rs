//! Bulk writes of entities without derived rows.

use table_store::{Error, ErrorCode, Result};

use crate::entity::ToEntity;
use crate::etag::IfMatch;
use crate::key::{EntityKey, PartitionKey};
use crate::operation::{Operation, OperationKind};
use crate::schema::EntitySchema;
use crate::store::TableStore;
use crate::table::Table;
use crate::table::bulk::{Bulk, BulkTarget, BulkVerb};
use crate::table::written_types::WrittenTypes;
use crate::transaction::Transaction;

impl<E: ToEntity, S: TableStore> Table<E, S> {
    /// Creates a builder for bulk writes, which are not atomic.
    pub fn bulk(&self) -> Bulk<'_, Self> {
        Bulk::new(self)
    }
}

/// The encoded write of an entity, and the schemas of the types that the entity may have.
#[doc(hidden)]
#[derive(Debug)]
pub struct BulkWrite {
    pub(super) key: EntityKey,
    pub(super) kind: OperationKind,
    pub(super) schemas: &'static [&'static EntitySchema],
}

/// A transaction. For each operation, it contains the schemas of the types that the operation may write.
#[doc(hidden)]
#[derive(Debug)]
pub struct BulkTransaction {
    transaction: Transaction,
    schemas: Vec<&'static [&'static EntitySchema]>,
}

impl BulkTransaction {
    /// Returns the entity types written by the transaction.
    fn written(&self) -> Vec<WrittenTypes> {
        let mut written = Vec::new();
        for (operation, schemas) in self.transaction.operations().iter().zip(&self.schemas) {
            let is_whole = matches!(operation.kind, OperationKind::InsertOrReplace(_));
            WrittenTypes::new(schemas, is_whole).add_to(&mut written);
        }
        written
    }
}

impl<E: ToEntity, S: TableStore> BulkTarget for Table<E, S> {
    type Entity = E;
    type Item = BulkWrite;
    type Batch = BulkTransaction;

    fn item(&self, verb: BulkVerb, entity: &E) -> Result<Self::Item> {
        let kind = match verb {
            BulkVerb::Insert => OperationKind::Insert(entity.entity_row()?),
            BulkVerb::InsertOrReplace => OperationKind::InsertOrReplace(entity.entity_row()?),
            BulkVerb::InsertOrMerge => OperationKind::InsertOrMerge(entity.merge_row()?),
            BulkVerb::Delete => OperationKind::Delete(IfMatch::Any),
        };
        Ok(BulkWrite { key: entity.entity_key()?, kind, schemas: entity.own_schema() })
    }

    fn deletion(&self, key: EntityKey) -> Result<BulkWrite> {
        Ok(BulkWrite { key, kind: OperationKind::Delete(IfMatch::Any), schemas: E::schemas() })
    }

    fn partition_key(write: &BulkWrite) -> &PartitionKey {
        &write.key.partition_key
    }

    fn batch(&self, BulkWrite { key, kind, schemas }: BulkWrite) -> Result<BulkTransaction> {
        let mut transaction = Transaction::new(key.partition_key, self.store.capabilities().limits)?;
        transaction.push(Operation { row_key: key.row_key, kind })?;
        Ok(BulkTransaction { transaction, schemas: vec![schemas] })
    }

    fn push(&self, batch: &mut BulkTransaction, write: BulkWrite) -> Result<Option<BulkWrite>> {
        let operation = Operation { row_key: write.key.row_key.clone(), kind: write.kind };
        match batch.transaction.push(operation.clone()) {
            Ok(()) => {
                batch.schemas.push(write.schemas);
                Ok(None)
            }
            Err(error) if is_full_or_has_it(error.code()) => {
                Ok(Some(BulkWrite { kind: operation.kind, ..write }))
            }
            Err(error) => Err(error),
        }
    }

    fn bytes(batch: &BulkTransaction) -> usize {
        batch.transaction.bytes()
    }

    async fn commit(&self, batch: &BulkTransaction) -> Result<()> {
        self.submit(batch.transaction.clone(), &batch.written()).await.map(drop)
    }

    fn split(
        &self,
        BulkTransaction { transaction, mut schemas }: BulkTransaction,
        at: usize,
    ) -> Result<(BulkTransaction, BulkTransaction)> {
        let limits = *transaction.limits();
        let (partition_key, mut operations) = transaction.into_parts();
        let at = at.min(operations.len());
        let back = (operations.split_off(at), schemas.split_off(at));
        let batch = |(operations, schemas): (Vec<Operation>, Vec<_>)| -> Result<BulkTransaction> {
            let mut transaction = Transaction::new(partition_key.clone(), limits)?;
            for operation in operations {
                transaction.push(operation)?;
            }
            Ok(BulkTransaction { transaction, schemas })
        };
        Ok((batch((operations, schemas))?, batch(back)?))
    }

    fn in_table(&self, error: Error) -> Error {
        match self.name() {
            Ok(table) => error.with_table(table.as_str()),
            Err(_) => error,
        }
    }
}

/// Returns `true` if an error with this code may mean that the transaction cannot accept another operation. The transaction is full, or it already writes the
/// same entity.
const fn is_full_or_has_it(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::InvalidInput | ErrorCode::RequestBodyTooLarge | ErrorCode::InvalidDuplicateRow)
}
