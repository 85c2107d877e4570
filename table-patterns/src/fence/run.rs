//! One run of a backfill whose pass has begun. It records the resume position with the stored schema, and completes the backfill.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use table_core::Result;
use table_core::entity::Entity;
use table_core::store::TableStore;
use table_core::table::SchemaRecord;

use crate::entities::Entities;

/// The recorded progress of a backfill. It is stored as JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Progress<P> {
    /// Older programs are refused, but the pass has not begun.
    Closing {
        /// The store's time when the refusal began, in ticks.
        since: u64,
        /// A random number. Together with the time, it identifies the refusal.
        by: u64,
    },
    /// The pass has begun.
    Pass {
        /// The identity of the pass, a random number.
        id: u64,
        /// The resume position, or `null` at the start.
        at: P,
    },
}

impl<P: Serialize> Progress<P> {
    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Returns the progress of a backfill that refuses older programs since the given time. `by` is a random number.
pub(super) fn closing(since: u64, by: u64) -> String {
    Progress::<()>::Closing { since, by }.text()
}

/// Returns the progress of a new pass. `id` is a random number.
pub(super) fn new_pass(id: u64) -> String {
    Progress::Pass { id, at: () }.text()
}

/// Returns the identity of the recorded pass, or `None` if the pass has not begun.
fn pass_of(recorded: &str) -> Option<u64> {
    match serde_json::from_str(recorded) {
        Ok(Progress::<IgnoredAny>::Pass { id, .. }) => Some(id),
        _ => None,
    }
}

/// Returns `true` if the pass has begun.
pub(super) fn is_pass(recorded: &str) -> bool {
    pass_of(recorded).is_some()
}

/// Makes a backfill pending, with the new pass `id`. Does not change a pending backfill whose pass has not begun: the pass would otherwise begin while older
/// programs may still write.
pub(crate) fn restart(layout: &mut SchemaRecord, note: &str, id: u64) {
    let is_pending = layout.pending.iter().any(|pending| pending == note);
    if !is_pending {
        layout.pending.push(note.to_owned());
    }
    if !is_pending || layout.progress.get(note).is_some_and(|known| is_pass(known)) {
        layout.progress.insert(note.to_owned(), new_pass(id));
    }
}

/// A run of a backfill whose pass over the rows has begun. `P` is the resume position.
#[derive(Clone, Debug)]
pub(crate) struct Run<'a, P> {
    /// The name of the index, copies or feed in the schema's list of pending parts.
    note: &'a str,
    /// The identity of the pass.
    id: u64,
    /// The resume position at which this run begins.
    pub(crate) start: P,
}

impl<'a, P> Run<'a, P> {
    /// Returns a run of the recorded pass, or `None` if no pass is recorded. A position that this program cannot read is the start.
    pub(super) fn of(layout: &SchemaRecord, note: &'a str) -> Option<Self>
    where
        P: Default + DeserializeOwned,
    {
        let recorded = layout.progress.get(note)?;
        let start = match serde_json::from_str(recorded) {
            Ok(Progress::Pass { at, .. }) => at,
            _ => P::default(),
        };
        Some(Self { note, id: pass_of(recorded)?, start })
    }

    /// Records the resume position. Returns `false` without recording it if the backfill is pending but another pass has begun. Does nothing if another run has
    /// completed the backfill.
    ///
    /// # Errors
    /// Any error from the store.
    pub(crate) async fn record<E: Entity, S: TableStore, O>(
        &self,
        handle: &Entities<E, S, O>,
        position: &P,
    ) -> Result<bool>
    where
        P: Serialize,
    {
        let text = Progress::Pass { id: self.id, at: position }.text();
        let record = |layout: &mut SchemaRecord| {
            if let Some(known) = layout.progress.get_mut(self.note) {
                text.clone_into(known);
            }
        };
        self.change(handle, record).await
    }

    /// Removes the index, copies or feed from the schema's pending parts, because its backfill is complete. Returns `false` without removing it if another pass
    /// has begun.
    ///
    /// # Errors
    /// Any error from the store.
    pub(crate) async fn complete<E: Entity, S: TableStore, O>(
        &self,
        handle: &Entities<E, S, O>,
    ) -> Result<bool> {
        let complete = |layout: &mut SchemaRecord| {
            layout.pending.retain(|pending| pending != self.note);
            layout.progress.remove(self.note);
            layout.waiting.remove(self.note);
        };
        self.change(handle, complete).await
    }

    /// Changes the schema record, unless the pass is superseded. Updates the index states that the handle has cached.
    async fn change<E: Entity, S: TableStore, O>(
        &self,
        handle: &Entities<E, S, O>,
        change: impl Fn(&mut SchemaRecord),
    ) -> Result<bool> {
        let change = |layout: &mut SchemaRecord| {
            if !self.is_superseded(layout) {
                change(layout);
            }
        };
        Ok(!self.is_superseded(&handle.note(change).await?))
    }

    /// Returns `true` if the backfill is pending, but its pass is no longer the one of this run. Either another schema requires the backfill again, or the pass
    /// was restarted.
    fn is_superseded(&self, layout: &SchemaRecord) -> bool {
        let is_pending = layout.pending.iter().any(|pending| pending == self.note);
        is_pending && layout.progress.get(self.note).is_none_or(|known| pass_of(known) != Some(self.id))
    }
}

#[cfg(test)]
mod tests;
