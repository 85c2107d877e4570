//! Changes of entities as they were read: what their types do not know, as slots of a series, is kept.

use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, RowKey};
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::row::{self, Row};
use table_core::store::TableStore;

use crate::index::IndexOutbox;
use crate::requests::{self, CONCURRENCY};
use crate::unit::Unit;
use crate::unit::kept::Part;

/// An entity as it was read, and as it is to be.
pub(super) struct Change<'a, E> {
    pub(super) etag: &'a ETag,
    pub(super) old: (&'a E, Row),
    pub(super) new: (&'a E, Row),
}

/// A change whose row is made of all that is stored, which is read when the unit is committed.
pub(super) struct Rewrite {
    row_key: RowKey,
    etag: ETag,
    before: Row,
    after: Row,
}

impl<S: TableStore + Clone + 'static, O: IndexOutbox + 'static> Unit<S, O> {
    /// Adds a change: a merge where it removes no property, as what the type does not know stays then without being read.
    pub(super) fn change<E: Entity + Send + Sync>(
        &mut self,
        key: &EntityKey,
        change: Change<'_, E>,
    ) -> Result<&mut Self> {
        let Change { etag, old: (old, before), new: (new, after) } = change;
        // Copies are kept of all that is stored.
        let reads = E::RELATIONS.is_some() || row::removes(before.view(), after.view())?;
        let if_match = IfMatch::ETag(etag.clone());
        let kind = if reads {
            OperationKind::Replace(after.clone(), if_match)
        } else {
            OperationKind::Merge(after.clone(), if_match)
        };
        self.write("replace", key, kind, Some(old), Some(new))?;
        if reads {
            let row_key = key.row_key.clone();
            self.rewrites.push(Rewrite { row_key, etag: etag.clone(), before, after });
        }
        Ok(self)
    }

    /// Reads what changes rewrite, and adds to their rows what the types do not know.
    pub(super) async fn complete_changes(&mut self) -> Result<()> {
        let rewrites = std::mem::take(&mut self.rewrites);
        let (store, table, partition_key) = (&self.road.store, &self.table, &self.batch.partition_key);
        let reads = rewrites.into_iter().map(|Rewrite { row_key, etag, before, after }| async move {
            let key = EntityKey { partition_key: partition_key.clone(), row_key };
            let found = store.get(table, &key, &Select::All).await?;
            // Of another version nothing is written: the transaction says so.
            let Some(found) = found.filter(|found| found.etag == etag) else { return Ok(None) };
            Ok::<_, Error>(Some((key.row_key, row::rewrite(found.row.view(), before.view(), after.view())?)))
        });
        let rows: Vec<_> = requests::in_order(reads, CONCURRENCY).await?;
        for (row_key, row) in rows.into_iter().flatten() {
            let entities =
                self.batch.entities.iter_mut().map(|operation| (&operation.row_key, &mut operation.kind));
            let parts = self.parts.iter_mut().filter_map(|part| match part {
                Part::Write(own, _) => Some((&own.write.key.row_key, &mut own.write.kind)),
                _ => None,
            });
            for (_, kind) in entities.chain(parts).filter(|(of, _)| **of == row_key) {
                if let OperationKind::Replace(known, _) = kind {
                    *known = row.clone();
                }
            }
        }
        Ok(())
    }
}
