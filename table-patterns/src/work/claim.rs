//! Claims: a worker takes rows of an outbox in portions, so that many workers do the work once.
//!
//! A portion is claimed by one transaction, until the lease of the message ends. An attempt is counted where it begins: in the transaction
//! that ends the row before. A row that waited behind a long step is free again when its claim is over, and has cost nothing.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use table_core::error::{Error, ErrorCode, Result};
use table_core::key::EntityKey;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{Continuation, Query, Select};
use table_core::queue::QueueStore;
use table_core::retry::Retry;
use table_core::store::{Committed, TableStore};
use uuid::Uuid;

use crate::outbox::message::is_unreadable;
use crate::outbox::rows::{self, Note, Pending, Place, together};
use crate::outbox::work::Work;
use crate::work::fault::WorkFault;
use crate::work::handler::Keep;
use crate::work::lease::Held;
use crate::work::steps::kept;
use crate::work::worker::{Outcome, Worker};

/// Rows that a worker reads, claims and holds in memory at once.
const PORTION: usize = 32;

/// The rows of one message, as they are worked off.
struct Delivery<'a, 'q, S, Q> {
    worker: &'a Worker<S, Q>,
    held: &'a Held<'q, Q>,
    /// Tells the claims of this delivery from those of others, also where the answer to one was lost (CON-11).
    id: String,
    /// Whether the message was delivered before: its receiver may have claimed rows, and died.
    is_repeated: bool,
    /// When the first of the rows is due that were left for later.
    later: Option<u64>,
}

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Does the rows that a message names.
    pub(super) async fn rows(&self, held: &Held<'_, Q>, work: &Work, is_repeated: bool) -> Result<Outcome> {
        let id = Uuid::new_v4().simple().to_string();
        let mut delivery = Delivery { worker: self, held, id, is_repeated, later: None };
        delivery.work(work).await?;
        Ok(delivery.later.map_or(Outcome::Done, |at| Outcome::Again { at, text: None }))
    }
}

impl<S: TableStore, Q: QueueStore> Delivery<'_, '_, S, Q> {
    async fn work(&mut self, work: &Work) -> Result<()> {
        let retry = Retry::default().with_pace(self.worker.outbox.pace().clone());
        let mut from = None;
        loop {
            let mut race = retry.race("the rows of the outbox");
            let (mut portion, next) = loop {
                let (page, next) = self.page(work, from.as_ref()).await?;
                match self.claim(page).await? {
                    Some(portion) => break (portion, next),
                    None => race.lost(None).await?,
                }
            };
            let mut begun = portion.pop_front();
            while let Some(pending) = begun {
                let (pending, end) = self.attempt(pending).await?;
                begun = self.next(&pending, end, &mut portion).await?;
            }
            from = next;
            if from.is_none() {
                return Ok(());
            }
        }
    }

    /// Some of the rows that a message names.
    async fn page(
        &self,
        work: &Work,
        from: Option<&Continuation>,
    ) -> Result<(Vec<Pending>, Option<Continuation>)> {
        let (table, partition_key) = work.place();
        let store = self.worker.outbox.store();
        if let Work::Row { row_key, .. } = work {
            let key = EntityKey { partition_key: partition_key.clone(), row_key: row_key.clone() };
            let found = self.worker.retry(self.held, || store.get(table, &key, &Select::All)).await;
            let Some(found) = gone_is_none(found)? else { return Ok((Vec::new(), None)) };
            let place = Place { table: table.clone(), key };
            return Ok((vec![Pending::of(place, found.row.view(), found.etag)?], None));
        }
        let query = Query { top: Some(PORTION), ..Query::new(rows::range(partition_key)) };
        let page = self.worker.retry(self.held, || store.query(table, &query, from)).await;
        let Some(page) = gone_is_none(page.map(Some))? else { return Ok((Vec::new(), None)) };
        let rows = page.rows.iter().map(|entity| Pending::read(table, entity)).collect::<Result<_>>()?;
        Ok((rows, page.continuation))
    }

