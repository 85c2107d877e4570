//! Decides whether the version of the entity that was read is recent enough to settle a recorded change.

use table_core::Result;
use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::operation::{OperationKind, RowState};
use table_core::store::TableStore;

use crate::converge;
use crate::entities::{StepRecorder, sent, touch};
use crate::index::remote::EntryFingerprint;
use crate::index::settle::{Entries, Target};

/// The decision for one key of a recorded change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The entry and its guard must be written.
    Write,
    /// No write is needed: this change or a later one has been settled, or a recorded later change will be settled.
    Settled,
    /// The entity that was read is stale; read it again.
    Behind,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entries<'_, E, S, O> {
    /// Returns the verdict for one key. `now` is the entry of the entity as read, and `seen` the version that was read and the time at which it was written;
    /// `None` if the entity seems to be missing.
    ///
    /// IMPORTANT: the entry of the entity as read is written only if it equals the recorded change's entry, if the entity was written later than the change, if
    /// the record has no comparable entry, or if the store confirms that the entity has not changed since it was read. Otherwise, either the read was stale, or a
    /// later change has replaced the entry. A later change is proven if the guard or a recorded intent contains a later change to this key. A stale read cannot
    /// invalidate these proofs, because they are permanent. The absence of a record does not prove that the read was stale: most later writes do not change the
    /// entry and therefore have no record, another program may encode the entry differently, programs built from an older release and other tools delete
    /// entities without a record, and a row that another program has rewritten seems to record a later change than it does.
    pub(super) async fn verdict(
        &self,
        target: &Target,
        now: &EntryFingerprint,
        seen: Option<(&ETag, u64)>,
    ) -> Result<Verdict> {
        let Some(generation) = &self.generation else { return Ok(Verdict::Write) };
        if target.guard.as_ref().is_some_and(|(guard, _)| guard.contains_version(&generation.origin)) {
            return Ok(Verdict::Settled);
        }
        let change = self.change;
        let is_comparable = change.fingerprint != EntryFingerprint::Unknown;
        let is_later = seen.is_some_and(|(_, written)| written > generation.version);
        if !is_comparable || is_later || change.fingerprint.records_same_entry(now, &target.key) {
            return Ok(Verdict::Write);
        }
        if self.handle.is_recorded_later(change, &target.key, generation.version).await? {
            return Ok(Verdict::Settled);
        }
        let seen = seen.map(|(etag, _)| etag.clone());
        Ok(if self.is_current(seen).await? { Verdict::Write } else { Verdict::Behind })
    }

    /// Returns `true` if the entity has the version that was read, or does not exist if no version was read. A stale replica might answer another read, so this
    /// sends a conditional write. If the store does not support checks, the write gives an existing entity a new version.
    async fn is_current(&self, seen: Option<ETag>) -> Result<bool> {
        let (store, table, owner) =
            (self.handle.table.store(), self.handle.table.name()?, &self.change.owner);
        let condition = match &seen {
            Some(etag) => {
                let unchanged = OperationKind::Check(RowState::Present(IfMatch::ETag(etag.clone())));
                sent(unchanged, store.capabilities())?
            }
            // No entity has this version. The error tells whether the entity exists.
            None => touch(IfMatch::ETag(ETag::from_ticks(0))),
        };
        match converge::submit(store, table, &owner.partition_key, [(owner.row_key.clone(), condition)]).await
        {
            Ok(_) => Ok(seen.is_some()),
            Err(error) if error.is_not_found() => Ok(seen.is_none()),
            Err(error) if error.is_precondition_failed() => Ok(false),
            Err(error) => Err(error),
        }
    }
}
