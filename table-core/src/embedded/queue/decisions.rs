//! The decision of each verb of a queue (QUE-10 to QUE-13).

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use crate::embedded::decision::Ground;
use crate::embedded::key::Key;
use crate::embedded::queue::fault::StoredQueueFault;
use crate::embedded::queue::rows::{self, Shown};
use crate::error::{Error, Result};
use crate::queue::{Lease, Message, MessageId, PopReceipt, PutMessage, TimeToLive};
use crate::ticks;

/// Messages whose time is over that one decision takes out at most.
pub(super) const EXPIRED: usize = 256;

/// An instant so much later, in ticks.
fn after(now: u64, time: Duration) -> u64 {
    let more = u64::try_from(time.as_nanos() / 100).unwrap_or(u64::MAX);
    now.saturating_add(more).min(ticks::MAX)
}

/// Puts a message.
pub(super) fn put(ground: &mut Ground<'_>, message: &PutMessage) -> Lease {
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
    Lease::new(message, receipt, rows::datetime(visible))
}

/// Lets a message show after a time; its new receipt and the instant.
fn show(ground: &mut Ground<'_>, shown: &Shown, hidden: Duration, place: usize) -> (PopReceipt, u64) {
    let visible = after(ground.now, hidden);
    let (key, receipt) = rows::shown_key(ground.table, visible, ground.ticks, place);
    ground.put(key, shown.write());
    (receipt, visible)
}

/// Messages that show, in the order in which they came to do so.
struct Visible {
    found: Vec<(Key, Shown)>,
    expired: Vec<(Key, Shown)>,
    /// Whether there are more of either.
    more: bool,
    /// Nothing is left before this instant, once what was found and what is expired are gone.
    front: u64,
}

fn visible(ground: &Ground<'_>, count: usize) -> Result<Visible> {
    let mut visible = Visible { found: Vec::new(), expired: Vec::new(), more: false, front: ground.now };
    ground.state.scan(&rows::shown_span(ground.table, *ground.front, ground.now), |key, row| {
        let Some(row) = row else { return Ok(ControlFlow::Continue(())) };
        if visible.found.len() == count || visible.expired.len() == EXPIRED {
            visible.front = rows::visible_of(&key.to_vec())?;
            visible.more = true;
            return Ok(ControlFlow::Break(()));
        }
        let shown = Shown::read(row)?;
        let list = if shown.is_expired(ground.now) { &mut visible.expired } else { &mut visible.found };
        list.push((Arc::from(key.to_vec()), shown));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(visible)
}

/// Takes messages and hides them. Whether there may be more: what came before them may all have been messages whose time was
/// over, of which one decision takes out only so many.
pub(super) fn receive(ground: &mut Ground<'_>, count: usize, hidden: Duration) -> Result<(Vec<Lease>, bool)> {
    let Visible { found, expired, more, front } = visible(ground, count)?;
    let mut leases = Vec::with_capacity(found.len());
    for (place, (key, mut shown)) in found.into_iter().enumerate() {
        shown.dequeue_count = shown.dequeue_count.saturating_add(1);
        let message = rows::message(ground, &shown)?;
        ground.delete(key);
        let (receipt, visible) = show(ground, &shown, hidden, place);
        leases.push(Lease::new(message, receipt, rows::datetime(visible)));
    }
    for (key, shown) in expired {
        remove(ground, key, &shown.id);
    }
    // IMPORTANT: whatever is put or hidden later shows at `now` or after, and `now` never goes back: nothing comes to lie before
    // the front. Without it each receive would pass over the traces of all that were received before.
    *ground.front = front;
    Ok((leases, more))
}

/// Shows messages and changes nothing.
pub(super) fn peek(ground: &mut Ground<'_>, count: usize) -> Result<Vec<Message>> {
    let mut messages = Vec::new();
    let mut error = None;
    ground.state.scan(&rows::shown_span(ground.table, *ground.front, ground.now), |_, row| {
        let Some(row) = row else { return Ok(ControlFlow::Continue(())) };
        let shown = Shown::read(row)?;
        if !shown.is_expired(ground.now) {
            match rows::message(ground, &shown) {
                Ok(message) => messages.push(message),
                Err(broken) => error = Some(broken),
            }
        }
        let enough = messages.len() == count || error.is_some();
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    error.map_or(Ok(messages), Err)
}

fn remove(ground: &mut Ground<'_>, key: Key, id: &MessageId) {
    ground.delete(key);
    if let Some(key) = rows::message_key(ground.table, id) {
        ground.delete(key);
    }
}

/// The message that a receipt gives the right to.
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

/// Hides a message for another time, and gives it another text.
pub(super) fn update(
    ground: &mut Ground<'_>,
    lease: &Lease,
    hidden: Duration,
    text: Option<&str>,
) -> Result<Lease> {
    let (key, shown) = held(ground, &lease.message.id, &lease.receipt)?;
    let mut message = rows::message(ground, &shown)?;
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

/// Deletes a message.
pub(super) fn delete(ground: &mut Ground<'_>, id: &MessageId, receipt: &PopReceipt) -> Result<()> {
    let (key, shown) = held(ground, id, receipt)?;
    remove(ground, key, &shown.id);
    Ok(())
}
