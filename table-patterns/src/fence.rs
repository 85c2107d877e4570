//! The fence of a backfill (for an index, copies or a feed). It delays the backfill's pass over the rows until writes by programs with an older schema
//! can no longer take effect.
//!
//! Until then, these older programs may write. Each of them records a *sighting*, a row with the current time, before it writes. It then reads the schema
//! again. The fence refuses older programs only when none has been seen for [`LAST_REQUESTS`]. It then reads the last sighting again.
//! `docs/models/backfill.rs` checks this protocol.
//!
//! A pass over the rows has an identity, a random number that is recorded after its position. If another schema requires the work again, or a program
//! restarts the pass, the position is removed or replaced, and the runs of the earlier pass can neither record their position nor complete the part.

use std::time::Duration;

use table_core::Result;
use table_core::entity::Entity;
use table_core::runtime::ticks_of;
use table_core::store::TableStore;
use table_core::table::{SchemaRecord, Sightings};

use crate::entities::Entities;

/// The time after which no request that was admitted earlier can take effect, measured by the store's clock.
///
/// The service refuses a request whose date is more than 15 minutes off (AUTH-9). A sighting therefore comes from a program whose clock is at most 15
/// minutes ahead, and a later write by this program is accepted for at most 15 minutes after its date. The remaining half hour covers the operations
/// between the sighting and the write: a lease of five seconds, reads, and retries.
pub(crate) const LAST_REQUESTS: Duration = Duration::from_secs(60 * 60);

/// The first word of the position that a backfill records after it starts to refuse older programs and before it begins its pass. The time of the refusal
/// and a random number follow.
const CLOSING: &str = "closing";

/// The word before the number that identifies a pass. Older releases ignore it, and record positions without it.
const PASS: &str = " pass-";

/// Returns the text that records a new pass at its start. `number` is a random number.
pub(crate) fn new_pass(start: &str, number: u64) -> String {
    format!("{start}{PASS}{number:016x}")
}

/// Returns the identity of the pass in a recorded text; `None` if an older release began the pass.
fn pass_of(recorded: &str) -> Option<&str> {
    recorded.rsplit_once(PASS).map(|(_, pass)| pass)
}

/// The delay before the next attempt if another run of the same backfill is in progress.
pub(crate) const AGAIN: Duration = Duration::from_secs(1);

/// The fence's decision for one run of a backfill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// The pass over the rows begins or continues at the given position. The text also contains the identity of the pass.
    Passed(String),
    /// The pass must wait at least for the given time, because older programs may have requests in flight.
    Waits(Duration),
}

/// Returns the time for which requests that were admitted before `since` can still take effect; `None` if they no longer can. `since` may be the expiry of
/// a grant, which can be in the future.
fn rest(now: u64, since: u64) -> Option<Duration> {
    let rest = since.saturating_add(ticks_of(LAST_REQUESTS)).saturating_sub(now);
    Some(Duration::from_nanos(rest.saturating_mul(100))).filter(|rest| !rest.is_zero())
}

fn rest_of_sighting(seen: &Sightings) -> Option<Duration> {
    seen.older.and_then(|older| rest(seen.now, older))
}

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Decides whether a backfill may begin or continue its pass over the rows. `note` identifies the index, copies or feed in the schema's list of
    /// pending parts, and `start` is the start position of the pass. If no older programs exist, the pass may always begin.
    pub(crate) async fn pass_fence(
        &self,
        layout: &SchemaRecord,
        (note, start): (&str, &str),
        has_older: bool,
    ) -> Result<Fence> {
        if has_older {
            self.fence(layout, note, start).await
        } else {
            self.skip_fence(layout, note, start).await
        }
    }

    /// Makes the decision of [`pass_fence`](Self::pass_fence) in the case that older programs may write.
    async fn fence(&self, layout: &SchemaRecord, note: &str, start: &str) -> Result<Fence> {
        let closing = match layout.progress.get(note) {
            Some(position) if !position.starts_with(CLOSING) => return Ok(Fence::Passed(position.clone())),
            Some(closing) => closing.clone(),
            None => {
                let seen = self.table.sightings().await?;
                let Some(first) = layout.waiting.get(note) else {
                    self.table.update_schema_record(|layout| wait(layout, note, seen.now)).await?;
                    return Ok(Fence::Waits(LAST_REQUESTS));
                };
                if let Some(rest) = rest(seen.now, *first).max(rest_of_sighting(&seen)) {
                    return Ok(Fence::Waits(rest));
                }
                // Concurrent runs may read the same time. Without the random number, one run could end the refusal that another run began.
                let closing = format!("{CLOSING} {} {:016x}", seen.now, self.retry.runtime().random());
                let is_seen = |now: &SchemaRecord| now.schema == layout.schema;
                let close = |now: &mut SchemaRecord| {
                    if is_seen(now) {
                        close(now, note, &closing);
                    }
                };
                if !is_seen(&self.table.update_schema_record(close).await?) {
                    return Ok(Fence::Waits(AGAIN));
                }
                closing
            }
        };
        // IMPORTANT: older programs are refused from here on. A program that was admitted earlier has recorded a sighting, which this call reads.
        let left = rest_of_sighting(&self.table.sightings().await?);
        let next = left.is_none().then(|| new_pass(start, self.retry.runtime().random()));
        let next = next.as_deref();
        let layout = self.table.update_schema_record(|layout| settle(layout, note, &closing, next)).await?;
        Ok(match layout.progress.get(note) {
            Some(position) if !position.starts_with(CLOSING) => Fence::Passed(position.clone()),
            _ => Fence::Waits(left.unwrap_or(AGAIN)),
        })
    }

    /// Begins or continues the pass over the rows without waiting for older programs. If another program stores a different schema at the same time, this
    /// program must read that schema first.
    async fn skip_fence(&self, seen: &SchemaRecord, note: &str, start: &str) -> Result<Fence> {
        let start = &new_pass(start, self.retry.runtime().random());
        let is_seen = |layout: &SchemaRecord| layout.schema == seen.schema;
        let skip = |layout: &mut SchemaRecord| {
            if is_seen(layout) {
                skip(layout, note, start);
            }
        };
        let layout = self.table.update_schema_record(skip).await?;
        if !is_seen(&layout) {
            return Ok(Fence::Waits(AGAIN));
        }
        Ok(Fence::Passed(layout.progress.get(note).unwrap_or(start).clone()))
    }
}

