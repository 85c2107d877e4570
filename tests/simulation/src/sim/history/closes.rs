//! Tests that every caller receives a result when the engine is closed. Some callers are waiting at that time, and others are sending requests.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use rand::RngExt;
use table_core::ErrorCode;
use table_core::embedded::Engine;
use table_core::embedded::testing::Scheduler;

use super::{FOLDER, History};
use crate::power::SimulatedDisk;
use crate::sim::model::Wrong;
use crate::sim::schedule::Shared;

/// The result of a close. The flag is `true` if the folder was still locked when the close returned.
type Closed = (table_core::Result<()>, bool);

/// Returns `true` if an engine has the folder open.
fn is_locked(disk: &SimulatedDisk) -> bool {
    ["LOCK", "FORMAT"].iter().any(|name| disk.is_locked(&Path::new(FOLDER).join(name)))
}

impl History {
    /// In some histories, starts another thread that closes the engine at the same time.
    fn start_second_close(&mut self, engine: &Engine) -> Option<Arc<Mutex<Option<Closed>>>> {
        if !self.neighbours.are_there || self.neighbours.random.random() {
            return None;
        }
        let second = Arc::new(Mutex::new(None));
        let (engine, schedule, disk) = (engine.clone(), Arc::clone(&self.schedule), self.disk.clone());
        let result = Arc::clone(&second);
        let work = move || {
            let closed = schedule.block_on(engine.close());
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some((closed, is_locked(&disk)));
        };
        let started = Shared(Arc::clone(&self.schedule)).spawn("closer", Box::new(work));
        started.is_ok().then_some(second)
    }

    /// Closes the engine while some callers are waiting and others are sending requests. Once the engine is closed, every caller must have a result.
    pub(super) fn close(&mut self, engine: &Engine) -> Result<(), Wrong> {
        self.excuses.closing = true;
        self.model.may_skip = true;
        let second = self.start_second_close(engine);
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
        let mut all: Vec<Closed> = closed.into_iter().map(|closed| (closed, is_locked(&self.disk))).collect();
        if let Some(second) = second {
            let take = || second.lock().unwrap_or_else(PoisonError::into_inner).take();
            Shared(Arc::clone(&self.schedule)).wait(None, &mut || {
                all.extend(take());
                all.len() == 2
            });
        }
        self.hear()?;
        self.read_beside_close(engine)?;
        if let Some(left) = self.asked.first() {
            return Err(Wrong(format!("the engine is closed, and {} waits for ever", left.id)));
        }
        self.log.add(format!("closed: {all:?}"));
        self.let_go();
        let is_closed =
            |closed: &Closed| closed.0.as_ref().is_err_and(|error| error.code() == ErrorCode::EngineClosed);
        let done = all.iter().filter(|closed| closed.0.is_ok()).count();
        let is_right = done > 0 && all.iter().all(|closed| closed.0.is_ok() || is_closed(closed));
        if !is_right && !self.has_failed() || all.iter().any(|(_, is_locked)| *is_locked) {
            return Err(Wrong(format!("the closes ended with {all:?}")));
        }
        Ok(())
    }
}
