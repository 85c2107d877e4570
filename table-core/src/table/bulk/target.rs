//! The interface between bulk writes and the handles that run them.

use table_store::{Error, ErrorCode, Result};

use crate::key::{EntityKey, PartitionKey};

/// The kind of a bulk write.
///
/// ```
/// use table_core::table::BulkVerb;
///
/// /// Returns `true` if a run that stopped may be repeated completely.
/// fn is_repeatable(verb: BulkVerb) -> bool {
///     matches!(verb, BulkVerb::InsertOrReplace | BulkVerb::InsertOrMerge)
/// }
/// assert!(!is_repeatable(BulkVerb::Insert));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BulkVerb {
    /// Inserts an entity (INS-1).
    Insert,
    /// Inserts or replaces an entity (UPS-2).
    InsertOrReplace,
    /// Inserts or merges an entity (UPS-2).
    InsertOrMerge,
    /// Deletes an entity, regardless of its version (DEL-2).
    Delete,
}

/// A handle that performs the writes of a [`Bulk`](super::Bulk). It encodes entities and adds them to transactions.
///
/// Implemented by [`Table`](crate::Table), and by the `Entities` handle of `table-patterns`.
///
/// ```
/// # use table_core::{Entity, TableStoreExt, embedded::Engine};
/// use table_core::table::{Bulk, BulkTarget};
///
/// /// Loads rows through any handle.
/// async fn load<T: BulkTarget>(table: &T, rows: Vec<T::Entity>) -> Option<usize> {
///     Bulk::new(table).insert_all(rows).await.ok().map(|written| written.len())
/// }
/// # #[derive(Entity)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, id: u32 }
/// # pollster::block_on(async {
/// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
/// assert_eq!(load(&employees, vec![Employee { department: "Sales".into(), id: 223 }]).await, Some(1));
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub trait BulkTarget: Sync {
    /// The type of the entities.
    type Entity;
    /// The encoded write of one entity.
    type Item: Send;
    /// A batch of writes to one partition that fits into one transaction.
    type Batch: Send + Sync;

    /// Encodes a write of an entity.
    ///
    /// # Errors
    /// Any error from encoding the entity.
    fn item(&self, verb: BulkVerb, entity: &Self::Entity) -> Result<Self::Item>;

    /// Encodes a delete.
    ///
    /// # Errors
    /// Any error from the handle.
    fn deletion(&self, key: EntityKey) -> Result<Self::Item>;

    /// Returns the `PartitionKey` of a write.
    fn partition_key(item: &Self::Item) -> &PartitionKey;

    /// Creates a batch that contains one write.
    ///
    /// # Errors
    /// A validation error if the entity alone exceeds a limit.
    fn batch(&self, item: Self::Item) -> Result<Self::Batch>;

    /// Adds a write to a batch. If the batch is full or already writes the same row, the write is returned instead.
    ///
    /// # Errors
    /// A validation error if the entity alone exceeds a limit.
    fn push(&self, batch: &mut Self::Batch, item: Self::Item) -> Result<Option<Self::Item>>;

    /// Returns the size of a batch in bytes, according to the service's published formula.
    fn bytes(batch: &Self::Batch) -> usize;

    /// Commits a batch as one transaction, after checking that the program may write now.
    ///
    /// # Errors
    /// `SchemaMismatch` if the program must not write; any error from the store. The error's [operation](Error::operation) is an index into the batch.
    fn commit(&self, batch: &Self::Batch) -> impl Future<Output = Result<()>> + Send;

    /// Returns `true` if a batch was rejected because of its size. By default, this is an error with the code `RequestBodyTooLarge` (EGT-3).
    ///
    /// [`batch`](Self::batch) and [`push`](Self::push) check the size of the writes, but a write may become larger in the store. For example, a merge may be
    /// sent as a write of the whole entity.
    fn is_too_large(&self, error: &Error) -> bool {
        error.code() == ErrorCode::RequestBodyTooLarge
    }

    /// Splits a batch into its first `at` writes and the remaining writes.
    ///
    /// # Errors
    /// Any error from [`push`](Self::push).
    fn split(&self, batch: Self::Batch, at: usize) -> Result<(Self::Batch, Self::Batch)>;

    /// Adds the table's name to an error.
    fn in_table(&self, error: Error) -> Error;
}
