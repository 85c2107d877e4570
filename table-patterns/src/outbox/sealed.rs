//! Functions of the outbox that seal intents and manage the seal keys.

use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::row::{self, Row, RowWriter};
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Result, ValueRef};

use crate::outbox::record::Outbox;
use crate::outbox::rows;
use crate::outbox::seal::Place;

impl<S: TableStore, Q> Outbox<S, Q> {
    /// Sets the seal keys, which replace the keys in the store. New intents are sealed with the first key. Seals made with any of the keys are accepted. Each
    /// key must have at least 16 bytes, and should be random. If a key is shorter, or if the list is empty, recording intents and receiving messages fail with
    /// `InvalidInput`.
    ///
    /// To rotate keys, first give all programs the old key followed by the new key, so that they accept both. Then swap the two keys, so that programs seal
    /// with the new one. Remove the old key once all intents sealed with it are done.
    #[must_use]
    pub fn sealed_by<K: AsRef<[u8]>>(self, keys: impl IntoIterator<Item = K>) -> Self {
        let secrets: Vec<_> = keys.into_iter().map(|key| key.as_ref().to_vec()).collect();
        self.seals().give(&secrets);
        self
    }

    /// Adds a key to the keys in the store. All programs accept it immediately. This program seals with it immediately. Other programs do so after their next
    /// start, or after they have received an intent that is sealed with it.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn rotate_key(&self) -> Result<()> {
        self.seals().rotate(self.store(), self.runtime().now()).await
    }

    /// Deletes all keys in the store except the newest. Returns the number of deleted keys.
    ///
    /// A running program that has read a deleted key still accepts it, and may seal with it, until the program is restarted. Before you call this function,
    /// restart all programs after [`rotate_key`](Self::rotate_key), and wait until all intents sealed with earlier keys are done. Workers that start later do
    /// not perform the steps of intents sealed with deleted keys.
    ///
    /// # Errors
    /// Any error from the store. Keys that were deleted before the error remain deleted. To continue, call the function again.
    pub async fn remove_old_keys(&self) -> Result<u64> {
        self.seals().remove_old(self.store()).await
    }

    /// Seals the intents in a transaction that is not submitted through [`submit`](Outbox::submit).
    ///
    /// # Errors
    /// Any error from reading the key or from [`Transaction::push`].
    pub async fn seal(&self, table: &TableName, transaction: Transaction) -> Result<Transaction> {
        let operations = transaction.operations().to_vec();
        let operations = self.sealed(table, transaction.partition_key(), operations).await?;
        transaction.with_operations(operations)
    }

    /// Adds seals to the operations that record intents.
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

    /// Returns `true` if an operation records an intent with a valid seal.
    pub(crate) async fn is_sealed_record(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
        record: &Operation,
    ) -> Result<bool> {
        let Some(row) = record.kind.row() else { return Ok(false) };
        let place = Place { table, partition_key, row_key: record.row_key.as_str() };
        let (text, seal) = (rows::text_in(row.view())?, rows::seal_in(row.view())?);
        self.seals().is_genuine(self.store(), place, (&text, seal)).await
    }
}

/// Returns an intent's row with the given seal. If `seal` is empty, the row has no seal.
pub(crate) fn with_seal(row: &Row, seal: &str) -> Result<Row> {
    let mut patch = RowWriter::with_capacity(1);
    patch.property(rows::SEAL, ValueRef::String(seal));
    row::merge(row.view(), patch.finish().view())
}
