//! The requests of callers, and the results that they receive.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use rand::RngExt;
use table_core::embedded::Engine;
use table_core::embedded::testing::Scheduler;
use table_core::limits::Limits;
use table_core::queue::Lease;
use table_core::store::Committed;
use table_core::{Error, ErrorCode, IfMatch, OperationKind, Result, TableStore, Transaction};

use super::History;
use super::queues::received;
use crate::sim::model::{Condition, NUMBERS, Operation, Outcome, Place, State, Verb, Write, Wrong};
use crate::sim::plan::Work;
use crate::sim::rows;
use crate::sim::schedule::Shared;

/// The content of a successful result.
pub(super) enum Told {
    Committed(Committed),
    /// The lease of a message that was put, received or updated.
    Lease(Option<Lease>),
}

type Answer = Result<Told>;
pub(super) type Future = Pin<Box<dyn std::future::Future<Output = Answer>>>;

/// A pending request.
pub(super) struct Asked {
    pub(super) id: u64,
    /// The write; `None` if the model is not involved.
    write: Option<Write>,
    future: Future,
    waker: Waker,
    answer: Option<Answer>,
}

/// A caller whose waker panics.
struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker of this history panics");
    }
}

impl Asked {
    fn poll(&mut self) {
        if self.answer.is_none()
            && let Poll::Ready(answer) = self.future.as_mut().poll(&mut Context::from_waker(&self.waker))
        {
            self.answer = Some(answer);
        }
    }
}

/// Returns `true` if a write with this error was refused because of the stored data.
fn is_refusal(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::TableAlreadyExists
            | ErrorCode::ResourceNotFound
            | ErrorCode::TableNotFound
            | ErrorCode::EntityAlreadyExists
            | ErrorCode::UpdateConditionNotSatisfied
            | ErrorCode::QueueNotFound
            | ErrorCode::MessageNotFound
            | ErrorCode::PopReceiptMismatch
    )
}

impl History {
    pub(super) fn ask(&mut self, write: Option<Write>, future: Future) {
        let id = u64::from(self.next / NUMBERS);
        self.next = (self.next / NUMBERS + 1) * NUMBERS;
        self.schedule.note((id, write.is_some()));
        let panics = self.random.random_ratio(1, 20);
        let waker = if panics { Waker::from(Arc::new(Panics)) } else { Waker::noop().clone() };
        if let Some(write) = &write {
            self.log.add(format!("{id}: asks for {write:?}"));
            self.model.ask(id, write.clone());
        }
        let mut asked = Asked { id, write, future, waker, answer: None };
        // The first poll of the future sends the request.
        asked.poll();
        self.schedule.did();
        self.asked.push(asked);
    }

    pub(super) fn ask_table(&mut self, engine: &Engine) {
        if !self.model.has_room(self.life.callers) {
            return;
        }
        let number = self.random.random_range(0..self.shape.tables);
        let Ok(table) = rows::table(number) else { return };
        let engine = engine.clone();
        if self.random.random_ratio(2, 3) {
            let write = Write::Create { table: number, number: self.next };
            let future = async move { engine.create_table(&table).await.map(|()| Told::Lease(None)) };
            self.ask(Some(write), Box::pin(future));
        } else {
            let future = async move { engine.delete_table(&table).await.map(|()| Told::Lease(None)) };
            self.ask(Some(Write::Drop { table: number }), Box::pin(future));
        }
    }

    /// Requests a checkpoint, and in one of three cases a compaction.
    pub(super) fn ask_checkpoint(&mut self, engine: &Engine) {
        let compact = self.random.random_ratio(1, 3);
        self.ask_base(engine, compact);
    }

    /// Requests a checkpoint, and possibly a compaction.
    pub(super) fn ask_base(&mut self, engine: &Engine, compact: bool) {
        let engine = engine.clone();
        self.log.add(format!("{}: asks for a checkpoint, compact {compact}", self.next / NUMBERS));
        let future = async move {
            let done = if compact { engine.compact().await } else { engine.checkpoint().await };
            done.map(|()| Told::Lease(None))
        };
        self.ask(None, Box::pin(future));
    }

    pub(super) fn ask_transaction(&mut self, engine: &Engine) {
        if !self.model.has_room(self.life.callers) {
            return;
        }
        let states = self.model.states();
        let Some(state) = states.get(self.random.random_range(0..states.len().max(1))) else { return };
        let all: Vec<u8> = state.tables.keys().copied().collect();
        let table = match all.as_slice() {
            [] => return self.ask_table(engine),
            _ if self.random.random_ratio(1, 30) => self.random.random_range(0..self.shape.tables),
            some => some[self.random.random_range(0..some.len())],
        };
        let partition = self.random.random_range(0..self.shape.partitions);
        let operations = self.operations(state, table, partition);
        if operations.is_empty() {
            return;
        }
        let write = Write::Submit { table, partition, operations: operations.clone() };
        let transaction = self.transaction(partition, &operations);
        let (Ok(transaction), Ok(name)) = (transaction, rows::table(table)) else { return };
        let engine = engine.clone();
        let future = async move { engine.submit(&name, transaction).await.map(Told::Committed) };
        self.ask(Some(write), Box::pin(future));
    }

