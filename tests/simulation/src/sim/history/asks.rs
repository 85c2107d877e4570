//! The callers' requests, and their results.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use rand::RngExt;
use table_core::embedded::testing::Scheduler;
use table_core::embedded::{BackupImage, Engine};
use table_core::queue::Lease;
use table_core::store::Committed;
use table_core::{Error, ErrorCode, Result, TableStore};

use super::History;
use super::images::Image;
use super::queues::received;
use crate::sim::model::{NUMBERS, Outcome, Verb, Write, Wrong};
use crate::sim::plan::Compactions;
use crate::sim::rows;
use crate::sim::schedule::Shared;

/// The content of a successful response.
pub(super) enum Told {
    Committed(Committed),
    /// The lease of the message that was put, received or updated, if any.
    Lease(Option<Lease>),
    Image(BackupImage),
}

type Answer = Result<Told>;
pub(super) type Future = Pin<Box<dyn std::future::Future<Output = Answer>>>;

/// A pending request.
pub(super) struct Asked {
    pub(super) id: u64,
    /// The requested write, or `None` if the request does not change the model.
    write: Option<Write>,
    future: Future,
    waker: Waker,
    answer: Option<Answer>,
}

/// A waker that panics when its caller is woken.
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

/// Returns `true` if the error means that a write was refused because of stored data.
fn is_refusal(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::TableAlreadyExists
            | ErrorCode::TableBeingDeleted
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
        // The future sends its request when it is polled for the first time.
        asked.poll();
        self.schedule.did();
        self.asked.push(asked);
    }

    pub(super) fn ask_table(&mut self, engine: &Engine) {
        if !self.model.has_room(self.life.callers) {
            return;
        }
        let number = self.random.random_range(0..self.shape.tables);
        if self.random.random_ratio(2, 3) {
            self.ask_create(engine, number);
        } else {
            self.ask_drop(engine, number);
        }
    }

    /// Requests the creation of a table.
    pub(super) fn ask_create(&mut self, engine: &Engine, number: u8) {
        let (Ok(table), engine) = (rows::table(number), engine.clone()) else { return };
        let write = Write::Create { table: number, number: self.next };
        let future = async move { engine.create_table(&table).await.map(|()| Told::Lease(None)) };
        self.ask(Some(write), Box::pin(future));
    }

    /// Requests the deletion of a table.
    pub(super) fn ask_drop(&mut self, engine: &Engine, number: u8) {
        let (Ok(table), engine) = (rows::table(number), engine.clone()) else { return };
        let future = async move { engine.delete_table(&table).await.map(|()| Told::Lease(None)) };
        let write = Write::Drop { table: number, is_slow: self.life.drops_slowly };
        self.ask(Some(write), Box::pin(future));
    }

    /// Requests a checkpoint. In a life with random compactions, one in three of these requests is a compaction instead.
    pub(super) fn ask_checkpoint(&mut self, engine: &Engine) {
        let compact = self.random.random_ratio(1, 3) && self.life.compactions == Compactions::Random;
        self.ask_base(engine, compact);
    }

    /// Requests a compaction if `compact` is `true`, and a checkpoint otherwise.
    pub(super) fn ask_base(&mut self, engine: &Engine, compact: bool) {
        let engine = engine.clone();
        self.log.add(format!("{}: asks for a checkpoint, compact {compact}", self.next / NUMBERS));
        let future = async move {
            let done = if compact { engine.compact().await } else { engine.checkpoint().await };
            done.map(|()| Told::Lease(None))
        };
        self.ask(None, Box::pin(future));
    }

    /// Drops a pending future. The engine may or may not carry out the request.
    pub(super) fn go_away(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let asked = self.asked.remove(self.random.random_range(0..self.asked.len()));
        self.log.add(format!("{}: goes away", asked.id));
        self.model.give_up(asked.id);
        self.give_up_backup(asked.id);
    }

    /// Collects the available results.
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
        // Without power, reads fail too. A write that must read the base (the engine's merged files) may therefore be skipped.
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
                None => self.take_other(id, answer)?,
            }
        }
        self.end_restore()
    }

    fn take_answer(&mut self, id: u64, write: &Write, answer: &Answer) -> Result<(), Wrong> {
        let outcome = match answer {
            Ok(Told::Lease(Some(lease))) => {
                self.note_lease(write, lease)?;
                Outcome::Done(received(write, lease))
            }
            // A receive skips unreadable parts of the queue. After a power loss, nothing is readable, so an empty result proves nothing.
            Ok(_) if matches!(write, Write::Receive { .. }) && self.disk.has_lost_power() => {
                self.model.give_up(id);
                return Ok(());
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
        if matches!(outcome, Outcome::Done(_)) {
            self.note_time_of(id);
        }
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

    /// Returns `true` if an error means that nothing was done, and an event in the history explains the error. An example of such an event is a fault.
    fn is_excused(&self, error: &Error) -> bool {
        match error.code() {
            ErrorCode::DiskFull => self.is_full() && !self.full_disk.is_relieved,
            ErrorCode::EngineClosed => self.excuses.closing,
            ErrorCode::InternalError => self.excuses.time_over && error.rule() == Some("CON-12"),
            ErrorCode::ServerBusy => self.lacks_resources(),
            ErrorCode::Corrupted => self.excuses.is_damaged() || self.disk.has_lost_power(),
            ErrorCode::Io => self.disk.has_lost_power(),
            _ => false,
        }
    }

    fn take_other(&mut self, id: u64, answer: Answer) -> Result<(), Wrong> {
        match answer {
            Err(error) if !self.is_excused(&error) && !self.has_failed() => {
                Err(Wrong(format!("checkpoint or backup {id} received {error}")))
            }
            Ok(Told::Image(image)) => {
                self.backups.image_under_way = None;
                self.image = Some(Image { image, states: self.model.end_of_notes() });
                Ok(())
            }
            Err(_) => {
                self.give_up_backup(id);
                Ok(())
            }
            Ok(_) => self.end_backup(id),
        }
    }
}
