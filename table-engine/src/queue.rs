//! The engine as a [`QueueStore`]. A queue is an internal table. Each operation is one decision on this table.
//!
//! - A message has two rows (`docs/format.md`, "Queues"). One contains its text and is keyed by id, and the other contains its visibility and is keyed by time.
//!   As a result, the next message to receive is the first row in a range, and receiving it does not rewrite the text.
//! - The committer runs decisions one after another on the latest state, in the same groups as other writes. As a result, receivers never conflict, and never
//!   hold the same message at the same time. They also share syncs.
//! - Times come from a steady clock, which is derived from the engine's [clock](crate::EngineOptions::clock). Tests can set the engine's clock. Leases end on
//!   time even if the engine's clock has jumped forward and back. No message expires before a correct clock reaches its expiry.
//! - If a row of a message is in a corrupted block of the base, the message is neither received nor peeked. Other messages are not affected. If the visibility
//!   row is intact, the approximate message count includes the message until it expires.
//! - A receive skips a corrupted block. The block is not read again until the folder is reopened. If the disk returns an error instead of corrupted bytes, each
//!   receive reads the block again.

mod count;
mod decisions;
mod fault;
mod rows;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::time::Duration;

use table_store::name::TableName;
use table_store::queue::{Lease, Message, MessageId, PopReceipt, PutMessage, QueueName, QueueStore, check};
use table_store::{Error, ErrorCode, Result};
use tracing::Instrument;

use crate::base::Skipped;
use crate::decision::{Decide, Ground};
use crate::engine::Engine;
use crate::event::event;
use crate::front::{Front, Searched};
use crate::request::{Request, Write};

use decisions::Rest;
use fault::StoredQueueFault;

/// The name prefix of a queue's table.
const QUEUE: &str = "queue-";

/// Returns the table of a queue. Programs cannot access it by name.
pub(crate) fn table_of(queue: &QueueName) -> TableName {
    TableName::internal(&format!("{QUEUE}{queue}"))
}

/// Converts an error for a queue's table into an error that names the queue.
pub(crate) fn in_queue(queue: &QueueName, error: Error) -> Error {
    match error.code() {
        ErrorCode::TableNotFound | ErrorCode::ResourceNotFound => {
            Error::of(StoredQueueFault::NotFound(queue.clone()))
        }
        ErrorCode::TableBeingDeleted => Error::of(StoredQueueFault::BeingDeleted(queue.clone())),
        _ => error.with_context(&format!("queue `{queue}`")),
    }
}

impl Engine {
    /// Returns at most `top` queue names in order. `from` is the name or prefix at which the list starts.
    ///
    /// ```
    /// use table_core::{Engine, QueueName, QueueStore};
    ///
    /// # pollster::block_on(async {
    /// let engine = Engine::in_memory();
    /// for name in ["work", "archive", "work-poison"] {
    ///     engine.create_queue(&QueueName::new(name)?).await?;
    /// }
    /// assert_eq!(engine.list_queues("work", 5)?, [QueueName::new("work")?, QueueName::new("work-poison")?]);
    /// assert_eq!(engine.list_queues("", 1)?, [QueueName::new("archive")?]);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// - `ServerBusy` if [`FaultInjection`](crate::FaultInjection) injects it into this call.
    /// - `EngineClosed` if the engine is closed.
    /// - `EnginePoisoned` if a panic has interrupted a write to an in-memory engine.
    pub fn list_queues(&self, from: &str, top: usize) -> Result<Vec<QueueName>> {
        self.check_busy()?;
        let state = self.inner.state()?;
        let first = TableName::internal(&format!("{QUEUE}{from}"));
        let names =
            state.catalog.from(first.folded()).map_while(|name| name.strip_prefix('$')?.strip_prefix(QUEUE));
        names.take(top).map(QueueName::new).collect()
    }

