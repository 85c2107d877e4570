//! Changes lists in the partition of their entities, with conditional read-modify-write updates.

use std::any::Any;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::row::Row;
use table_core::runtime::Runtime;
use table_core::store::StoredRow;
use table_core::{Error, Result};

use crate::entities::{DerivedRow, EntityFault, PreparedRow, RowPlace, UndoWrite};
use crate::index::changes::OwnerOf;
use crate::index::list::blobs::{ListBlobs, Upload};
use crate::index::list::{ListForm, ListWrite, Lists};

/// A change to one list that a change to one entity causes.
#[derive(Clone, Debug)]
pub(crate) struct ListChange {
    pub(crate) form: ListForm,
    pub(crate) owner_of: OwnerOf,
    pub(crate) owner: EntityKey,
    /// The index entry to add. `None` to remove the entity from the list.
    pub(crate) entry: Option<Row>,
    pub(crate) blobs: Option<ListBlobs>,
    pub(crate) pace: Runtime,
}

impl ListChange {
    async fn write(
        &self,
        place: RowPlace<'_>,
        parts: &[Arc<dyn DerivedRow>],
        found: Option<&StoredRow>,
    ) -> Result<Option<PreparedRow>> {
        let lists =
            Lists { table: place.table, blobs: self.blobs.as_ref(), pace: &self.pace, limits: place.limits };
        let stored = found.map(|found| &found.row);
        let before = lists.read_by(self.owner_of, &self.form, place.key, stored).await?;
        let mut after = before.clone();
        let parts: Vec<&Self> = parts.iter().filter_map(|part| part.as_any().downcast_ref()).collect();
        // Removals are applied first, because a new entity may have the key of an entity that is removed.
        for part in parts.iter().filter(|part| part.entry.is_none()) {
            after.leave(&part.owner);
        }
        let mut joins = false;
        for part in &parts {
            if let Some(entry) = &part.entry {
                after.join(part.owner.clone(), self.form.member(entry));
                joins = true;
            }
        }
        // IMPORTANT: adding a member writes the list even if the list already contains the member. The list's version then changes. A concurrent removal of
        // dangling members therefore fails and rereads the list.
        if after == before && !joins {
            return Ok(None);
        }
        let list_write = lists.write(&self.form, place.key, found, &before, &after).await?;
        Ok(list_write.map(|ListWrite { kind, upload }| {
            let undo = upload.and_then(|upload| {
                let uploaded = Uploaded { blobs: self.blobs.clone()?, pace: self.pace.clone(), upload };
                Some(Arc::new(uploaded) as Arc<dyn UndoWrite>)
            });
            PreparedRow { kind, undo }
        }))
    }
}

impl DerivedRow for ListChange {
    fn row(&self) -> Option<&Row> {
        None
    }

    fn follows(&self, _: &EntityKey, earlier: &dyn DerivedRow) -> Result<()> {
        if earlier.as_any().is::<Self>() {
            return Ok(());
        }
        let name = self.form.index().name.to_owned();
        Err(Error::of(EntityFault::SameRow { first: name.clone(), second: name }))
    }

    fn is_addition(&self) -> bool {
        self.entry.is_some()
    }

    fn assumed(&self, _: &[Arc<dyn DerivedRow>]) -> Option<OperationKind> {
        None
    }

    fn prepare<'a>(
        &'a self,
        place: RowPlace<'a>,
        parts: &'a [Arc<dyn DerivedRow>],
        found: Option<&'a StoredRow>,
    ) -> BoxFuture<'a, Result<Option<PreparedRow>>> {
        self.write(place, parts, found).boxed()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A list blob that was uploaded for a transaction. The transaction's row will refer to it.
struct Uploaded {
    blobs: ListBlobs,
    pace: Runtime,
    upload: Upload,
}

impl UndoWrite for Uploaded {
    fn check(&self) -> Result<()> {
        self.blobs.check_age(&self.upload, self.pace.now())
    }

    fn undo(&self) -> BoxFuture<'_, ()> {
        self.blobs.discard(&self.upload).boxed()
    }
}
