//! Crash tests of index lists in blobs. The lists contain library readers by town. The blobs are in a folder next to the folder of the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::TryStreamExt;
use table_core::embedded::{Clock, Engine};
use table_core::query::{KeyRange, Query};
use table_core::{Entity, EntityKey, Error, ErrorCode, Result, TableName, TableStore, ValueRef};
use table_patterns::Entities;
use table_patterns::blob::object_store::path::Path;
use table_patterns::blob::object_store::{ObjectStore, ObjectStoreExt};
use table_patterns::index::ListBlobs;
use table_patterns::key::text::RESERVED;
use table_patterns::large::BlobRef;
use table_patterns::outbox::Outbox;
use table_patterns::runtime::Runtime;

use super::ledger::Values;
use super::stores::Stores;

/// The branches. Each is a partition with readers.
pub(super) const BRANCHES: [&str; 2] = ["east", "west"];
/// The towns. Several readers live in each town.
pub(super) const TOWNS: [&str; 4] = ["Aarau", "Baden", "Chur", "Davos"];
/// The number of keys above which a list moves from its entity to a blob. It is small, so many lists move to blobs and others do not.
const IN_ENTITY: usize = 2;

/// A reader. Two indexes list the reader, one in the same partition and one in a different table.
#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Readers")]
#[partition_key(branch)]
#[row_key("reader_", id)]
#[index_entity(ByTown, at_most = 1000, row_key("town_", town))]
#[index_entity(Townsfolk, at_most = 1000, table = "Towns", partition_key(town), row_key("all"))]
pub(super) struct Reader {
    pub(super) branch: String,
    #[digits(6)]
    pub(super) id: u32,
    pub(super) town: String,
}

pub(super) type Readers = Entities<Reader, Engine, Outbox<Engine, Engine>>;

/// Returns the blob storage for lists that are too long for an entity.
pub(super) fn list_blobs(blobs: &Arc<dyn ObjectStore>) -> ListBlobs {
    ListBlobs::new(Arc::clone(blobs), "readers").spill_above(IN_ENTITY)
}

/// Deletes the blobs that no list refers to. `clock` must be past the grace period.
pub(super) async fn collect_lists(stores: &Stores, clock: Clock) -> Result<()> {
    let readers = stores.readers.clone().with_runtime(Runtime::new().clock(clock));
    readers.collect_orphaned_lists().await.map(drop)
}

/// Returns the readers. Each list must contain all readers of its town. Each long list must be in a blob. Each blob must belong to a list.
pub(super) async fn readers(stores: &Stores, wrong: &mut Vec<String>) -> Result<Values> {
    let mut readers = Vec::new();
    for branch in BRANCHES {
        readers.extend(stores.readers.query(Reader::partition(branch)).collect().await?);
    }
    for finding in &stores.readers.check().run().await?.findings {
        wrong.push(format!("lists: {finding:?}"));
    }
    let (mut here, mut elsewhere) =
        (BTreeMap::<_, Vec<EntityKey>>::new(), BTreeMap::<_, Vec<EntityKey>>::new());
    // This is the expected number of readers in each list.
    let mut expected = BTreeMap::new();
    for reader in &readers {
        let (key, Reader { branch, town, .. }) = (reader.key_of()?, reader);
        *expected.entry(("Readers", key.clone())).or_default() += 1;
        *expected.entry(("Readers", EntityKey::new(branch, format!("town_{town}"))?)).or_default() += 1;
        *expected.entry(("Towns", EntityKey::new(town, "all")?)).or_default() += 1;
        here.entry((branch.as_str(), town.as_str())).or_default().push(key.clone());
        elsewhere.entry(town.as_str()).or_default().push(key);
    }
    let mut compare = |name: String, listed: Result<Vec<EntityKey>>, wanted: Option<Vec<EntityKey>>| {
        let mut wanted = wanted.unwrap_or_default();
        wanted.sort_unstable();
        match listed {
            Ok(listed) if listed == wanted => {}
            Ok(listed) => {
                wrong.push(format!("lists: {name} has {listed:?}, the readers there are {wanted:?}"));
            }
            Err(error) => wrong.push(format!("lists: {name}: {error}")),
        }
    };
    for town in TOWNS {
        for branch in BRANCHES {
            let listed = stores.readers.keys_of(Reader::by_town(branch, town)).await;
            compare(format!("{town} in {branch}"), listed, here.remove(&(branch, town)));
        }
        let listed = stores.readers.keys_of(Reader::townsfolk(town)).await;
        compare(town.to_owned(), listed, elsewhere.remove(town));
    }
    check_blobs(stores, expected, wrong).await?;
    Ok(readers.iter().map(Reader::entry).collect())
}

/// Checks the stored rows without the table handle. These rows contain the existing lists, and refer to the blobs.
async fn check_blobs(
    stores: &Stores,
    mut expected: BTreeMap<(&str, EntityKey), usize>,
    wrong: &mut Vec<String>,
) -> Result<()> {
    let mut named = BTreeSet::new();
    for table in ["Readers", "Towns"] {
        let (name, everything, mut from) = (TableName::new(table)?, Query::new(KeyRange::ALL), None);
        loop {
            let page = stores.engine.query(&name, &everything, from.as_ref()).await?;
            for row in page.rows.iter().filter(|row| !row.row_key.starts_with(RESERVED)) {
                let key = EntityKey::new(row.partition_key, row.row_key)?;
                let mut is_in_blob = false;
                for property in row.row.properties() {
                    if let ValueRef::String(text) = property?.value
                        && let Ok(blob) = text.parse::<BlobRef>()
                    {
                        named.insert(blob.path().to_owned());
                        is_in_blob = true;
                    }
                }
                match expected.remove(&(table, key.clone())) {
                    None => wrong.push(format!("lists: {table} holds {key}, which no reader calls for")),
                    Some(readers) if readers > IN_ENTITY && !is_in_blob => {
                        wrong.push(format!("lists: {table} holds {key} of {readers} readers in no blob"));
                    }
                    Some(_) => {}
                }
            }
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
    }
    for (table, key) in expected.into_keys() {
        wrong.push(format!("lists: {table} lacks {key}"));
    }
    for path in &named {
        if let Err(error) = stores.list_blobs.head(&Path::from(path.as_str())).await {
            wrong.push(format!("lists: the blob {path} is named and cannot be read: {error}"));
        }
    }
    let unlisted =
        |error| Error::new(ErrorCode::Io, "the blobs of lists cannot be listed").with_source(error);
    let mut listing = stores.list_blobs.list(None);
    while let Some(meta) = listing.try_next().await.map_err(unlisted)? {
        if !named.contains(meta.location.as_ref()) {
            wrong.push(format!("lists: no row names the blob {}", meta.location));
        }
    }
    Ok(())
}

impl Reader {
    pub(super) fn entry(&self) -> (String, String) {
        (format!("{}/{}", self.branch, self.id), self.town.clone())
    }
}
