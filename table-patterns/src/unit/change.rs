//! Changes to entities that have been read. A change keeps stored properties that the entity type does not declare, such as the slots of a series.

use std::ops::ControlFlow;

use table_core::Result;
use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, RowKey};
use table_core::operation::OperationKind;
use table_core::row::{self, Row};
use table_core::store::TableStore;

use crate::entities::StepRecorder;
use crate::unit::UnitOfWork;

/// A change of an entity: the entity as read, and its new value.
pub(super) struct Change<'a, E> {
    pub(super) etag: &'a ETag,
    pub(super) old: (&'a E, Row),
    pub(super) new: (&'a E, Row),
}

/// A replace operation. Before it is sent, the commit reads all stored properties of the entity.
pub(super) struct Rewrite {
    row_key: RowKey,
    etag: ETag,
    before: Row,
    after: Row,
}

impl<S: TableStore + Clone + 'static, O: StepRecorder + 'static> UnitOfWork<S, O> {
    /// Adds a change. If the change removes no property, it is sent as a merge, which keeps undeclared properties without reading them.
    pub(super) fn change<E: Entity + Send + Sync>(
        &mut self,
        key: &EntityKey,
        change: Change<'_, E>,
    ) -> Result<&mut Self> {
        let Change { etag, old: (old, before), new: (new, after) } = change;
        // Copies are computed from all stored properties, so the entity must be read again.
        let reads = E::RELATIONS.is_some() || row::removes(before.view(), after.view())?;
        let if_match = IfMatch::ETag(etag.clone());
        let kind = if reads {
            OperationKind::Replace(after.clone(), if_match)
        } else {
            OperationKind::Merge(after.clone(), if_match)
        };
        // Index rows contain the entity's stored values. These values are known if the unit has read this version of the entity.
        let stored = self.reads.row(&key.row_key, etag);
        self.write("replace", key.clone(), kind, Some((old, stored.as_ref())), Some(new))?;
        if reads {
            let row_key = key.row_key.clone();
            self.rewrites.push(Rewrite { row_key, etag: etag.clone(), before, after });
        }
        Ok(self)
    }

    /// Reads the entities that will be replaced, and adds their undeclared properties to the replace operations. Returns `Break` if the unit must reread its
    /// rows.
    pub(super) async fn complete_changes(&mut self) -> Result<ControlFlow<()>> {
        for Rewrite { row_key, etag, before, after } in std::mem::take(&mut self.rewrites) {
            let ControlFlow::Continue(found) = self.look_up(&row_key).await? else {
                return Ok(ControlFlow::Break(()));
            };
            // If the version differs, the replace is left unchanged, and the commit fails: the write contradicts a read of the unit or requires a stale
            // version.
            if let Some(found) = found.filter(|found| found.etag == etag) {
                let row = row::rewrite(found.row.view(), before.view(), after.view())?;
                self.draft.change_row(&row_key, &|_| Ok(row.clone()))?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
