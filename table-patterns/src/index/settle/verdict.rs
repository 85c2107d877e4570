//! Decides whether a recorded change is settled by the entity that was read.

use table_core::Result;
use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::store::TableStore;

use crate::converge;
use crate::entities::{StepRecorder, touch};
use crate::index::remote::EntryFingerprint;
use crate::index::settle::{Entries, Target};

/// The decision about a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The entry is written with its guard.
    Write,
    /// This change or a later one has been settled, or a later change will be settled.
    Settled,
    /// The read is stale.
    Behind,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entries<'_, E, S, O> {
    /// Returns the decision for one key.
    ///
    /// IMPORTANT: the entry of the current entity is written only if it equals the entry of the recorded change. Otherwise either the read
    /// is stale, or a later change has replaced the entry. A later change is proven if the entity was written later, or if the guard or a
    /// record contains a later change to this key. Each of these facts is permanent, so a stale read cannot falsify them. Programs built from
    /// an older release and other tools delete entities without a record; then only a write can prove that the entity does not exist.
    pub(super) async fn verdict(
        &self,
        target: &Target,
        now: &EntryFingerprint,
        written: Option<u64>,
    ) -> Result<Verdict> {
        let Some(generation) = &self.generation else { return Ok(Verdict::Write) };
        if target.guard.as_ref().is_some_and(|(guard, _)| guard.knows(&generation.origin)) {
            return Ok(Verdict::Settled);
        }
        let change = self.change;
        if change.fingerprint == EntryFingerprint::Unknown || change.fingerprint.agrees(now, &target.key) {
            return Ok(Verdict::Write);
        }
        let is_later = written.is_some_and(|written| written > generation.version);
        let is_known =
            is_later || self.handle.is_recorded_later(change, &target.key, generation.version).await?;
        Ok(match is_known {
            true => Verdict::Settled,
            false if written.is_none() && self.is_gone().await? => Verdict::Write,
            false => Verdict::Behind,
        })
    }

    /// Returns `true` if the entity does not exist. The check is a write that never succeeds, because a read could be answered by a stale replica.
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
