//! The close of an engine while callers wait and send requests.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rand::RngExt;
use table_core::embedded::Engine;
use table_core::embedded::testing::Scheduler;

use super::History;
use crate::sim::model::Wrong;
use crate::sim::schedule::Shared;

impl History {
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
