//! Bulk writes of entities without derived rows.

use table_store::{Error, ErrorCode, Result};

use crate::entity::ToEntity;
use crate::etag::IfMatch;
use crate::key::{EntityKey, PartitionKey};
use crate::operation::{Operation, OperationKind};
use crate::store::TableStore;
use crate::table::Table;
use crate::table::bulk::{Bulk, BulkTarget, BulkVerb};
use crate::table::written_types::WrittenTypes;
use crate::transaction::Transaction;

impl<E: ToEntity, S: TableStore> Table<E, S> {
    /// Creates a bulk write, which is not atomic.
    pub fn bulk(&self) -> Bulk<'_, Self> {
        Bulk::new(self)
    }
}

impl<E: ToEntity, S: TableStore> BulkTarget for Table<E, S> {
    type Entity = E;
    type Item = (EntityKey, OperationKind);
    type Batch = Transaction;

    fn item(&self, verb: BulkVerb, entity: &E) -> Result<Self::Item> {
        let kind = match verb {
            BulkVerb::Insert => OperationKind::Insert(entity.entity_row()?),
            BulkVerb::InsertOrReplace => OperationKind::InsertOrReplace(entity.entity_row()?),
            BulkVerb::InsertOrMerge => OperationKind::InsertOrMerge(entity.merge_row()?),
            BulkVerb::Delete => OperationKind::Delete(IfMatch::Any),
        };
        Ok((entity.entity_key()?, kind))
    }

    fn deletion(&self, key: EntityKey) -> Result<Self::Item> {
        Ok((key, OperationKind::Delete(IfMatch::Any)))
    }

    fn partition_key((key, _): &Self::Item) -> &PartitionKey {
        &key.partition_key
    }

    fn batch(&self, (key, kind): Self::Item) -> Result<Transaction> {
        let mut transaction = Transaction::new(key.partition_key, self.store.capabilities().limits)?;
        transaction.push(Operation { row_key: key.row_key, kind })?;
        Ok(transaction)
    }

    fn push(&self, batch: &mut Transaction, (key, kind): Self::Item) -> Result<Option<Self::Item>> {
        let operation = Operation { row_key: key.row_key.clone(), kind };
        match batch.push(operation.clone()) {
            Ok(()) => Ok(None),
            Err(error) if is_full_or_has_it(error.code()) => Ok(Some((key, operation.kind))),
            Err(error) => Err(error),
        }
    }

    fn bytes(batch: &Transaction) -> usize {
        batch.bytes()
    }

    async fn commit(&self, batch: &Transaction) -> Result<()> {
        let replaces = |operation: &Operation| matches!(operation.kind, OperationKind::InsertOrReplace(_));
        let is_whole = batch.operations().iter().any(replaces);
        self.submit(batch.clone(), &[WrittenTypes::new(E::schemas(), is_whole)]).await.map(drop)
    }

    fn split(&self, batch: Transaction) -> Result<(Transaction, Transaction)> {
        let limits = *batch.limits();
        let (partition_key, mut operations) = batch.into_parts();
        let back = operations.split_off(operations.len() / 2);
        let half = |operations: Vec<Operation>| {
            let mut half = Transaction::new(partition_key.clone(), limits)?;
            operations.into_iter().try_for_each(|operation| half.push(operation)).map(|()| half)
        };
        Ok((half(operations)?, half(back)?))
    }

    fn in_table(&self, error: Error) -> Error {
        match self.name() {
            Ok(table) => error.with_table(table.as_str()),
            Err(_) => error,
        }
    }
}

/// Returns `true` if an error means that a transaction rejected an operation only because of the operations already added to it.
const fn is_full_or_has_it(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::InvalidInput | ErrorCode::RequestBodyTooLarge | ErrorCode::InvalidDuplicateRow)
}
