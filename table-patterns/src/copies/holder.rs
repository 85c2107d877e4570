//! Writes of holders: entities with properties copied from other entities (PAT-DEN-1).

use std::collections::BTreeMap;

use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::Select;
use table_core::row::rewrite;
use table_core::store::{Committed, StoredRow, TableStore};
use table_core::{Error, ErrorCode, Result};

use crate::converge;
use crate::copies::fault::CopyFault;
use crate::copies::plan::CopyPlan;
use crate::copies::reference::Reference;
use crate::copies::relation::Incoming;
use crate::copies::relations::Copying;
use crate::copies::{OnDelete, io};
use crate::entities::{StepRecorder, read_as};
use crate::index::{Derived, RemoteChange};

/// The rows that a holder's write adds to the transaction.
#[derive(Default)]
struct HolderRows {
    /// Operations that write or delete references in the holder's partition.
    references: Vec<(RowKey, OperationKind)>,
    /// The versions of the newly referenced sources in the holder's partition. They are conditions: the transaction fails if a source has changed since it
    /// was copied.
    sources: BTreeMap<RowKey, ETag>,
    /// The sources read in the holder's partition, with `None` for each missing source. Each is read only once, so all relations copy the version required by
    /// the transaction.
    read: BTreeMap<RowKey, Option<StoredRow>>,
}

/// A holder's relation, and the reference row that represents the holder in the source's partition.
struct Link<'a, H> {
    relation: &'a Incoming<H>,
    source_table: TableName,
    reference: Reference,
}

impl<H> Link<'_, H> {
    /// Returns `true` if `source` is in the same partition as the holder.
    fn is_here(&self, source: &EntityKey) -> bool {
        source.partition_key == self.reference.holder.partition_key
            && self.source_table == self.reference.holder_table
    }
}