    /// Returns the name of a private table for a program that is built on the engine, such as a server. The program's users cannot access the table, because
    /// listings omit it and [`TableName::new`] rejects its name.
    ///
    /// ```
    /// use table_core::{Engine, TableName, TableStore};
    ///
    /// # pollster::block_on(async {
    /// let (engine, settings) = (Engine::in_memory(), Engine::private_table("settings"));
    /// engine.create_table(&settings).await?;
    /// assert!(TableName::new(settings.as_str()).is_err());
    /// assert!(engine.list_tables("", None, 10).await?.names.is_empty());
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn private_table(name: &str) -> TableName {
        TableName::internal(&format!("private-{name}"))
    }

    /// Returns the error that [`FaultInjection`](crate::FaultInjection) injects into this call, if any, with the name of the queue.
    fn check_queue_busy(&self, queue: &QueueName) -> Result<()> {
        self.check_busy().map_err(|error| in_queue(queue, error))
    }

    /// Sends a decision on a queue to the committer and returns its result.
    async fn decide<T: Send + 'static>(
        &self,
        queue: &QueueName,
        verb: &'static str,
        take: impl FnOnce(&mut Ground<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.check_queue_busy(queue)?;
        let span = tracing::debug_span!(target: "table_core::engine", "queue", verb, queue = queue.as_str());
        let table = table_of(queue);
        let decided = self.ask(|answer| {
            Request::Write(Write::Decide { table, decision: Box::new(Decide::new(take, answer)) })
        });
        decided.instrument(span).await.map_err(|error| in_queue(queue, error))
    }

    /// Finds the first remaining message and skips the tombstones of received messages. The search runs on the caller's thread, so it delays no writer.
    ///
    /// The result remains valid, because later decisions insert messages only after the position found. There are two reasons: a message becomes visible no
    /// earlier than the time of the decision that inserts it, and decision times never decrease. If the times are equal, the new message has a later Timestamp.
    fn find_front(&self, queue: &QueueName) -> Result<Searched> {
        let state = self.inner.state()?;
        let table = self.table_id(&state, &table_of(queue))?;
        let (from, skipped) = (state.front(table), Skipped::default());
        let mut found = Front { instant: state.decided, ticks: 0 };
        let searched =
            state.scan_readable(&rows::shown_span(table, from, state.decided), &skipped, |key, row| {
                if row.is_none() {
                    return Ok(ControlFlow::Continue(()));
                }
                found = rows::front_of(&key.to_vec())?;
                Ok(ControlFlow::Break(()))
            });
        self.inner.shared.after_read(searched)?;
        Ok(Searched { found, front: found.min(rows::end_of_readable(table, from, &skipped)?) })
    }

    /// Returns up to `count` visible messages with intact texts, and the number of skipped tombstones and expired messages.
    fn peek_now(&self, queue: &QueueName, count: usize) -> Result<(Vec<Message>, usize)> {
        self.check_busy()?;
        let state = self.inner.state()?;
        let table = self.table_id(&state, &table_of(queue))?;
        let now = self.inner.steady.now();
        let (mut messages, mut traces) = (Vec::new(), 0);
        let read = state.scan_readable(
            &rows::shown_span(table, state.front(table), now),
            &Skipped::default(),
            |_, row| {
                let Some(row) = row else {
                    traces += 1;
                    return Ok(ControlFlow::Continue(()));
                };
                // A corrupted row is skipped here. The next receive sets it aside and reports it.
                match rows::Shown::read(row) {
                    Ok(shown) if shown.is_expired(now) => traces += 1,
                    Ok(shown) => messages.extend(rows::readable(&state, table, &shown)?),
                    Err(_) => {}
                }
                let enough = messages.len() == count;
                Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            },
        );
        self.inner.shared.after_read(read).map(|_| (messages, traces))
    }

    /// Removes expired messages, and advances the head of a queue to its first remaining message. Later reads start there.
    async fn clean(&self, queue: &QueueName) -> Result<()> {
        let Searched { found, front } = self.find_front(queue).map_err(|error| in_queue(queue, error))?;
        let clean = move |ground: &mut Ground<'_>| {
            ground.pass(Front::default(), front);
            decisions::clean(ground, found)
        };
        self.decide(queue, "clean", clean).await
    }
}

