//! Tests restores and reads of the backup on separate threads. In the meantime, the backup may be updated.

use std::sync::{Arc, Mutex, PoisonError};

use rand::RngExt;
use table_core::embedded::EngineOptions;
use table_core::embedded::testing::Scheduler;
use table_core::{Clock, Result};

use super::History;
use super::backups::{BACKUP, Tables, is_in, tables};
use super::options::watch;
use crate::sim::model::{State, Wrong};
use crate::sim::schedule::Shared;

type Outcome = Result<std::result::Result<Tables, String>>;

/// A restore or a reader of the backup. It runs on a separate thread.
pub(super) struct Restoring {
    outcome: Arc<Mutex<Option<Outcome>>>,
    /// The states that the restore or the reader may find.
    states: Vec<Arc<State>>,
}

impl Restoring {
    fn is_over(&self) -> bool {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl History {
    /// Starts a restore or a reader, unless one is already running. A backup may be in progress, or may begin before the restore ends.
    pub(super) fn start_restore(&mut self) {
        if self.neighbours.restoring.is_some() || !self.backups.whole || self.disk.has_lost_power() {
            return;
        }
        let (schedule, shape) = (Arc::clone(&self.schedule), self.shape);
        let disk = Arc::new(self.disk.watched(move |call| watch(&schedule, call)));
        let restored = self
            .neighbours
            .random
            .random_ratio(2, 3)
            .then(|| format!("/restored-{}", self.neighbours.random.random::<u64>()));
        self.log.add(format!("a restore begins: {restored:?}"));
        let outcome = Arc::new(Mutex::new(None));
        let result = Arc::clone(&outcome);
        let work = move || {
            let options = || EngineOptions::new().disk(disk.clone()).clock(Clock::new(|| 0));
            let from = restored.as_deref().map_or(Ok(BACKUP), |to| options().restore(BACKUP, to).map(|_| to));
            let found = from
                .and_then(|from| options().open_read_only(from))
                .and_then(|reader| tables(&reader, shape));
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        };
        if Shared(Arc::clone(&self.schedule)).spawn("restore", Box::new(work)).is_ok() {
            self.neighbours.restoring = Some(Restoring { outcome, states: self.backups.states.clone() });
        }
    }

    /// Records that the content of the backup may have changed. A restore in progress may then find the new content as well.
    pub(super) fn may_restore_more(&mut self) {
        if let Some(restoring) = &mut self.neighbours.restoring {
            restoring.states.extend(self.backups.states.iter().cloned());
        }
    }

    /// Waits until the restore has ended.
    pub(super) fn await_restore(&mut self) -> std::result::Result<(), Wrong> {
        if let Some(restoring) = &self.neighbours.restoring {
            Shared(Arc::clone(&self.schedule)).wait(None, &mut || restoring.is_over());
        }
        self.end_restore()
    }

    /// If the restore has ended, checks that its rows match one of the expected states.
    pub(super) fn end_restore(&mut self) -> std::result::Result<(), Wrong> {
        let Some(Restoring { outcome, states }) = self.neighbours.restoring.take_if(|one| one.is_over())
        else {
            return Ok(());
        };
        let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        match outcome {
            Some(Ok(Ok(found))) if states.iter().any(|state| is_in(state, &found)) => {
                self.log.add("a restore ends".to_owned());
                self.seen.restores += 1;
                Ok(())
            }
            Some(Err(error)) => {
                self.log.add(format!("a restore received {error}"));
                if self.is_in_trouble() || self.excuses.is_damaged() {
                    return Ok(());
                }
                Err(Wrong(format!("a restore next to a backup received {error}")))
            }
            Some(Ok(other)) => Err(Wrong(format!("a restore next to a backup finds {other:?}"))),
            None => Ok(()),
        }
    }
}
