//! Holders: entities whose properties include copies from other entities (PAT-DEN-1).

use std::collections::BTreeMap;

use table_core::entity::Entity;
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::Select;
use table_core::row::rewrite;
use table_core::store::{Committed, StoredRow, TableStore};

use crate::converge;
use crate::copies::fault::CopyFault;
use crate::copies::plan::CopyPlan;
use crate::copies::reference::Reference;
use crate::copies::relations::Copying;
use crate::copies::{OnDelete, io};
use crate::entities::{StepRecorder, read_as};
use crate::index::{Derived, RemoteChange};

impl<H: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Copying<'_, H, S, O> {
    /// Adds the writes that a change of a holder requires (references, and conditions on sources), and sets its copied properties.
    ///
    /// # Errors
    /// - `ResourceNotFound` (PAT-DEN-2), with the name of the source, if a newly referenced source does not exist.
    /// - `InvalidInput` for a holder that refers to itself, and for a copied value that would change a key (UPD-6).
    /// - Any error from the store.
    pub(super) async fn hold(&self, key: &EntityKey, before: Option<&H>, kept: &mut CopyPlan) -> Result<()> {
        if self.relations.holds.is_empty() {
            return Ok(());
        }
        let (store, table) = (self.handle.table().store(), self.handle.table().name()?);
        let mut after = kept.new.as_ref().map(|row| read_as::<H>(key, row)).transpose()?;
        let given = after.as_ref().map(Entity::to_row).transpose()?;
        let (mut links, mut sources) = (Vec::new(), BTreeMap::new());
        for relation in self.relations.holds {
            let source_table = relation.relation.source_table()?;
            let is_here =
                |source: &EntityKey| source.partition_key == key.partition_key && source_table == *table;
            let (mut left, mut follow) = (Vec::new(), false);
            let old = before.map(relation.reference).transpose()?.flatten();
            let mut new = after.as_ref().map(relation.reference).transpose()?.flatten();
            let link = Reference {
                relation: relation.relation.name.to_owned(),
                holder_table: table.clone(),
                holder: key.clone(),
            };
            if let (Some(source), Some(after)) = (new.clone(), after.as_mut()) {
                let is_new = old.as_ref() != Some(&source);
                if is_here(&source) && source.row_key == key.row_key {
                    return Err(io::in_place(Error::of(CopyFault::OwnSource), table, key));
                }
                let link_key = link.key(&source)?;
                if is_new && !is_here(&source) {
                    self.refer(&source_table, &source, &link).await?;
                    follow = true;
                }
                // If the source is written in the same unit, its new values are copied. The condition of that write protects these values.
                let in_unit = is_here(&source).then(|| kept.siblings.get(&source.row_key)).flatten();
                let is_deleted = in_unit.is_some_and(|written| written.row.is_none());
                let found = match in_unit {
                    Some(written) => written.row.clone().map(|row| (row, None)),
                    None => store
                        .get(&source_table, &source, &Select::All)
                        .await?
                        .map(|stored| (stored.row, Some(stored.etag))),
                };
                match found {
                    Some((row, etag)) => {
                        (relation.set)(after, io::entity(&source, &row))?;
                        if is_new && is_here(&source) {
                            links.push((link_key.row_key, OperationKind::InsertOrReplace(link.row())));
                            sources.extend(etag.map(|etag| (source.row_key, etag)));
                        }
                    }
                    None if is_new => return Err(no_source(&source_table, &source)),
                    None if is_deleted && relation.on_delete == OnDelete::Refuse => {
                        let (holder, relation) = (key.clone(), relation.relation.name);
                        let fault = CopyFault::Referred { holder, table: table.clone(), relation };
                        return Err(io::in_place(Error::of(fault), table, &source));
                    }
                    // The source was deleted, and no worker has cleared the holder yet.
                    None => {
                        (relation.clear)(after)?;
                        new = None;
                    }
                }
            }
            if let Some(source) = old
                && new.as_ref() != Some(&source)
            {
                if is_here(&source) {
                    let link_key = link.key(&source)?;
                    let found = store.get(table, &link_key, &Select::names(["PartitionKey"])).await?;
                    let delete = |found: StoredRow| OperationKind::Delete(IfMatch::ETag(found.etag));
                    links.extend(found.map(|found| (link_key.row_key, delete(found))));
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
            // Properties that the struct does not declare are kept.
            *row = rewrite(row.view(), given.view(), after.to_row()?.view())?;
        }
        // The version of a source in the same partition is a condition of the transaction,
        // which therefore fails if the source changed since it was copied.
        links.extend(sources.into_iter().map(|(row, etag)| (row, io::touch(IfMatch::ETag(etag)))));
        kept.rows.extend(links.into_iter().map(|(row_key, kind)| Operation { row_key, kind }));
        Ok(())
    }

    /// Adds a reference in another partition before the holder refers to the source. The transaction requires the source to exist and writes it.
    /// A concurrent change of the source that has not seen the reference therefore fails. The reference is the last row of the transaction.
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
