//! Reads and writes lists. A list is stored in an entity, or in a blob to which the entity refers.

use table_core::entity::Entity;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::limits::Limits;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::row::Row;
use table_core::runtime::Runtime;
use table_core::store::StoredRow;
use table_core::{Error, ErrorCode, Result};

use crate::index::changes::{OwnerOf, owner_of};
use crate::index::list::blobs::{ListBlobs, Upload};
use crate::index::list::content;
use crate::index::list::{ListForm, Members};

/// Reads and writes the lists of one table.
pub(crate) struct Lists<'a> {
    pub(crate) table: &'a TableName,
    pub(crate) blobs: Option<&'a ListBlobs>,
    pub(crate) pace: &'a Runtime,
    pub(crate) limits: Limits,
}

/// A prepared write of a list.
pub(crate) struct ListWrite {
    pub(crate) kind: OperationKind,
    /// The new blob to which the written row refers, if any.
    pub(crate) upload: Option<Upload>,
}

impl Lists<'_> {
    /// Returns the members of a stored list.
    ///
    /// # Errors
    /// - `EntityMismatch` or `Corrupted` if the row is not a list of this index.
    /// - `BlobNotFound` if the list's blob no longer exists. Read the list's entity again.
    /// - `InvalidInput` if the list is in a blob and no blob store is configured.
    pub(crate) async fn read<E: Entity>(
        &self,
        form: &ListForm,
        key: &EntityKey,
        found: Option<&Row>,
    ) -> Result<Members> {
        self.read_by(owner_of::<E>, form, key, found).await
    }

    /// Returns the members of a stored list. `owner_of` computes the owner of a member.
    pub(crate) async fn read_by(
        &self,
        owner_of: OwnerOf,
        form: &ListForm,
        key: &EntityKey,
        found: Option<&Row>,
    ) -> Result<Members> {
        let Some(row) = found else { return Ok(Members::default()) };
        let Some(blob) = form.blob(row.view())? else { return Members::of_entity(owner_of, form, key, row) };
        let Some(blobs) = self.blobs else { return Err(form.without_blobs()) };
        let owners = content::decode(&blobs.read(&blob, self.table, key).await?, self.table, key)?;
        Ok(Members::of_blob(blob, owners))
    }

    /// Returns the write that changes a list from `before` to `after`. Returns `None` if no write is needed. If the list needs a new blob, first uploads it.
    ///
    /// # Errors
    /// `IndexListFull` (PAT-IX-4); any error from the blob store.
    pub(crate) async fn write(
        &self,
        form: &ListForm,
        key: &EntityKey,
        found: Option<&StoredRow>,
        before: &Members,
        after: &Members,
    ) -> Result<Option<ListWrite>> {
        let if_match = found.map(|found| IfMatch::ETag(found.etag.clone()));
        if after.len() == 0 {
            let delete = |if_match| ListWrite { kind: OperationKind::Delete(if_match), upload: None };
            return Ok(if_match.map(delete));
        }
        if after.len() > before.len() {
            form.check_bound(after.len())?;
        }
        let (row, upload) = self.row(form, key, before, after).await?;
        let kind = match if_match {
            Some(if_match) => OperationKind::Replace(row, if_match),
            None => OperationKind::Insert(row),
        };
        Ok(Some(ListWrite { kind, upload }))
    }

    /// Returns `true` if a stored list is not marked and has room for a [mark](crate::index::mark).
    pub(crate) fn has_room_for_mark(&self, form: &ListForm, key: &EntityKey, members: &Members) -> bool {
        let mut marked = members.clone();
        marked.mark();
        let can_move = self.blobs.is_some() && members.invalid_members() == 0;
        !members.is_marked() && (can_move || form.write(key, &marked, &self.limits).is_ok())
    }

    async fn row(
        &self,
        form: &ListForm,
        key: &EntityKey,
        before: &Members,
        after: &Members,
    ) -> Result<(Row, Option<Upload>)> {
        if let Some(blob) = after.blob().filter(|_| after == before) {
            return Ok((form.pointer(blob), None));
        }
        // In a blob, invalid members would be lost. The list therefore stays in its entity until a repair has removed them.
        let is_beyond =
            after.invalid_members() == 0 && self.blobs.is_some_and(|blobs| blobs.is_beyond(after.len()));
        if !is_beyond && after.blob().is_none() {
            match form.write(key, after, &self.limits) {
                Err(error) if error.code() == ErrorCode::IndexListFull && self.blobs.is_some() => {}
                written => return Ok((written?, None)),
            }
        }
        let Some(blobs) = self.blobs else { return Err(form.without_blobs()) };
        after.check_owned(form)?;
        let content = content::encode(self.table, key, (after.owners(), after.is_marked()));
        let (blob, upload) = blobs.upload(self.table, key, self.pace.now(), content).await?;
        Ok((form.pointer(&blob), Some(upload)))
    }

    /// Checks the duration of an upload. If it took too long, the collector could remove the blob before an entity refers to it.
    ///
    /// # Errors
    /// `InvalidInput` if the upload took more than half of the grace period.
    pub(crate) fn check_age(&self, upload: &Upload) -> Result<()> {
        self.blobs.map_or(Ok(()), |blobs| blobs.check_age(upload, self.pace.now()))
    }

    /// Removes an uploaded blob after the write of its entity was refused. If this fails, the collector removes the orphaned blob later.
    pub(crate) async fn discard(&self, upload: &Upload) {
        if let Some(blobs) = self.blobs {
            blobs.discard(upload).await;
        }
    }
}

/// Returns `true` if an error means that a stored row is not a valid list, or that its blob is missing. A repair replaces such a row.
pub(crate) fn is_unreadable(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::EntityMismatch | ErrorCode::Corrupted | ErrorCode::BlobNotFound)
}
