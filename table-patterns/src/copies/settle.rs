//! Settles one holder (an entity that holds copies): makes its references and its copied properties match its sources (PAT-DEN-2).

use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::Select;
use table_core::store::TableStore;
use table_core::{ErrorCode, Result};

use crate::converge;
use crate::copies::group::Group;
use crate::copies::io;
use crate::copies::propagate::Holders;
use crate::copies::reference::{Reference, StoredReference};
use crate::copies::relation::Incoming;
use crate::copies::relations::Copying;
use crate::entities::StepRecorder;
use crate::work::Delivery;

impl<H: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Copying<'_, H, S, O> {
    /// Makes a holder match its source in the relation `held`. Also removes the holder's references to those sources in `left` to which it no longer refers.
    /// Returns the number of writes to the holder.
    pub(super) async fn align(
        &self,
        held: &Incoming<H>,
        (key, left): (&EntityKey, &[EntityKey]),
        call: Option<Delivery<'_>>,
    ) -> Result<usize> {
        let (handle, mut relation) = (self.handle, held.relation);
        relation.holder.feed |= handle.records_changes();
        let (store, source_table) = (handle.table().store(), relation.source_table()?);
        let holder_table = handle.table().name()?.clone();
        let reference = Reference { relation: relation.name.to_owned(), holder_table, holder: key.clone() };
        let (mut written, mut sources) = (0, Vec::with_capacity(left.len() + 1));
        for source in left {
            // IMPORTANT: the reference is read before the holder, and deleted only if it still has the version that was read. A holder that refers to the
            // source again renews the reference.
            let link = reference.key(source)?;
            let found = store.get(&source_table, &link, &Select::names(["PartitionKey"])).await;
            let found = match found {
                Err(error) if error.is_table_not_found() => None,
                found => found?,
            };
            sources.extend(found.map(|found| (source.clone(), Some(found.etag))));
        }
        let mut race = handle.retry.start(io::RACE);
        loop {
            if let Some(source) = self.source_of(held, key).await? {
                let etag = self.renew(&source_table, &source, &reference).await?;
                sources.retain(|(left, _)| *left != source);
                sources.push((source, etag));
            }
            let is_referred = sources.iter().all(|(_, etag)| etag.is_some());
            for (source, etag) in sources.drain(..) {
                let (reference, row_key) = (reference.clone(), reference.key(&source)?.row_key);
                let group = Group::of(StoredReference { reference, row_key, etag });
                let (relations, table) = (vec![relation], &source_table);
                let path = vec![source.clone()];
                let holders =
                    Holders { handle, relations, table, source: &source, touches: false, path, call };
                written += holders.settle(vec![group]).await?.all()?;
            }
            if is_referred {
                return Ok(written);
            }
            // If the source was missing here but existed when the holder was written, the holder now has copies without a reference, so the attempt is
            // repeated.
            race.retry(None).await.map_err(|error| handle.here(error, key))?;
        }
    }

    /// Returns the source referenced by the stored holder.
    async fn source_of(&self, held: &Incoming<H>, key: &EntityKey) -> Result<Option<EntityKey>> {
        let table = self.handle.table();
        let Some(stored) = table.store().get(table.name()?, key, &Select::All).await? else {
            return Ok(None);
        };
        let holder =
            H::from_entity(io::entity(key, &stored.row)).map_err(|error| self.handle.here(error, key))?;
        (held.reference)(&holder)
    }

    /// Rewrites a reference. If a worker tries to delete it as obsolete, the delete then fails. Returns the source's new version, or `None` if the source does
    /// not exist.
    async fn renew(
        &self,
        table: &TableName,
        source: &EntityKey,
        reference: &Reference,
    ) -> Result<Option<ETag>> {
        let renewal = [(reference.key(source)?.row_key, io::touch(IfMatch::Any))];
        let store = self.handle.table().store();
        let renewed = match converge::submit(store, table, &source.partition_key, renewal).await {
            Err(error) if error.code() == ErrorCode::ResourceNotFound => {
                self.refer(table, source, reference).await
            }
            renewed => renewed,
        };
        match renewed {
            Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(None),
            renewed => Ok(renewed?.into_iter().next_back().flatten()),
        }
    }
}