    /// Chooses the operations of a transaction. One in four transactions has random
    /// operations; the others have operations for the life's kind of work.
    fn operations(&mut self, state: &State, table: u8, partition: u8) -> Vec<Operation> {
        let work = if self.random.random_ratio(1, 4) { Work::Scattered } else { self.life.work };
        let rows = self.shape.rows;
        let (start, count) = (self.random.random_range(0..rows), self.random.random_range(1..=100));
        let stored = state.tables.get(&table).map(|table| table.rows());
        let stored = |from: u16| {
            let rows = stored.into_iter().flat_map(move |rows| rows.range((partition, from)..));
            rows.map(|((of, row), _)| (*of, *row)).take_while(move |(of, _)| *of == partition)
        };
        let delete = |from: u16| -> Vec<(u16, Verb)> {
            stored(from).take(count).map(|(_, row)| (row, Verb::Delete(Condition::Any))).collect()
        };
        let upsert = |from: u16| -> Vec<(u16, Verb)> {
            (from..rows).take(count).map(|row| (row, Verb::Upsert)).collect()
        };
        let chosen = match work {
            Work::Delete if self.random.random_ratio(2, 3) => delete(start),
            Work::Load | Work::Delete => upsert(start),
            Work::Queue if self.random.random() => delete(0),
            Work::Queue => {
                let behind = stored(0).last().map_or(0, |(_, row)| row + 1);
                upsert(if behind < rows { behind } else { 0 })
            }
            Work::Scattered | Work::Trickle => {
                let count =
                    if work == Work::Trickle { 1 } else { [1, 1, 2, 5][self.random.random_range(0..4)] };
                let chosen: BTreeSet<u16> = (0..count).map(|_| self.random.random_range(0..rows)).collect();
                chosen.into_iter().map(|row| (row, self.verb(state, table, (partition, row)))).collect()
            }
        };
        // The numbers are more than any transaction needs.
        let numbers = self.next..;
        let with_number = |((row, verb), number)| Operation { row, verb, number };
        chosen.into_iter().zip(numbers).map(with_number).collect()
    }

    fn verb(&mut self, state: &State, table: u8, place: Place) -> Verb {
        let there = state.tables.get(&table).and_then(|table| table.rows().get(&place)).copied();
        let newest = || self.etags.keys().next_back().copied();
        let version = if self.random.random_ratio(9, 10) { there } else { newest() };
        let known = version.filter(|number| self.etags.contains_key(number));
        let condition = known.filter(|_| self.random.random()).map_or(Condition::Any, Condition::Version);
        match (there, self.random.random_range(0..10)) {
            (None, 0..=6) | (Some(_), 0) => Verb::Insert,
            (None, 7..=8) | (Some(_), 1..=3) => Verb::Upsert,
            (Some(_), 4..=5) => Verb::Delete(condition),
            _ => Verb::Update(condition),
        }
    }

    fn transaction(&mut self, partition: u8, operations: &[Operation]) -> Result<Transaction> {
        let mut transaction = Transaction::new(self.shape.partition(partition)?, Limits::PORTABLE)?;
        for Operation { row, verb, number } in operations {
            let if_match = |condition: &Condition| match condition {
                Condition::Any => IfMatch::Any,
                Condition::Version(number) => {
                    self.etags.get(number).cloned().map_or(IfMatch::Any, IfMatch::ETag)
                }
            };
            let content = self.shape.row(*number);
            let one = number.is_multiple_of(2);
            let kind = match verb {
                Verb::Insert => OperationKind::Insert(content),
                Verb::Update(condition) if one => OperationKind::Replace(content, if_match(condition)),
                Verb::Update(condition) => OperationKind::Merge(content, if_match(condition)),
                Verb::Upsert if one => OperationKind::InsertOrReplace(content),
                Verb::Upsert => OperationKind::InsertOrMerge(content),
                Verb::Delete(condition) => OperationKind::Delete(if_match(condition)),
            };
            transaction.push(table_core::Operation { row_key: rows::row_key(*row)?, kind })?;
        }
        Ok(transaction)
    }

    /// Drops a pending future. Its request may be carried out or not.
    pub(super) fn go_away(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let asked = self.asked.remove(self.random.random_range(0..self.asked.len()));
        self.log.add(format!("{}: goes away", asked.id));
        self.model.give_up(asked.id);
        self.give_up_backup(asked.id);
    }

    /// Receives the results that are ready.
    pub(super) fn hear(&mut self) -> Result<(), Wrong> {
        self.asked.iter_mut().for_each(Asked::poll);
        self.take_answers()
    }