    /// Takes the rows of a page that are free, oldest change first, and begins the first of them; `None` if another worker was faster.
    async fn claim(&mut self, page: Vec<Pending>) -> Result<Option<VecDeque<Pending>>> {
        let now = self.worker.outbox.pace().now();
        let (mut free, mut taken) = (Vec::new(), Vec::new());
        for pending in page.into_iter().filter(|pending| !pending.poisoned) {
            let is_ours = pending.claim.as_ref() == Some(&self.id);
            let to = if pending.not_before <= now || is_ours { &mut free } else { &mut taken };
            to.push(pending);
        }
        // The workers that have the others have a message that comes back, but for the one that had this message.
        if self.is_repeated {
            for pending in &taken {
                self.wait_until(pending.not_before);
            }
        }
        let Some(place) = free.first().map(|pending| pending.place.clone()) else {
            return Ok(Some(VecDeque::new()));
        };
        free.sort_by_key(|pending| pending.version);
        self.held.keep().await?;
        if let Some(first) = free.first_mut() {
            first.attempts = first.attempts.saturating_add(1);
        }
        let claims = free.iter().map(|pending| self.claimed(pending, pending.attempts)).collect();
        let Some(etags) = self.submit(&place, claims).await? else { return Ok(None) };
        for (pending, etag) in free.iter_mut().zip(etags) {
            pending.versioned(etag);
        }
        Ok(Some(free.into()))
    }

    /// One attempt at a row that was begun; with the operation that ends it.
    async fn attempt(&mut self, pending: Pending) -> Result<(Pending, Operation)> {
        let worker = self.worker;
        let hand = InHand { delivery: self, row: Mutex::new(pending.clone()) };
        let outcome = if pending.attempts > worker.options.poison_after {
            self.put_aside(&hand, &pending, pending.error.clone(), pending.attempts - 1).await?;
            None
        } else {
            let taken = match pending.intent() {
                Ok(intent) => worker.take_row(&hand, &pending, &intent).await,
                Err(error) => Err(error),
            };
            match taken {
                Err(error) if is_unreadable(&error) => {
                    worker.count(|metrics| metrics.failures += 1);
                    self.put_aside(&hand, &pending, Some(kept(&error)), pending.attempts).await?;
                    None
                }
                taken => Some(taken),
            }
        };
        let pending = hand.row.into_inner().unwrap_or_else(PoisonError::into_inner);
        let end = match outcome {
            None => pending.note(Note::Poisoned),
            Some(Ok(())) => pending.done(),
            Some(Err(error)) if error.code() == ErrorCode::LayoutMismatch => {
                worker.count(|metrics| metrics.left += 1);
                // The row is free at once for a program that knows more; this one looks at it again later.
                self.wait_until(worker.next_attempt(1));
                pending
                    .note(Note::Left { error: &kept(&error), attempts: pending.attempts.saturating_sub(1) })
            }
            Some(Err(error)) => {
                worker.count(|metrics| metrics.failures += 1);
                let until = worker.next_attempt(pending.attempts);
                self.wait_until(until);
                pending.note(Note::Failed { error: &kept(&error), until })
            }
        };
        Ok((pending, end))
    }

    /// Puts a row aside as poison, with what was wrong last and how many attempts at it were begun.
    async fn put_aside(
        &self,
        hand: &dyn Keep,
        pending: &Pending,
        error: Option<String>,
        attempts: u32,
    ) -> Result<()> {
        let Place { table, key } = &pending.place;
        let (table, partition_key, row_key) = (table.clone(), key.partition_key.clone(), key.row_key.clone());
        let work = Work::Row { table, partition_key, row_key }.write()?;
        let entry = self.worker.poisoned(work, error, attempts);
        self.worker.put_aside(hand, &entry).await
    }