impl<H: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Copying<'_, H, S, O> {
    /// Sets a holder's copied properties. Adds the reference writes and the conditions on its sources to the holder's write.
    ///
    /// # Errors
    /// - `ResourceNotFound` (PAT-DEN-2), with the source's key, if a newly referenced source does not exist.
    /// - `InvalidInput` if a holder refers to itself, or if a copied value would change a key (UPD-6).
    /// - Any error from the store.
    pub(super) async fn hold(&self, key: &EntityKey, before: Option<&H>, kept: &mut CopyPlan) -> Result<()> {
        if self.relations.holds.is_empty() {
            return Ok(());
        }
        let table = self.handle.table().name()?;
        let mut after = kept.new.as_ref().map(|row| read_as::<H>(key, row)).transpose()?;
        let given = after.as_ref().map(Entity::to_row).transpose()?;
        let mut rows = HolderRows::default();
        for relation in self.relations.holds {
            let old = before.map(relation.reference).transpose()?.flatten();
            let mut new = after.as_ref().map(relation.reference).transpose()?.flatten();
            let link = Link {
                relation,
                source_table: relation.relation.source_table()?,
                reference: Reference {
                    relation: relation.relation.name.to_owned(),
                    holder_table: table.clone(),
                    holder: key.clone(),
                },
            };
            let (mut left, mut follow) = (Vec::new(), false);
            if let (Some(source), Some(after)) = (new.take(), after.as_mut()) {
                let is_new = old.as_ref() != Some(&source);
                let is_copied = self.copy_source(&link, &source, is_new, after, kept, &mut rows).await?;
                follow = is_new && !link.is_here(&source);
                new = is_copied.then_some(source);
            }
            if let Some(source) = old
                && new.as_ref() != Some(&source)
            {
                if link.is_here(&source) {
                    rows.references.extend(self.obsolete_reference(&link, &source).await?);
                } else {
                    left.push(source);
                    follow = true;
                }
            }
            let of = Derived::CopiesIn(relation.relation.name.to_owned());
            kept.remote.extend(follow.then(|| RemoteChange::new(of, key.clone(), left)));
        }
        if let (Some(after), Some(given), Some(row)) = (after, given, &mut kept.new) {
            if after.key_of()? != *key {
                return Err(io::in_place(Error::of(CopyFault::CopiedKey), table, key));
            }
            // Undeclared properties are preserved.
            *row = rewrite(row.view(), given.view(), after.to_row()?.view())?;
        }
        let conditions = rows.sources.into_iter().map(|(row, etag)| (row, io::touch(IfMatch::ETag(etag))));
        let operations = rows.references.into_iter().chain(conditions);
        kept.rows.extend(operations.map(|(row_key, kind)| Operation { row_key, kind }));
        Ok(())
    }

    /// Copies a source's properties into the holder `after`, and, if `is_new`, records a reference for the holder. If the source has been deleted, clears
    /// the copied properties and returns `false`.
    ///
    /// # Errors
    /// Any error from [`hold`](Self::hold).
    async fn copy_source(
        &self,
        link: &Link<'_, H>,
        source: &EntityKey,
        is_new: bool,
        after: &mut H,
        kept: &CopyPlan,
        rows: &mut HolderRows,
    ) -> Result<bool> {
        let (is_here, reference) = (link.is_here(source), &link.reference);
        if is_here && source.row_key == reference.holder.row_key {
            let own = Error::of(CopyFault::OwnSource);
            return Err(io::in_place(own, &reference.holder_table, &reference.holder));
        }
        let reference_key = reference.key(source)?;
        if is_new && !is_here {
            self.refer(&link.source_table, source, reference).await?;
        }
        // If the same unit of work writes the source, its new values are copied. The condition on the source's write protects them from concurrent changes.
        let in_unit = is_here.then(|| kept.siblings.get(&source.row_key)).flatten();
        let is_deleted = in_unit.is_some_and(|written| written.row().is_none());
        let found = if let Some(written) = in_unit {
            written.row().cloned().map(|row| (row, None))
        } else {
            let stored = self.stored_source(link, source, rows).await?;
            stored.map(|stored| (stored.row, Some(stored.etag)))
        };
        match found {
            Some((row, etag)) => {
                (link.relation.set)(after, io::entity(source, &row))?;
                if is_new && is_here {
                    let insert = OperationKind::InsertOrReplace(reference.row());
                    rows.references.push((reference_key.row_key, insert));
                    rows.sources.extend(etag.map(|etag| (source.row_key.clone(), etag)));
                }
                Ok(true)
            }
            None if is_new => Err(no_source(&link.source_table, source)),
            None if is_deleted && link.relation.on_delete == OnDelete::Refuse => {
                let (holder, table) = (reference.holder.clone(), reference.holder_table.clone());
                let fault = CopyFault::Referred { holder, table, relation: link.relation.relation.name };
                Err(io::in_place(Error::of(fault), &reference.holder_table, source))
            }
            // The source was deleted, and no worker has cleared the holder yet.
            None => {
                (link.relation.clear)(after)?;
                Ok(false)
            }
        }
    }

    /// Reads a source. A source in the holder's partition is read only once for all of the holder's relations. A source in another partition is read again
    /// for each relation, because the relation's reference must be recorded before the read.
    async fn stored_source(
        &self,
        link: &Link<'_, H>,
        source: &EntityKey,
        rows: &mut HolderRows,
    ) -> Result<Option<StoredRow>> {
        let is_here = link.is_here(source);
        if let Some(known) = rows.read.get(&source.row_key).filter(|_| is_here) {
            return Ok(known.clone());
        }
        let found = self.handle.table().store().get(&link.source_table, source, &Select::All).await?;
        if is_here {
            rows.read.insert(source.row_key.clone(), found.clone());
        }
        Ok(found)
    }

    /// Returns the operation that deletes the holder's reference to a source in the same partition, or `None` if the reference is not stored.
    async fn obsolete_reference(
        &self,
        link: &Link<'_, H>,
        source: &EntityKey,
    ) -> Result<Option<(RowKey, OperationKind)>> {
        let (key, select) = (link.reference.key(source)?, Select::names(["PartitionKey"]));
        let found = self.handle.table().store().get(&link.reference.holder_table, &key, &select).await?;
        Ok(found.map(|found| (key.row_key, OperationKind::Delete(IfMatch::ETag(found.etag)))))
    }

    /// Stores a reference to a source in another partition, before the holder is written. The transaction fails if the source does not exist. It also writes
    /// the source, so a concurrent change to the source fails if its writer has not seen the reference. The reference is the last operation in the transaction.
    pub(super) async fn refer(
        &self,
        source_table: &TableName,
        source: &EntityKey,
        link: &Reference,
    ) -> Result<Committed> {
        let operations = [
            (source.row_key.clone(), io::touch(IfMatch::Any)),
            (link.key(source)?.row_key, OperationKind::InsertOrReplace(link.row())),
        ];
        match converge::submit(self.handle.table().store(), source_table, &source.partition_key, operations)
            .await
        {
            Err(error) if error.code() == ErrorCode::ResourceNotFound => Err(no_source(source_table, source)),
            outcome => outcome,
        }
    }
}

fn no_source(table: &TableName, source: &EntityKey) -> Error {
    io::in_place(Error::of(CopyFault::NoSource), table, source)
}