/// Returns `true` if a part is pending, but not with the pass that `begun` records, because another schema requires the work again or the pass was restarted.
pub(crate) fn is_superseded(layout: &SchemaRecord, note: &str, begun: &str) -> bool {
    let is_pending = layout.pending.iter().any(|pending| pending == note);
    is_pending && layout.progress.get(note).is_none_or(|known| pass_of(known) != pass_of(begun))
}

/// Records the position that a pass has reached, unless another run has already completed the backfill or another pass has begun.
pub(crate) fn advance(layout: &mut SchemaRecord, note: &str, begun: &str, position: &str) {
    if is_superseded(layout, note, begun) {
        return;
    }
    if let Some(known) = layout.progress.get_mut(note) {
        *known = match pass_of(begun) {
            Some(pass) => format!("{position}{PASS}{pass}"),
            None => position.to_owned(),
        };
    }
}

/// Removes an index, copies or a feed from the schema's pending parts because the backfill is complete. Does nothing if another pass has begun.
pub(crate) fn complete(layout: &mut SchemaRecord, note: &str, begun: &str) {
    if is_superseded(layout, note, begun) {
        return;
    }
    layout.pending.retain(|pending| pending != note);
    layout.progress.remove(note);
    layout.waiting.remove(note);
}

/// Makes a part pending, with a new pass that begins at `start`. Does not change a pending part whose pass has not begun, because older programs may write.
pub(crate) fn restart(layout: &mut SchemaRecord, note: &str, start: &str) {
    if !layout.pending.iter().any(|pending| pending == note) {
        layout.pending.push(note.to_owned());
        layout.progress.insert(note.to_owned(), start.to_owned());
    } else if let Some(position) = layout.progress.get_mut(note).filter(|known| !known.starts_with(CLOSING)) {
        start.clone_into(position);
    }
}

/// Records the time of the backfill's first run, when the waiting period starts.
fn wait(layout: &mut SchemaRecord, note: &str, now: u64) {
    if layout.pending.iter().any(|pending| pending == note) {
        layout.waiting.entry(note.to_owned()).or_insert(now);
    }
}

/// Records that older programs are refused, unless another run has already recorded it.
fn close(layout: &mut SchemaRecord, note: &str, closing: &str) {
    if layout.pending.iter().any(|pending| pending == note) {
        layout.progress.entry(note.to_owned()).or_insert_with(|| closing.to_owned());
    }
}

/// Ends the refusal identified by `closing`. If `start` is given, the pass begins there; otherwise, older programs may write again. Does nothing if another
/// run has ended this refusal.
fn settle(layout: &mut SchemaRecord, note: &str, closing: &str, start: Option<&str>) {
    if layout.progress.get(note).is_some_and(|position| position == closing) {
        match start {
            Some(start) => drop(layout.progress.insert(note.to_owned(), start.to_owned())),
            None => drop(layout.progress.remove(note)),
        }
    }
}

/// Begins the pass at `start` without refusing older programs, unless the pass has already begun.
fn skip(layout: &mut SchemaRecord, note: &str, start: &str) {
    if layout.pending.iter().any(|pending| pending == note) {
        let position = layout.progress.entry(note.to_owned()).or_insert_with(|| start.to_owned());
        if position.starts_with(CLOSING) {
            start.clone_into(position);
        }
    }
}
