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
    /// Creates a bulk write, which is not atomic.
    pub fn bulk(&self) -> Bulk<'_, Self> {
        Bulk::new(self)
    }
}

/// An encoded write, with the schemas of the types that the entity may have.
#[derive(Debug)]
pub struct Write {
    pub(super) key: EntityKey,
    pub(super) kind: OperationKind,
    pub(super) designs: &'static [&'static EntitySchema],
}

/// A transaction, with the schemas of the types that each of its operations may write.
#[derive(Debug)]
pub struct Batch {
    transaction: Transaction,
    designs: Vec<&'static [&'static EntitySchema]>,
}

impl Batch {
    /// Returns the types that the transaction writes.
    fn written(&self) -> Vec<WrittenTypes> {
        let mut written = Vec::new();
        for (operation, designs) in self.transaction.operations().iter().zip(&self.designs) {
            let is_whole = matches!(operation.kind, OperationKind::InsertOrReplace(_));
            WrittenTypes::new(designs, is_whole).add_to(&mut written);
        }
        written
    }
}

impl<E: ToEntity, S: TableStore> BulkTarget for Table<E, S> {
    type Entity = E;
    type Item = Write;
    type Batch = Batch;

    fn item(&self, verb: BulkVerb, entity: &E) -> Result<Self::Item> {
        let kind = match verb {
            BulkVerb::Insert => OperationKind::Insert(entity.entity_row()?),
            BulkVerb::InsertOrReplace => OperationKind::InsertOrReplace(entity.entity_row()?),
            BulkVerb::InsertOrMerge => OperationKind::InsertOrMerge(entity.merge_row()?),
            BulkVerb::Delete => OperationKind::Delete(IfMatch::Any),
        };
        Ok(Write { key: entity.entity_key()?, kind, designs: entity.own_schema() })
    }

    fn deletion(&self, key: EntityKey) -> Result<Write> {
        Ok(Write { key, kind: OperationKind::Delete(IfMatch::Any), designs: E::schemas() })
    }

    fn partition_key(write: &Write) -> &PartitionKey {
        &write.key.partition_key
    }

    fn batch(&self, Write { key, kind, designs }: Write) -> Result<Batch> {
        let mut transaction = Transaction::new(key.partition_key, self.store.capabilities().limits)?;
        transaction.push(Operation { row_key: key.row_key, kind })?;
        Ok(Batch { transaction, designs: vec![designs] })
    }

    fn push(&self, batch: &mut Batch, write: Write) -> Result<Option<Write>> {
        let operation = Operation { row_key: write.key.row_key.clone(), kind: write.kind };
        match batch.transaction.push(operation.clone()) {
            Ok(()) => {
                batch.designs.push(write.designs);
                Ok(None)
            }
            Err(error) if is_full_or_has_it(error.code()) => {
                Ok(Some(Write { kind: operation.kind, ..write }))
            }
            Err(error) => Err(error),
        }
    }

    fn bytes(batch: &Batch) -> usize {
        batch.transaction.bytes()
    }

    async fn commit(&self, batch: &Batch) -> Result<()> {
        self.submit(batch.transaction.clone(), &batch.written()).await.map(drop)
    }

    fn split(&self, Batch { transaction, mut designs }: Batch) -> Result<(Batch, Batch)> {
        let limits = *transaction.limits();
        let (partition_key, mut operations) = transaction.into_parts();
        let middle = operations.len() / 2;
        let back = (operations.split_off(middle), designs.split_off(middle));
        let half = |(operations, designs): (Vec<Operation>, Vec<_>)| -> Result<Batch> {
            let mut transaction = Transaction::new(partition_key.clone(), limits)?;
            for operation in operations {
                transaction.push(operation)?;
            }
            Ok(Batch { transaction, designs })
        };
        Ok((half((operations, designs))?, half(back)?))
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
