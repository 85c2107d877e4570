//! The decisions that implement the queue operations (QUE-10 to QUE-13).

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use table_store::queue::{Lease, Message, MessageId, PopReceipt, PutMessage, TimeToLive};
use table_store::row::Row;
use table_store::{Error, Result, ticks};

use crate::base::Skipped;
use crate::decision::Ground;
use crate::front::Front;
use crate::key::Key;
use crate::queue::fault::StoredQueueFault;
use crate::queue::rows::{self, Shown};

/// The maximum number of expired messages that one decision removes.
pub(super) const EXPIRED: usize = 256;
/// A put searches for expired messages only once in this many put operations. The others read nothing, because a search delays all writers of the engine.
const PUTS: usize = 8;
/// The maximum number of expired messages that a put removes.
///
/// The number is greater than [`PUTS`], and each search continues where the last one ended. Expired messages are therefore removed faster than new messages are
/// added. This limits the share of expired messages in a queue without receivers.
const EXPIRED_AT_PUT: usize = 2 * PUTS;
/// The maximum number of entries that a put examines to find expired messages.
const EXAMINED_AT_PUT: usize = 8 * PUTS;
/// The maximum number of entries that the cleanup after a peek examines to find expired messages.
const EXAMINED_AT_PEEK: usize = 2 * EXPIRED;
/// The maximum number of corrupted rows that one decision sets aside.
const DAMAGED: usize = 16;
/// The maximum number of tombstones that one decision skips. If more follow, the caller skips them on its own thread.
pub(super) const TRACES: usize = 256;

/// Returns the sum of `now` and `time`, in ticks.
fn after(now: u64, time: Duration) -> u64 {
    let more = u64::try_from(time.as_nanos() / 100).unwrap_or(u64::MAX);
    now.saturating_add(more).min(ticks::MAX)
}

/// Adds a message to the queue, and returns its lease.
pub(super) fn put(ground: &mut Ground<'_>, message: &PutMessage) -> Result<Lease> {
    ground.grow()?;
    // The first put after the engine has been opened also searches. Otherwise, expired messages would remain if a program puts only a few messages each time it
    // runs.
    if ground.positions.puts == 0 {
        let from = ground.positions.search;
        // If the queue cannot be read, its expired messages remain, but the new message is still added. The next search then starts at the head. It also starts
        // there if the last search has examined all visible messages.
        let end = remove_expired(ground, from, EXPIRED_AT_PUT, EXAMINED_AT_PUT);
        ground.positions.search = end.ok().flatten().unwrap_or_default();
    }
    ground.positions.puts = (ground.positions.puts + 1) % PUTS;
    let id = rows::new_id(ground.ticks);
    let expires = match message.time_to_live {
        TimeToLive::For(time) => Some(after(ground.now, time)),
        TimeToLive::Never => None,
    };
    let shown = Shown { id: id.clone(), expires, dequeue_count: 0 };
    if let Some(key) = rows::message_key(ground.table, &id) {
        ground.put(key, rows::Body::write(&message.text, ground.now, expires));
    }
    let (receipt, visible) = show(ground, &shown, message.hidden, 0);
    let (inserted, expires) = (rows::datetime(ground.now), expires.map(rows::datetime));
    let message = Message::new(id, message.text.clone(), inserted, expires, 0);
    Ok(Lease::new(message, receipt, rows::datetime(visible)))
}

/// Hides a message for the visibility timeout `hidden`. Returns the new receipt, and the time at which the message becomes visible again.
fn show(ground: &mut Ground<'_>, shown: &Shown, hidden: Duration, place: usize) -> (PopReceipt, u64) {
    let visible = after(ground.now, hidden);
    let (key, receipt) = rows::shown_key(ground.table, visible, ground.ticks, place);
    ground.put(key, shown.write());
    (receipt, visible)
}

/// The visible messages that a decision has found. They are sorted by the time at which they became visible.
struct Visible {
    found: Vec<(Key, Shown)>,
    expired: Vec<(Key, Shown)>,
    damaged: Vec<(Key, Row)>,
    rest: Rest,
    /// The position before which no message remains once the messages and corrupted rows listed here have been removed.
    front: Front,
}

