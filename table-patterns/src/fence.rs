//! The fence of a backfill (of an index, copies or a feed). It delays the backfill's pass over the rows until writes of programs with an older schema can no
//! longer take effect.
//!
//! Until then, these older programs may write. Before an older program writes, it records a *sighting*, a row with the current time that shows that such a
//! program is running. It then rereads the schema.
//!
//! The fence refuses older programs once [`LAST_REQUESTS`] has passed since the backfill's first run and since the latest sighting. It then reads the latest
//! sighting again. `docs/models/backfill.rs` checks this protocol.
//!
//! A pass over the rows has an identity, a random number that is recorded with its resume position. If the pass must restart, because the schema has changed
//! or a program requests it, the resume position is removed or replaced. Runs of the earlier pass can then neither record their progress nor complete the
//! backfill.

mod run;

use std::time::Duration;

use serde::de::DeserializeOwned;
use table_core::Result;
use table_core::entity::Entity;
use table_core::runtime::ticks_of;
use table_core::store::TableStore;
use table_core::table::{SchemaRecord, Sightings};

use crate::entities::Entities;

pub(crate) use run::{Run, restart};
use run::{closing, is_pass, new_pass};

/// The time after which an earlier request can no longer take effect, by the store's clock.
///
/// The service refuses a request whose date is more than 15 minutes off (AUTH-9). A sighting therefore comes from a program whose clock is at most 15 minutes
/// ahead, and a later write of this program is accepted for at most 15 minutes after its date. The remaining half hour covers the operations between the
/// sighting and the write: a lease of five seconds, reads, and retries.
pub(crate) const LAST_REQUESTS: Duration = Duration::from_secs(60 * 60);

/// The delay before the next attempt if another run of the same backfill is in progress.
pub(crate) const AGAIN: Duration = Duration::from_secs(1);

/// The fence's decision for one run of a backfill. `P` is the resume position of the pass.
#[derive(Clone, Debug)]
pub(crate) enum Fence<'a, P> {
    /// The pass over the rows begins or continues.
    Passed(Run<'a, P>),
    /// The pass must wait for at least this time. Older programs may have requests in flight, or another run is in progress.
    Waits(Duration),
}

/// Returns how much longer requests that were admitted before `since` can take effect. Returns `None` if they no longer can. `since` may be in the future, for
/// example the expiry of a grant.
fn rest(now: u64, since: u64) -> Option<Duration> {
    let rest = since.saturating_add(ticks_of(LAST_REQUESTS)).saturating_sub(now);
    Some(Duration::from_nanos(rest.saturating_mul(100))).filter(|rest| !rest.is_zero())
}

