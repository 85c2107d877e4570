//! The configuration of list blobs: the blob store, the names of the blobs, and the grace period for unreferenced blobs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::runtime::ticks_of;
use table_core::{Error, Result};
use uuid::Uuid;

use crate::blob::{BlobRef, LargeReader, encode_caseless, is_upload, upload, whole};
use crate::index::list::fault::ListFault;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The size of an upload part, in bytes. It exceeds 5 MiB, the highest minimum part size of any blob store.
const PART: usize = 8 << 20;

/// A blob that has been uploaded for a list. No entity refers to it yet.
pub(crate) struct Upload {
    path: Path,
    born: u64,
}

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
#[derive(Clone)]
pub struct ListBlobs {
    pub(crate) blobs: Arc<dyn ObjectStore>,
    prefix: String,
    spill_above: Option<usize>,
    pub(crate) grace: Duration,
}

impl ListBlobs {
    /// Creates the configuration. The lists of another table store must not use the same prefix in the same blob store.
    #[must_use]
    pub fn new(blobs: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        Self { blobs, prefix: prefix.trim_matches('/').to_owned(), spill_above: None, grace: DAY }
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
        Self { grace, ..self }
    }

    /// Returns `true` if a list with `keys` keys exceeds the limit set by [`spill_above`](Self::spill_above).
    pub(crate) fn is_beyond(&self, keys: usize) -> bool {
        self.spill_above.is_some_and(|most| keys > most)
    }

    /// Returns the folder for a table's lists (`lists`) or for the marks of its orphaned blobs (`orphans`).
    pub(crate) fn folder(&self, kind: &str, table: &TableName) -> Result<Path> {
        // Table names consist of letters and digits and are case-insensitive (TBL-2, TBL-4).
        let folder = format!("{}/{kind}/{}", self.prefix, table.as_str().to_ascii_lowercase());
        Path::parse(folder.trim_start_matches('/'))
            .map_err(|source| Error::of(ListFault::Folder { folder, source }))
    }

    /// Returns a unique name for the blob of a list: `indexes/lists/lastnames/=4Aones/all/0635338512000000000_864000000000_5f0c…`. The name contains the grace
    /// period of this handle, so collectors with a shorter period also wait for the full period.
    fn new_name(&self, table: &TableName, list: &EntityKey, born: u64) -> Result<Path> {
        let [partition, row] = [list.partition_key.as_str(), list.row_key.as_str()].map(encode_caseless);
        let name = format!("{born:019}_{}_{}", ticks_of(self.grace), Uuid::new_v4().simple());
        Ok(self.folder("lists", table)?.join(partition).join(row).join(name))
    }

    /// Reads the content of a list's blob.
    ///
    /// # Errors
    /// `EntityMismatch` if the blob was not uploaded for this list; `BlobNotFound`, `Corrupted`, or any error from the blob store.
    pub(crate) async fn read(&self, blob: &BlobRef, table: &TableName, list: &EntityKey) -> Result<Bytes> {
        // IMPORTANT: without this check, a program that can write the list's entity could make every reader load a blob of any size into memory.
        let keys = [list.partition_key.as_str(), list.row_key.as_str()];
        if !is_upload(blob.path(), table.as_str(), keys) {
            return Err(Error::of(ListFault::OthersBlob(blob.path().to_owned())));
        }
        LargeReader::open(self.blobs.as_ref(), blob).await?.bytes().await
    }

    /// Uploads the content of a list to a new blob.
    pub(crate) async fn upload(
        &self,
        table: &TableName,
        list: &EntityKey,
        born: u64,
        content: Vec<u8>,
    ) -> Result<(BlobRef, Upload)> {
        let path = self.new_name(table, list, born)?;
        let blob = upload(self.blobs.as_ref(), path.clone(), PART, whole(content)).await?;
        Ok((blob, Upload { path, born }))
    }

    /// Checks the duration of an upload. If it took too long, the collector could remove the blob before an entity refers to it.
    ///
    /// # Errors
    /// `InvalidInput` if the upload took more than half of the grace period.
    pub(crate) fn check_age(&self, upload: &Upload, now: u64) -> Result<()> {
        if now.saturating_sub(upload.born) <= ticks_of(self.grace) / 2 {
            return Ok(());
        }
        Err(Error::of(ListFault::Slow(upload.path.to_string())))
    }

    /// Removes an uploaded blob after the write of its entity was refused. If this fails, the collector removes the orphaned blob later.
    pub(crate) async fn discard(&self, upload: &Upload) {
        let _ = self.blobs.delete(&upload.path).await;
    }
}

impl fmt::Debug for ListBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListBlobs")
            .field("blobs", &self.blobs)
            .field("prefix", &self.prefix)
            .field("spill_above", &self.spill_above)
            .field("grace", &self.grace)
            .finish()
    }
}
