//! What a change of one entity writes, with what its indexes, feed and participants add: decided without I/O.

use table_core::entity::Entity;
use table_core::error::Result;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::row::{self, Row};
use table_core::store::TableStore;

use crate::feed::Record;
use crate::index::attempts::{Current, read_as};
use crate::index::batch::Write;
use crate::index::changes::ChangeKind;
use crate::index::outbox::IndexOutbox;
use crate::index::table::Entities;
use crate::participant::Changes;

impl<E: Entity, S: TableStore, O: IndexOutbox> Entities<E, S, O> {
    /// Whether all copies that a write changes are in indexes that are known to be whole.
    pub(crate) fn knows(&self, write: &Write) -> bool {
        let is_there = |kind: &ChangeKind| matches!(kind, ChangeKind::Rewrite(_) | ChangeKind::Remove);
        let changed =
            write.changes.iter().filter(|change| change.index.is_same_partition() && is_there(&change.kind));
        changed.map(|change| change.index).all(|index| self.states.is_ready::<E>(index))
    }

    /// The write of an entity that changes from `old` to `new`, with what its indexes, feed and participants add.
    pub(crate) fn write_of(
        &self,
        key: EntityKey,
        kind: OperationKind,
        old: Option<&E>,
        new: Option<&E>,
    ) -> Result<Write> {
        let mut out = Changes::new(key.clone(), self.retry.runtime().clone());
        for participant in &self.participants {
            let name = participant.name();
            participant
                .changes(old, new, out.by(name))
                .map_err(|error| error.with_context(&format!("`{name}`")))?;
        }
        if self.records_changes() {
            let what = match kind {
                OperationKind::Insert(_) => "inserted",
                OperationKind::Delete(_) => "deleted",
                _ => "updated",
            };
            out.records.push(Record::plain(key.row_key.clone(), what));
        }
        let Changes { rows, steps, records, .. } = out;
        Ok(Write { beside: rows, steps, records, ..Write::new(key, kind, old, new)? })
    }

    /// The merge of an entity's properties into what is there, or its insert.
    pub(crate) fn merged_or_inserted(
        &self,
        key: &EntityKey,
        current: Option<&Current<E>>,
        (entity, row): (&E, Row),
    ) -> Result<Write> {
        match current {
            Some(current) => self.merged(key, current, row),
            None => self.write_of(key.clone(), OperationKind::Insert(row), None, Some(entity)),
        }
    }

    /// The merge of some properties into what is there.
    pub(crate) fn merged(&self, key: &EntityKey, current: &Current<E>, row: Row) -> Result<Write> {
        let before = match &current.stored {
            Some(stored) => stored.clone(),
            None => current.entity.to_row()?,
        };
        let after: E = read_as(key, &row::merge(before.view(), row.view())?)?;
        let kind = OperationKind::Merge(row, IfMatch::ETag(current.etag.clone()));
        self.write_of(key.clone(), kind, Some(&current.entity), Some(&after))
    }
}
