//! The configuration of list blobs: the blob store, the names of the blobs, and the grace period for unreferenced blobs.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::ObjectStore;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::{Error, Result};

pub(crate) use crate::blob::Upload;
use crate::blob::{BlobKind, BlobRef, BlobStore, LargeReader, PART, is_upload, whole};
use crate::index::list::content;
use crate::index::list::fault::ListFault;

/// The blobs of lists.
static LISTS: BlobKind = BlobKind { folder: "lists", row_in: Some(content::place) };

/// The blob store for lists that do not fit into an entity, or that should not be stored in one. Each such list has its own blob, to which an index entity
/// refers (PAT-IX option 1, PAT-IX-4).
///
/// Pass it to [`with_list_blobs`](crate::Entities::with_list_blobs). A list moves to a blob when it outgrows its entity or the limit set by
/// [`spill_above`](Self::spill_above). It stays there until it is empty. The list's entity shows whether the list is in a blob, so handles with different
/// limits can be used together. Every program that uses the table needs the blob store.
///
/// ```
/// use std::sync::Arc;
/// use table_patterns::blob::object_store::memory::InMemory;
/// use table_patterns::EntityStore;
/// use table_patterns::index::ListBlobs;
/// use table_patterns::{Engine, Entity, QueueName, outbox::Outbox, work::Worker};
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key(id)]
/// #[index_entity(Namesakes, at_most = 1_000_000, table = "LastNames", partition_key(escaped(last_name)), row_key("all"))]
/// struct Employee { department: String, #[digits(6)] id: u32, last_name: String }
///
/// # pollster::block_on(async {
/// let store = Engine::in_memory();
/// let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("indexes")?);
/// outbox.create_queues().await?;
/// let blobs = ListBlobs::new(Arc::new(InMemory::new()), "indexes").spill_above(0); // stores all lists in blobs
/// let employees =
///     store.entities_with_outbox::<Employee, _>(outbox.clone()).with_list_blobs(blobs).create_if_missing().await?;
/// let jones = Employee { department: "Sales".into(), id: 152, last_name: "Jones".into() };
/// employees.insert(&jones).await?;
/// Worker::new(outbox).with_index_handler(&employees).run_until_idle().await?;
/// let found = employees.get_by_index_eventual(Employee::namesakes("Jones")).await?;
/// assert_eq!(*found[0], jones);
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct ListBlobs {
    pub(crate) store: BlobStore,
    spill_above: Option<usize>,
}

impl ListBlobs {
    /// Creates the configuration. The lists of another table store must not use the same prefix in the same blob store.
    #[must_use]
    pub fn new(blobs: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        Self { store: BlobStore::new(&LISTS, blobs, prefix), spill_above: None }
    }

    /// Sets the number of keys above which a list is stored in a blob. With 0, all lists are stored in blobs. By default, only lists that do not fit into an
    /// entity are.
    #[must_use]
    pub fn spill_above(self, keys: usize) -> Self {
        Self { spill_above: Some(keys), ..self }
    }

    /// Sets the grace period, for which a blob is kept after its last reference has been removed. The default is one day. A write to a list fails if it takes
    /// more than half of this time. If a reader takes longer than the grace period between reading the entity and reading the blob, it may have to read the
    /// entity again.
    ///
    /// The names of this handle's blobs contain the grace period. A collector with a shorter period therefore keeps these blobs for the full period.
    #[must_use]
    pub fn grace(self, grace: Duration) -> Self {
        Self { store: self.store.with_grace(grace), ..self }
    }

    /// Returns `true` if a list with `keys` keys exceeds the limit set by [`spill_above`](Self::spill_above).
    pub(crate) fn is_beyond(&self, keys: usize) -> bool {
        self.spill_above.is_some_and(|most| keys > most)
    }

    /// Reads the content of a list's blob.
    ///
    /// # Errors
    /// `EntityMismatch` if the blob was not uploaded for this list; `BlobNotFound`, `Corrupted`, or any error from the blob store.
    pub(crate) async fn read(&self, blob: &BlobRef, table: &TableName, list: &EntityKey) -> Result<Bytes> {
        // IMPORTANT: without this check, a program that can write the list's entity could make every reader load a blob of any size into memory.
        let keys = [list.partition_key.as_str(), list.row_key.as_str()];
        if !is_upload(blob.path(), table, keys) {
            return Err(Error::of(ListFault::OthersBlob(blob.path().to_owned())));
        }
        LargeReader::open(self.store.blobs.as_ref(), blob).await?.bytes().await
    }

    /// Uploads the content of a list to a new blob.
    pub(crate) async fn upload(
        &self,
        table: &TableName,
        list: &EntityKey,
        born: u64,
        content: Vec<u8>,
    ) -> Result<(BlobRef, Upload)> {
        self.store.folder(table)?.upload(list, born, PART, whole(content)).await
    }

    /// Checks the duration of an upload.
    ///
    /// # Errors
    /// `InvalidInput` if the upload took more than half of the grace period.
    pub(crate) fn check_age(&self, upload: &Upload, now: u64) -> Result<()> {
        self.store.check_age(upload, now)
    }

    /// Removes an uploaded blob after the write of its entity was refused.
    pub(crate) async fn discard(&self, upload: &Upload) {
        self.store.discard(upload).await;
    }
}
