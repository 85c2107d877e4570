//! Handles that bulk writes are made on.

use crate::error::{Error, Result};
use crate::key::{EntityKey, PartitionKey};

/// The verb of a bulk write.
///
/// ```
/// use table_core::table::BulkVerb;
///
/// /// Returns `true` if a run that stopped may be repeated as a whole.
/// fn is_repeatable(verb: BulkVerb) -> bool {
///     matches!(verb, BulkVerb::InsertOrReplace | BulkVerb::InsertOrMerge)
/// }
/// assert!(!is_repeatable(BulkVerb::Insert));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BulkVerb {
    /// Inserts (INS-1).
    Insert,
    /// Inserts or replaces (UPS-2).
    InsertOrReplace,
    /// Inserts or merges (UPS-2).
    InsertOrMerge,
    /// Deletes, of any version (DEL-2).
    Delete,
}

/// A handle that [`Bulk`](super::Bulk) writes through: it encodes entities, and puts them into transactions.
///
/// Implemented by [`Table`](crate::Table), and by the handle of the patterns crate.
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
    /// One encoded write.
    type Item: Send;
    /// Writes of one partition that fit one transaction.
    type Batch: Send + Sync;

    /// Encodes the write of an entity.
    ///
    /// # Errors
    /// Any error of encoding it.
    fn item(&self, verb: BulkVerb, entity: &Self::Entity) -> Result<Self::Item>;

    /// Encodes a delete.
    ///
    /// # Errors
    /// Any error of the handle.
    fn deletion(&self, key: EntityKey) -> Result<Self::Item>;

    /// The partition of a write.
    fn partition_key(item: &Self::Item) -> &PartitionKey;

    /// Begins a batch with one write.
    ///
    /// # Errors
    /// Every limit of a single entity.
    fn batch(&self, item: Self::Item) -> Result<Self::Batch>;

    /// Adds a write to a batch, and returns it if the batch does not take it: because it is full, or holds a row of it already.
    ///
    /// # Errors
    /// Every limit of a single entity.
    fn push(&self, batch: &mut Self::Batch, item: Self::Item) -> Result<Option<Self::Item>>;

    /// The bytes of a batch, by the published formula.
    fn bytes(batch: &Self::Batch) -> usize;

    /// Checks that the handle may write, before each window.
    ///
    /// # Errors
    /// `LayoutMismatch`; those of the store.
    fn admit(&self, verb: BulkVerb) -> impl Future<Output = Result<()>> + Send;

    /// Commits a batch as one transaction.
    ///
    /// # Errors
    /// Any error of the store. The [operation](Error::operation) is the position in the batch.
    fn commit(&self, batch: &Self::Batch) -> impl Future<Output = Result<()>> + Send;

    /// `true` if a batch of several writes was refused for its size.
    fn is_too_large(&self, _error: &Error) -> bool {
        false
    }

    /// Splits a batch into two halves; the first one has half of the writes, rounded down.
    ///
    /// # Errors
    /// Any error of [`push`](Self::push).
    fn split(&self, batch: Self::Batch) -> Result<(Self::Batch, Self::Batch)>;

    /// Adds the table to an error.
    fn in_table(&self, error: Error) -> Error;
}
