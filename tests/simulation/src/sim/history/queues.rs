//! The callers' queue requests.

use std::time::Duration;

use rand::RngExt;
use table_core::embedded::Engine;
use table_core::queue::{Lease, PutMessage, QueueName, QueueStore};
use table_core::{ErrorCode, Result};

use super::History;
use super::asks::Told;
use crate::sim::model::{Number, State, Write, Wrong};

/// A duration that the clock of a history never reaches.
pub(super) const LONG: Duration = Duration::from_secs(7 * 24 * 60 * 60);

pub(super) fn queue() -> Result<QueueName> {
    QueueName::new("work")
}

/// Returns the number of a lease's message.
fn message(lease: &Lease) -> Option<Number> {
    lease.message.text.parse().ok()
}

/// If the write was a receive, returns the number of the received message.
pub(super) fn received(write: &Write, lease: &Lease) -> Option<Number> {
    matches!(write, Write::Receive { .. }).then(|| message(lease)).flatten()
}

impl History {
    pub(super) fn ask_queue(&mut self, engine: &Engine) {
        if !self.model.has_room(self.life.callers) {
            return;
        }
        let Ok(queue) = queue() else { return };
        let (engine, number) = (engine.clone(), self.next);
        if self.model.states().iter().all(|state| state.queue.is_none()) {
            let future = async move { engine.create_queue(&queue).await.map(|_| Told::Lease(None)) };
            return self.ask(Some(Write::CreateQueue), Box::pin(future));
        }
        let held = self.any_lease();
        match (held, self.random.random_range(0..10)) {
            (Some((receipt, lease)), 0..=1) => {
                let Some(message) = message(&lease) else { return };
                let future = async move {
                    let deleted = engine.delete(&queue, &lease.message.id, &lease.receipt).await;
                    deleted.map(|()| Told::Lease(None))
                };
                self.ask(Some(Write::Delete { message, receipt }), Box::pin(future));
            }
            (Some((receipt, lease)), 2..=3) => {
                let Some(message) = message(&lease) else { return };
                let shows = self.random.random();
                let hidden = if shows { Duration::ZERO } else { LONG };
                let future = async move {
                    engine.update(&queue, &lease, hidden, None).await.map(|lease| Told::Lease(Some(lease)))
                };
                self.ask(Some(Write::Update { message, receipt, shows, number }), Box::pin(future));
            }
            // A receive skips corrupted messages, and the model does not know which messages are corrupted.
            (_, 4..=6) if self.excuses.is_damaged() => {}
            (_, 4..=6) => {
                let future = async move {
                    engine.receive(&queue, 1, LONG).await.map(|mut leases| Told::Lease(leases.pop()))
                };
                self.ask(Some(Write::Receive { number }), Box::pin(future));
            }
            _ => {
                let message = PutMessage::new(number.to_string()).time_to_live(self.time.life());
                let future =
                    async move { engine.put(&queue, message).await.map(|lease| Told::Lease(Some(lease))) };
                self.ask(Some(Write::Put { number }), Box::pin(future));
            }
        }
    }

    /// Returns a random lease that was granted earlier, and the operation that granted it. The receipt of the lease is usually no longer valid.
    fn any_lease(&mut self) -> Option<(Number, Lease)> {
        let place = self.random.random_range(0..self.leases.len().max(1));
        // Recent leases are more likely.
        let place = if self.random.random() { place } else { place.min(3) };
        self.leases.iter().rev().nth(place).map(|(number, lease)| (*number, lease.clone()))
    }

    /// Records a lease. Its message must have been put before. Its receipt must be unique.
    pub(super) fn note_lease(&mut self, write: &Write, lease: &Lease) -> std::result::Result<(), Wrong> {
        let (Write::Put { number } | Write::Receive { number } | Write::Update { number, .. }) = write else {
            return Ok(());
        };
        if self.leases.values().any(|other| other.receipt == lease.receipt) {
            return Err(Wrong(format!("operation {number} gave a receipt that another gave: {lease:?}")));
        }
        self.leases.insert(*number, lease.clone());
        Ok(())
    }

    /// Checks that the engine counts as many messages as the model. If some messages may be unreadable, it may count fewer. Corruption never makes a count
    /// fail.
    pub(super) fn count_messages(&mut self, engine: &Engine) -> std::result::Result<(), Wrong> {
        let Ok(queue) = queue() else { return Ok(()) };
        let count = match pollster::block_on(engine.approximate_count(&queue)) {
            // A count skips unreadable parts of the queue. After a power loss, nothing is readable, so the count proves nothing.
            Ok(_) if self.disk.has_lost_power() => return Ok(()),
            Ok(count) => Some(count),
            Err(error) if error.code() == ErrorCode::QueueNotFound => None,
            Err(_) if self.disk.has_lost_power() => return Ok(()),
            Err(error) if error.code() != ErrorCode::Corrupted && self.may_fail(&error) => return Ok(()),
            Err(error) => return Err(Wrong(format!("a count of messages received {error}"))),
        };
        self.seen.reads += 1;
        self.schedule.note(count);
        let is_damaged = self.excuses.is_damaged();
        let agrees = |state: &State| {
            let messages = state.queue.as_ref().map(|messages| messages.len() as u64);
            messages == count || (is_damaged && messages.is_some() && count < messages && count.is_some())
        };
        self.model.observe(agrees, || format!("the queue has {count:?} messages"))
    }
}