    /// Waits for all results.
    pub(super) fn hear_all(&mut self) -> Result<(), Wrong> {
        let asked = &mut self.asked;
        Shared(Arc::clone(&self.schedule)).wait(None, &mut || {
            asked.iter_mut().for_each(Asked::poll);
            asked.iter().all(|asked| asked.answer.is_some())
        });
        self.take_answers()
    }

    fn take_answers(&mut self) -> Result<(), Wrong> {
        // Without power, reads fail as well, so a write that reads the base may be skipped.
        self.model.may_skip |= self.disk.has_lost_power();
        let (answered, waiting) =
            std::mem::take(&mut self.asked).into_iter().partition(|asked| asked.answer.is_some());
        self.asked = waiting;
        for Asked { id, write, answer, .. } in answered {
            let Some(answer) = answer else { continue };
            let text = answer.as_ref().map_or_else(Self::describe, |_| "done".to_owned());
            self.log.add(format!("{id}: {text}"));
            self.schedule.note((id, answer.is_ok()));
            match write {
                Some(write) => self.take_answer(id, &write, &answer)?,
                None => self.take_other(id, &answer)?,
            }
        }
        Ok(())
    }

    fn take_answer(&mut self, id: u64, write: &Write, answer: &Answer) -> Result<(), Wrong> {
        let outcome = match answer {
            Ok(Told::Lease(Some(lease))) => {
                self.note_lease(write, lease)?;
                Outcome::Done(received(write, lease))
            }
            Ok(_) => Outcome::Done(None),
            Err(error) => match error.code() {
                code if is_refusal(code) => Outcome::Refused((code, error.operation())),
                ErrorCode::EnginePoisoned if self.has_failed() => {
                    self.model.give_up(id);
                    return Ok(());
                }
                _ if self.is_excused(error) => Outcome::NotDone,
                _ => return Err(Wrong(format!("{id} received {error}"))),
            },
        };
        self.model.answer(id, &outcome)?;
        if let (Ok(Told::Committed(committed)), Write::Submit { table, partition, operations }) =
            (answer, write)
        {
            self.seen.acknowledged += 1;
            for (operation, etag) in operations.iter().zip(committed) {
                match (operation.verb, etag) {
                    (Verb::Delete(_), None) => {}
                    (Verb::Delete(_), Some(_)) | (_, None) => {
                        return Err(Wrong(format!(
                            "{id}: {operation:?} is answered with the version {etag:?}"
                        )));
                    }
                    (_, Some(etag)) => {
                        self.note_version(*table, (*partition, operation.row), operation.number, etag)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns `true` if an error means that nothing was done, and this history gives a reason for it.
    fn is_excused(&self, error: &Error) -> bool {
        match error.code() {
            ErrorCode::DiskFull => self.is_full(),
            ErrorCode::EngineClosed => self.excuses.closing,
            ErrorCode::InternalError => self.excuses.time_over && error.rule() == Some("CON-12"),
            ErrorCode::ServerBusy => self.lacks_descriptors(),
            ErrorCode::Corrupted => self.excuses.is_damaged() || self.disk.has_lost_power(),
            ErrorCode::Io => self.disk.has_lost_power(),
            _ => false,
        }
    }

    fn take_other(&mut self, id: u64, answer: &Answer) -> Result<(), Wrong> {
        match answer {
            Err(error) if !self.is_excused(error) && !self.has_failed() => {
                Err(Wrong(format!("checkpoint or backup {id} received {error}")))
            }
            _ => self.end_backup(id, answer.is_ok()),
        }
    }

    /// Closes the engine while callers wait and other callers send requests. All callers must have a result once the engine is closed.
    pub(super) fn close(&mut self, engine: &Engine) -> Result<(), Wrong> {
        self.excuses.closing = true;
        self.model.may_skip = true;
        let mut close = Box::pin(engine.clone().close());
        let mut closed = None;
        for round in 0..self.random.random_range(0..6) {
            if closed.is_none()
                && let Poll::Ready(outcome) = close.as_mut().poll(&mut Context::from_waker(Waker::noop()))
            {
                closed = Some(outcome);
            }
            if self.random.random() {
                self.ask_transaction(engine);
            }
            self.read_beside_close(engine)?;
            self.schedule.did();
            self.schedule.step(std::time::Duration::from_micros(round));
            self.hear()?;
        }
        if closed.is_none() {
            Shared(Arc::clone(&self.schedule)).wait(None, &mut || {
                if let Poll::Ready(outcome) = close.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    closed = Some(outcome);
                }
                closed.is_some()
            });
        }
        self.hear()?;
        self.read_beside_close(engine)?;
        if let Some(left) = self.asked.first() {
            return Err(Wrong(format!("the engine is closed, and {} waits for ever", left.id)));
        }
        match closed {
            Some(Err(error)) if !self.has_failed() => Err(Wrong(format!("the close received {error}"))),
            outcome => {
                self.log.add(format!("closed: {outcome:?}"));
                self.let_go();
                Ok(())
            }
        }
    }
}