fn rest_of_sighting(seen: &Sightings) -> Option<Duration> {
    seen.older.and_then(|older| rest(seen.now, older))
}

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Decides whether a backfill may begin or continue its pass over the rows. `note` identifies the index, copies or feed in the schema's list of pending
    /// parts. If no older programs exist, the pass may always begin.
    ///
    /// Changes nothing if another program stores a different schema at the same time, because this program must first read that schema.
    pub(crate) async fn pass_fence<'a, P: Default + DeserializeOwned>(
        &self,
        layout: &SchemaRecord,
        note: &'a str,
        has_older: bool,
    ) -> Result<Fence<'a, P>> {
        if let Some(run) = Run::of(layout, note) {
            return Ok(Fence::Passed(run));
        }
        let start = new_pass(self.retry.runtime().random());
        let (layout, delay) = if has_older {
            self.fence(layout, note, &start).await?
        } else {
            (self.update_if_seen(layout, |layout| skip(layout, note, &start)).await?, AGAIN)
        };
        let run = layout.and_then(|layout| Run::of(&layout, note));
        Ok(run.map_or(Fence::Waits(delay), Fence::Passed))
    }

    /// Begins the pass at `start` unless older programs may still write. Returns the resulting schema record, and the delay before the next attempt if the pass
    /// has not begun. The record is `None` if the pass certainly has not begun.
    async fn fence(
        &self,
        seen: &SchemaRecord,
        note: &str,
        start: &str,
    ) -> Result<(Option<SchemaRecord>, Duration)> {
        let closing = if let Some(closing) = seen.progress.get(note) {
            closing.clone()
        } else {
            let sightings = self.table.sightings().await?;
            let Some(first) = seen.waiting.get(note) else {
                let is_seen = self.update_if_seen(seen, |layout| wait(layout, note, sightings.now)).await?;
                return Ok((None, is_seen.map_or(AGAIN, |_| LAST_REQUESTS)));
            };
            if let Some(rest) = rest(sightings.now, *first).max(rest_of_sighting(&sightings)) {
                return Ok((None, rest));
            }
            // Concurrent runs may read the same time. The random number prevents one run from ending a refusal that another run has begun.
            let closing = closing(sightings.now, self.retry.runtime().random());
            if self.update_if_seen(seen, |layout| close(layout, note, &closing)).await?.is_none() {
                return Ok((None, AGAIN));
            }
            closing
        };
        // IMPORTANT: older programs are refused from here on. Any program that was admitted earlier has recorded a sighting, which the next call reads.
        let left = rest_of_sighting(&self.table.sightings().await?);
        let next = left.is_none().then_some(start);
        let layout = self.update_if_seen(seen, |layout| settle(layout, note, &closing, next)).await?;
        Ok((layout, left.unwrap_or(AGAIN)))
    }

    /// Changes the schema record and returns it. If the record no longer contains the schema that this program has seen, changes nothing and returns `None`.
    ///
    /// IMPORTANT: an earlier schema can be stored again. Times and sightings read before that do not cover programs that wrote in between. Therefore, the
    /// record's generation must also be unchanged.
    async fn update_if_seen(
        &self,
        seen: &SchemaRecord,
        change: impl Fn(&mut SchemaRecord),
    ) -> Result<Option<SchemaRecord>> {
        let stored = |layout: &SchemaRecord| (layout.generation, layout.since);
        let is_seen = |layout: &SchemaRecord| layout.schema == seen.schema && stored(layout) == stored(seen);
        let change = |layout: &mut SchemaRecord| {
            if is_seen(layout) {
                change(layout);
            }
        };
        let layout = self.table.update_schema_record(change).await?;
        Ok(Some(layout).filter(is_seen))
    }
}

/// Records the time of the backfill's first run. The waiting period starts at this time.
fn wait(layout: &mut SchemaRecord, note: &str, now: u64) {
    if layout.pending.iter().any(|pending| pending == note) {
        layout.waiting.entry(note.to_owned()).or_insert(now);
    }
}

/// Records that older programs are refused. Does nothing if another run has already recorded this.
fn close(layout: &mut SchemaRecord, note: &str, closing: &str) {
    if layout.pending.iter().any(|pending| pending == note) {
        layout.progress.entry(note.to_owned()).or_insert_with(|| closing.to_owned());
    }
}

/// Ends the refusal that `closing` identifies. If `start` is given, the pass begins there. Otherwise, older programs may write again. Does nothing if another
/// run has ended this refusal.
fn settle(layout: &mut SchemaRecord, note: &str, closing: &str, start: Option<&str>) {
    if layout.progress.get(note).is_some_and(|position| position == closing) {
        match start {
            Some(start) => drop(layout.progress.insert(note.to_owned(), start.to_owned())),
            None => drop(layout.progress.remove(note)),
        }
    }
}

/// Begins the pass at `start` without refusing older programs. Does nothing if the pass has already begun.
fn skip(layout: &mut SchemaRecord, note: &str, start: &str) {
    if layout.pending.iter().any(|pending| pending == note) {
        let position = layout.progress.entry(note.to_owned()).or_insert_with(|| start.to_owned());
        if !is_pass(position) {
            start.clone_into(position);
        }
    }
}