/// The part of the queue that a decision has not examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The queue contains no further messages that were visible when the receive began.
    Nothing,
    /// More messages follow, visible or expired.
    Messages,
    /// Tombstones of received messages follow, and possibly messages after them. Every readable message before the given position was examined.
    Traces(Front),
}

/// Finds the first `count` messages at or after the position `from`. Only messages that became visible at the time `until` or earlier are included.
fn visible(ground: &mut Ground<'_>, from: Front, count: usize, until: u64) -> Result<Visible> {
    let front = Front { instant: until, ticks: 0 };
    let (found, expired, damaged) = (Vec::new(), Vec::new(), Vec::new());
    let mut visible = Visible { found, expired, damaged, rest: Rest::Nothing, front };
    let (mut traces, skipped) = (0, Skipped::default());
    let gap =
        ground.state.scan_readable(&rows::shown_span(ground.table, from, until), &skipped, |key, row| {
            let Some(row) = row else {
                traces += 1;
                if traces < TRACES {
                    return Ok(ControlFlow::Continue(()));
                }
                visible.front = rows::front_of(&key.to_vec())?;
                visible.rest = Rest::Traces(visible.front);
                return Ok(ControlFlow::Break(()));
            };
            let Visible { found, expired, damaged, .. } = &visible;
            if found.len() == count || expired.len() == EXPIRED || damaged.len() == DAMAGED {
                visible.front = rows::front_of(&key.to_vec())?;
                visible.rest = Rest::Messages;
                return Ok(ControlFlow::Break(()));
            }
            let key = Arc::from(key.to_vec());
            match Shown::read(row) {
                Ok(shown) if shown.is_expired(ground.now) => visible.expired.push((key, shown)),
                Ok(shown) => visible.found.push((key, shown)),
                Err(error) => {
                    rows::report(&key, &error);
                    visible.damaged.push((key, rows::aside(row, &error)));
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
    ground.remember(gap);
    visible.front = visible.front.min(rows::end_of_readable(ground.table, from, &skipped)?);
    Ok(visible)
}

/// Hides up to `count` visible messages for the visibility timeout `hidden`. Returns their leases, and the state of the rest of the queue.
///
/// - A message with a corrupted text is hidden without a lease. A corrupted visibility row is set aside. In both cases, the messages after it can be received.
/// - Messages before `from` are not received.
/// - Messages that became visible after `began`, the time of the call's first decision, are not received. These include messages that the call itself has
///   hidden, so even a long call examines each message only once.
pub(super) fn receive(
    ground: &mut Ground<'_>,
    from: Front,
    count: usize,
    hidden: Duration,
    began: u64,
) -> Result<(Vec<Lease>, Rest)> {
    let from = ground.positions.front.max(from);
    let Visible { found, expired, damaged, rest, front } = visible(ground, from, count, began)?;
    let mut leases = Vec::with_capacity(found.len());
    for (place, (key, shown)) in found.into_iter().enumerate() {
        let received = Shown { dequeue_count: shown.dequeue_count.saturating_add(1), ..shown.clone() };
        let message = rows::readable(ground.state, ground.table, &received)?;
        ground.delete(key);
        let left = if message.is_some() { &received } else { &shown };
        let (receipt, visible) = show(ground, left, hidden, place);
        leases.extend(message.map(|message| Lease::new(message, receipt, rows::datetime(visible))));
    }
    for (key, shown) in expired {
        remove(ground, key, &shown.id);
    }
    for (key, aside) in damaged {
        ground.put(rows::aside_key(ground.table, &key)?, aside);
        ground.delete(key);
    }
    // IMPORTANT: the clock never goes backwards. A message that is put or hidden later therefore becomes visible at `began` or later, and is never before the
    // head. Thanks to the head, a receive need not skip the tombstones of all received messages.
    ground.pass(from, front);
    Ok((leases, rest))
}

/// Removes expired messages, starting at `from`, and advances the head of the queue to the first remaining message. This function is called when a peek has
/// skipped many tombstones and expired messages.
pub(super) fn clean(ground: &mut Ground<'_>, from: Front) -> Result<()> {
    remove_expired(ground, from, EXPIRED, EXAMINED_AT_PEEK).map(|_| ())
}

/// Removes up to `most` expired messages from the queue. The search starts at `from` and examines at most `examined` entries. Returns the position of the first
/// entry that was not examined, or `None` if all entries were examined.
///
/// If no message is before `from`, the head advances to the first remaining message.
fn remove_expired(
    ground: &mut Ground<'_>,
    from: Front,
    most: usize,
    examined: usize,
) -> Result<Option<Front>> {
    let (from, skipped) = (ground.positions.front.max(from), Skipped::default());
    let (mut expired, mut remaining, mut end, mut left) = (Vec::new(), None, None, examined);
    let span = rows::shown_span(ground.table, from, ground.now);
    let gap = ground.state.scan_readable(&span, &skipped, |key, row| {
        let (is_full, is_over) = (expired.len() == most, left == 0);
        match row.map(Shown::read) {
            None if !is_over => {}
            Some(Ok(shown)) if !is_over && !is_full && shown.is_expired(ground.now) => {
                expired.push((Key::from(key.to_vec()), shown.id));
            }
            _ if remaining.is_none() => remaining = Some(rows::front_of(&key.to_vec())?),
            _ => {}
        }
        if is_over || is_full && remaining.is_some() {
            end = Some(rows::front_of(&key.to_vec())?);
            return Ok(ControlFlow::Break(()));
        }
        left -= 1;
        Ok(ControlFlow::Continue(()))
    })?;
    // The gap lets later searches skip the tombstones that follow a message that has not expired.
    ground.remember(gap);
    for (key, id) in expired {
        remove(ground, key, &id);
    }
    let front = remaining.unwrap_or(Front { instant: ground.now, ticks: 0 });
    ground.pass(from, front.min(rows::end_of_readable(ground.table, from, &skipped)?));
    Ok(end)
}

fn remove(ground: &mut Ground<'_>, key: Key, id: &MessageId) {
    ground.delete(key);
    if let Some(key) = rows::message_key(ground.table, id) {
        ground.delete(key);
    }
}

/// Returns the message to which a receipt refers.
fn held(ground: &Ground<'_>, id: &MessageId, receipt: &PopReceipt) -> Result<(Key, Shown)> {
    if let Some(key) = rows::key_of_receipt(ground.table, receipt)
        && let Some(row) = ground.state.get(&key)?
    {
        let shown = Shown::read(row.view())?;
        if shown.id == *id && !shown.is_expired(ground.now) {
            return Ok((key, shown));
        }
    }
    let row = rows::message_key(ground.table, id).map(|key| ground.state.get(&key)).transpose()?.flatten();
    if let Some(row) = row
        && !rows::Body::read(row.view())?.is_expired(ground.now)
    {
        return Err(Error::of(StoredQueueFault::Taken(id.clone())));
    }
    Err(Error::of(StoredQueueFault::Gone(id.clone())))
}

/// Changes the visibility timeout of a message, and replaces its text if a new text is given.
pub(super) fn update(
    ground: &mut Ground<'_>,
    lease: &Lease,
    hidden: Duration,
    text: Option<&str>,
) -> Result<Lease> {
    let (key, shown) = held(ground, &lease.message.id, &lease.receipt)?;
    let mut message = rows::message(ground.state, ground.table, &shown)?;
    if text.is_some_and(|text| text.len() > message.text.len()) {
        ground.grow()?;
    }
    ground.delete(key);
    let (receipt, visible) = show(ground, &shown, hidden, 0);
    if let Some(text) = text
        && let Some(key) = rows::message_key(ground.table, &shown.id)
    {
        let inserted = ticks::from_datetime(message.inserted).unwrap_or_default();
        ground.put(key, rows::Body::write(text, inserted, shown.expires));
        text.clone_into(&mut message.text);
    }
    Ok(Lease::new(message, receipt, rows::datetime(visible)))
}

/// Deletes a message if the receipt is valid.
pub(super) fn delete(ground: &mut Ground<'_>, id: &MessageId, receipt: &PopReceipt) -> Result<()> {
    let (key, shown) = held(ground, id, receipt)?;
    remove(ground, key, &shown.id);
    Ok(())
}
