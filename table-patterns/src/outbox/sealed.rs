//! The outbox as the sealer of the intents that it records.

use table_core::error::Result;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::row::{Row, RowWriter};
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::value::ValueRef;

use crate::outbox::record::Outbox;
use crate::outbox::rows;
use crate::outbox::seal::Place;

impl<S: TableStore, Q> Outbox<S, Q> {
    /// Seals intents with the first of these keys, and accepts seals by any of them, instead of the keys in the store. For a rotation give the new key
    /// before the old one to all programs, and leave the old one out once its intents are done.
    #[must_use]
    pub fn sealed_by<K: AsRef<[u8]>>(self, keys: impl IntoIterator<Item = K>) -> Self {
        let secrets: Vec<_> = keys.into_iter().map(|key| key.as_ref().to_vec()).collect();
        self.seals().give(&secrets);
        self
    }

    /// Adds a key to those in the store. Programs seal with it once they are started again, and accept it at once.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn rotate_key(&self) -> Result<()> {
        self.seals().rotate(self.store(), self.runtime().now()).await
    }

    /// Seals the intents of a transaction that another than [`submit`](Outbox::submit) submits.
    ///
    /// # Errors
    /// Those of reading the key; those of [`Transaction::push`].
    pub async fn seal(&self, table: &TableName, transaction: Transaction) -> Result<Transaction> {
        let (limits, is_identified) = (*transaction.limits(), transaction.is_identified());
        let (partition_key, operations) = transaction.into_parts();
        let operations = self.sealed(table, &partition_key, operations).await?;
        let transaction = rows::together(&partition_key, operations, limits)?;
        Ok(if is_identified { transaction.identified() } else { transaction })
    }

    /// Seals those of some operations that record intents.
    pub(crate) async fn sealed(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
        mut operations: Vec<Operation>,
    ) -> Result<Vec<Operation>> {
        for operation in operations.iter_mut().filter(|operation| rows::is_record(operation)) {
            let OperationKind::Insert(row) = &mut operation.kind else { continue };
            let place = Place { table, partition_key, row_key: operation.row_key.as_str() };
            let text = rows::text_in(row.view())?;
            if let Some(seal) = self.seals().seal(self.store(), place, &text).await? {
                *row = with_seal(row, &seal)?;
            }
        }
        Ok(operations)
    }
}

fn with_seal(row: &Row, seal: &str) -> Result<Row> {
    let mut writer = RowWriter::with_capacity(2);
    for property in row.view().properties() {
        let property = property?;
        if property.name != rows::SEAL {
            writer.property(property.name, property.value);
        }
    }
    writer.property(rows::SEAL, ValueRef::String(seal));
    Ok(writer.finish())
}