    /// Ends a row, and begins the next of the portion that no other worker has taken.
    async fn next(
        &mut self,
        ended: &Pending,
        end: Operation,
        portion: &mut VecDeque<Pending>,
    ) -> Result<Option<Pending>> {
        // IMPORTANT: the row goes after the last step, and the message after the row: whatever is left is done again.
        self.held.keep().await?;
        let mut end = Some(end);
        loop {
            let begin = portion.front().map(|next| self.claimed(next, next.attempts.saturating_add(1)));
            let has_next = begin.is_some();
            let operations: Vec<_> = end.iter().cloned().chain(begin).collect();
            if operations.is_empty() {
                return Ok(None);
            }
            if let Some(etags) = self.submit(&ended.place, operations).await? {
                self.count(ended, end.as_ref());
                return Ok(portion.pop_front().map(|mut next| {
                    next.attempts = next.attempts.saturating_add(1);
                    next.versioned(etags.into_iter().next_back().flatten());
                    next
                }));
            }
            // Another worker has taken one of the two.
            if let Some(end) = end.take_if(|_| has_next) {
                match self.submit(&ended.place, vec![end.clone()]).await? {
                    Some(_) => self.count(ended, Some(&end)),
                    None => self.worker.count(|metrics| metrics.lost += 1),
                }
            } else {
                self.worker.count(|metrics| metrics.lost += 1);
                end = None;
                if portion.pop_front().is_some() {
                    // He may be ourselves, if the answer to a claim was lost.
                    self.wait_until(self.held.until());
                }
            }
        }
    }

    /// The claim of a row, of which so many attempts were begun.
    fn claimed(&self, pending: &Pending, attempts: u32) -> Operation {
        pending.note(Note::Claimed { by: &self.id, attempts, until: self.held.until() })
    }

    /// Writes rows; `None` if one of them is not as it was.
    async fn submit(&self, place: &Place, operations: Vec<Operation>) -> Result<Option<Committed>> {
        let store = self.worker.outbox.store();
        let transaction = together(&place.key.partition_key, operations, store.capabilities().limits)?;
        match self.worker.retry(self.held, || store.submit(&place.table, transaction.clone())).await {
            Err(error) if error.is_conflict() || error.is_table_not_found() => Ok(None),
            committed => committed.map(Some),
        }
    }

    /// Counts a row that was ended, if it is done.
    fn count(&self, ended: &Pending, end: Option<&Operation>) {
        if end.is_some_and(|end| matches!(end.kind, OperationKind::Delete(_))) {
            let lag = self.worker.outbox.pace().now().saturating_sub(ended.version);
            self.worker.count(|metrics| metrics.finish(Some(Duration::from_micros(lag / 10))));
        }
    }

    fn wait_until(&mut self, instant: u64) {
        self.later = Some(self.later.map_or(instant, |later| later.min(instant)));
    }
}

/// A row that is worked on: its claim is extended together with the lease of the message.
struct InHand<'a, 'd, 'q, S, Q> {
    delivery: &'a Delivery<'d, 'q, S, Q>,
    row: Mutex<Pending>,
}

impl<S: TableStore, Q: QueueStore> Keep for InHand<'_, '_, '_, S, Q> {
    fn keep(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            if !self.delivery.held.extend().await? {
                return Ok(());
            }
            let row = || self.row.lock().unwrap_or_else(PoisonError::into_inner);
            let (place, claim) = {
                let row = row();
                (row.place.clone(), self.delivery.claimed(&row, row.attempts))
            };
            let Some(etags) = self.delivery.submit(&place, vec![claim]).await? else {
                return Err(Error::of(WorkFault::Claimed));
            };
            row().versioned(etags.into_iter().next().flatten());
            Ok(())
        })
    }
}

/// A table that was deleted has no rows to work on.
fn gone_is_none<T>(found: Result<Option<T>>) -> Result<Option<T>> {
    match found {
        Err(error) if error.is_table_not_found() => Ok(None),
        found => found,
    }
}