impl QueueStore for Engine {
    async fn create_queue(&self, queue: &QueueName) -> Result<bool> {
        self.check_queue_busy(queue)?;
        let table = table_of(queue);
        match self.ask(|answer| Request::Write(Write::Create { table, answer })).await {
            Ok(()) => Ok(true),
            Err(error) if error.code() == ErrorCode::TableAlreadyExists => Ok(false),
            Err(error) => Err(in_queue(queue, error)),
        }
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        self.check_queue_busy(queue)?;
        let table = table_of(queue);
        let deleted = self.ask(|answer| Request::Write(Write::Drop { table, answer })).await;
        deleted.map_err(|error| in_queue(queue, error))
    }

    /// Reads the visibility row of every message, which takes about 100 ns per message. Yields to the executor after every 10,000 rows.
    async fn approximate_count(&self, queue: &QueueName) -> Result<u64> {
        self.count_in_portions(queue).await.map_err(|error| in_queue(queue, error))
    }

    async fn put(&self, queue: &QueueName, message: PutMessage) -> Result<Lease> {
        check::message(queue, &message)?;
        self.decide(queue, "put", move |ground| decisions::put(ground, &message)).await
    }

    async fn receive(&self, queue: &QueueName, count: usize, hidden: Duration) -> Result<Vec<Lease>> {
        check::count(queue, count)?;
        check::hidden(queue, hidden, Duration::from_secs(1))?;
        let (mut searched, mut began) = (Searched::default(), None);
        loop {
            let receive = move |ground: &mut Ground<'_>| {
                ground.pass(Front::default(), searched.front);
                let began = began.unwrap_or(ground.now);
                let received = decisions::receive(ground, searched.found, count, hidden, began);
                received.map(|(leases, rest)| (leases, rest, began))
            };
            let (leases, rest, time) = self.decide(queue, "receive", receive).await?;
            began = Some(time);
            // An empty list may be returned only if the call has examined every message that was visible when its first decision ran.
            if !leases.is_empty() || rest == Rest::Nothing {
                return Ok(leases);
            }
            if let Rest::Traces(examined) = rest {
                searched = self.find_front(queue).map_err(|error| in_queue(queue, error))?;
                // IMPORTANT: the next decision starts where the last one ended. Starting at the queue's head would not ensure progress. If a part of the queue
                // is unreadable, the head may not advance.
                searched.found = searched.found.max(examined);
            }
        }
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<Message>> {
        check::count(queue, count)?;
        let (messages, traces) = self.peek_now(queue, count).map_err(|error| in_queue(queue, error))?;
        if traces > decisions::TRACES
            && !self.inner.shared.is_read_only()
            && let Err(error) = self.clean(queue).await
        {
            // The messages have been read, so this failure is harmless. It only makes later reads slower.
            event!(debug, %queue, %error, "the queue was not cleaned up");
        }
        Ok(messages)
    }

    async fn update(
        &self,
        queue: &QueueName,
        lease: &Lease,
        hidden: Duration,
        text: Option<String>,
    ) -> Result<Lease> {
        check::hidden(queue, hidden, Duration::ZERO)?;
        if let Some(text) = &text {
            check::text(queue, text)?;
        }
        let lease = lease.clone();
        let update =
            move |ground: &mut Ground<'_>| decisions::update(ground, &lease, hidden, text.as_deref());
        self.decide(queue, "update", update).await
    }

    async fn delete(&self, queue: &QueueName, id: &MessageId, receipt: &PopReceipt) -> Result<()> {
        let (id, receipt) = (id.clone(), receipt.clone());
        self.decide(queue, "delete", move |ground| decisions::delete(ground, &id, &receipt)).await
    }

    async fn clear(&self, queue: &QueueName) -> Result<()> {
        self.check_queue_busy(queue)?;
        let table = table_of(queue);
        let cleared = self.ask(|answer| Request::Write(Write::Renew { table, answer })).await;
        cleared.map_err(|error| in_queue(queue, error))
    }
}
