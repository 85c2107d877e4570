//! Settling: brings a holder in agreement with its sources, and references with both. Idempotent, in any order.

use table_core::entity::Entity;
use table_core::error::{ErrorCode, Result};
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::row::rewrite;
use table_core::store::{StoredRow, TableStore};

use crate::converge;
use crate::denormal::io;
use crate::denormal::reference::Reference;
use crate::denormal::relation::Incoming;
use crate::denormal::relations::Copying;
use crate::denormal::steps::Left;
use crate::index::{Batch, IndexOutbox};

impl<H: Entity, S: TableStore, O: IndexOutbox> Copying<'_, H, S, O> {
    /// Brings a holder in line with its sources as they are now, and sees that their references name it; whether its copies changed.
    pub(super) async fn align(&self, key: &EntityKey, mut left: Left) -> Result<bool> {
        let mut changed = false;
        let mut race = self.handle.retry.race(io::RACE);
        loop {
            match self.align_once(key, &mut left).await? {
                Outcome::Settled => return Ok(changed),
                Outcome::Written => changed = true,
                Outcome::Lost => {
                    let table = self.handle.table().name()?;
                    race.lost(None).await.map_err(|error| io::in_place(error, table, key))?;
                }
            }
        }
    }

    async fn align_once(&self, key: &EntityKey, left: &mut Left) -> Result<Outcome> {
        let (store, table) = (self.handle.table().store(), self.handle.table().name()?);
        // IMPORTANT: references that may go are read before the holder, and deleted under that version: a holder that takes its
        // source up again renews them.
        let mut old = Vec::with_capacity(left.0.len());
        for (name, source) in &left.0 {
            let Some(relation) = self.relations.holds.iter().find(|relation| relation.name == name) else {
                continue;
            };
            let (source_table, link) = (relation.source_table()?, link(table, relation, key));
            let link_key = link.key(source)?;
            let found = store.get(&source_table, &link_key, &Select::names(["PartitionKey"])).await;
            let found = match found {
                Err(error) if error.is_table_not_found() => None,
                found => found?,
            };
            old.extend(found.map(|found| (relation, source.clone(), source_table, link_key, found.etag)));
        }
        let mut holder = None;
        if let Some(stored) = store.get(table, key, &Select::All).await? {
            let read = H::from_entity(io::entity(key, &stored.row));
            let read = read.map_err(|error| error.with_table(table.as_str()))?;
            match self.copy_again(table, key, &stored, read, left).await? {
                Some(outcome) => return Ok(outcome),
                None => holder = Some(H::from_entity(io::entity(key, &stored.row))?),
            }
        }
        for (relation, source, source_table, link_key, etag) in old {
            let refers = holder.as_ref().map(|holder| (relation.reference)(holder)).transpose()?.flatten();
            if refers.as_ref() == Some(&source) {
                continue;
            }
            let delete = (link_key.row_key, OperationKind::Delete(IfMatch::ETag(etag)));
            match converge::submit(store, &source_table, &link_key.partition_key, [delete]).await {
                Err(error) if error.is_conflict() => return Ok(Outcome::Lost),
                outcome => outcome?,
            };
        }
        Ok(Outcome::Settled)
    }

    /// Writes the copies of a holder anew; `None` if they are as they should be.
    async fn copy_again(
        &self,
        table: &TableName,
        key: &EntityKey,
        stored: &StoredRow,
        mut holder: H,
        left: &mut Left,
    ) -> Result<Option<Outcome>> {
        let store = self.handle.table().store();
        let before = holder.to_row()?;
        for relation in &self.relations.holds {
            let Some(source) = (relation.reference)(&holder)? else { continue };
            let source_table = relation.source_table()?;
            let has_reference = self.renew(&source_table, &source, &link(table, relation, key)).await?;
            // IMPORTANT: after the reference and the holder. A later change of the source finds the first, and what is written over
            // the second is never older than what it has.
            match store.get(&source_table, &source, &Select::All).await? {
                Some(_) if !has_reference => return Ok(Some(Outcome::Lost)),
                Some(source_row) => (relation.set)(&mut holder, io::entity(&source, &source_row.row))?,
                None => {
                    (relation.clear)(&mut holder)?;
                    let gone = (relation.name.to_owned(), source);
                    if !left.0.contains(&gone) {
                        left.0.push(gone);
                    }
                }
            }
        }
        let after = holder.to_row()?;
        if after == before {
            return Ok(None);
        }
        let row = rewrite(stored.row.view(), before.view(), after.view())?;
        let replace = OperationKind::Replace(row, IfMatch::ETag(stored.etag.clone()));
        let was = H::from_entity(io::entity(key, &stored.row))?;
        let write = self.handle.write_of(key.clone(), replace, Some(&was), Some(&holder))?;
        match self.handle.commit_others(table, &Batch::of::<H>(write)?).await {
            Err(error) if error.is_conflict() => Ok(Some(Outcome::Lost)),
            outcome => outcome.map(|_| Some(Outcome::Written)),
        }
    }

    /// Writes a reference, so that a worker that takes it for left over fails; `false` if the source is gone.
    async fn renew(&self, source_table: &TableName, source: &EntityKey, link: &Reference) -> Result<bool> {
        let renewal = [(link.key(source)?.row_key, io::touch(IfMatch::Any))];
        match converge::submit(self.handle.table().store(), source_table, &source.partition_key, renewal)
            .await
        {
            Err(error) if error.code() == ErrorCode::ResourceNotFound => {}
            outcome => return outcome.map(|_| true),
        }
        match self.refer(source_table, source, link).await {
            Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }
}

fn link<H>(table: &TableName, relation: &Incoming<H>, key: &EntityKey) -> Reference {
    Reference { relation: relation.name.to_owned(), holder_table: table.clone(), holder: key.clone() }
}

enum Outcome {
    /// All is as it should be.
    Settled,
    /// The holder was written; what else there is, another look shows.
    Written,
    /// Another writer got between.
    Lost,
}
