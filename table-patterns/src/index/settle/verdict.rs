//! Decides whether the version of the entity that was read is recent enough to settle a recorded change.

use table_core::Result;
use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::store::TableStore;

use crate::converge;
use crate::entities::{StepRecorder, touch};
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
    /// Returns the verdict for one key. `now` is the entry of the entity as read, and `written` the time at which that version was written.
    ///
    /// IMPORTANT: the entry of the entity as read is written only if it equals the recorded change's entry, if the entity was written later than the change, or
    /// if the record has no comparable entry. Otherwise, either the read was stale, or a later change has replaced the entry. A later change is proven if the
    /// guard or a recorded intent contains a later change to this key. A stale read cannot invalidate these proofs, because they are permanent. The absence of
    /// a record does not prove that the read was stale: most later writes do not change the entry and therefore have no record, although another program may
    /// encode the entry differently. Programs built from an older release and other tools delete entities without a record, so if the entity seems to be
    /// deleted, a conditional write determines whether it exists.
    pub(super) async fn verdict(
        &self,
        target: &Target,
        now: &EntryFingerprint,
        written: Option<u64>,
    ) -> Result<Verdict> {
        let Some(generation) = &self.generation else { return Ok(Verdict::Write) };
        if target.guard.as_ref().is_some_and(|(guard, _)| guard.contains_version(&generation.origin)) {
            return Ok(Verdict::Settled);
        }
        let change = self.change;
        let is_comparable = change.fingerprint != EntryFingerprint::Unknown;
        let is_later = written.is_some_and(|written| written > generation.version);
        if !is_comparable || is_later || change.fingerprint.records_same_entry(now, &target.key) {
            return Ok(Verdict::Write);
        }
        if self.handle.is_recorded_later(change, &target.key, generation.version).await? {
            return Ok(Verdict::Settled);
        }
        Ok(if written.is_none() && self.is_gone().await? { Verdict::Write } else { Verdict::Behind })
    }

    /// Returns `true` if the entity does not exist. A stale replica might answer a read, so this attempts a write that never succeeds, and examines its error.
    async fn is_gone(&self) -> Result<bool> {
        let (store, table, owner) =
            (self.handle.table.store(), self.handle.table.name()?, &self.change.owner);
        let never = touch(IfMatch::ETag(ETag::from_ticks(0)));
        match converge::submit(store, table, &owner.partition_key, [(owner.row_key.clone(), never)]).await {
            Err(error) if error.is_not_found() => Ok(true),
            Err(error) if error.is_precondition_failed() => Ok(false),
            outcome => outcome.map(|_| false),
        }
    }
}
