//! Engine options with the disk, scheduler and clock of the history.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rand::RngExt;
use table_core::embedded::{Durability, EngineOptions, FaultInjection};
use table_core::{Clock, ErrorCode, ticks};

use super::queues::LONG;
use super::{FOLDER, History};
use crate::power::Call;
use crate::sim::model::Wrong;
use crate::sim::schedule::{Schedule, Shared};

impl History {
    pub(super) fn options(&self) -> EngineOptions {
        let (schedule, log) = (Arc::clone(&self.schedule), self.log.clone());
        let disk = self.disk.watched(move |call| {
            log.call(call);
            watch(&schedule, call);
        });
        let (schedule, ticks_at_start) = (Arc::clone(&self.schedule), Arc::clone(&self.clock));
        let now = move || {
            let passed = u64::try_from(schedule.elapsed().as_nanos() / 100).unwrap_or(u64::MAX);
            ticks_at_start.load(Ordering::SeqCst).saturating_add(passed).min(ticks::MAX)
        };
        let clock = Clock::new(now);
        let clock = if self.time.measures {
            let schedule = Arc::clone(&self.schedule);
            clock.with_elapsed(move || schedule.elapsed())
        } else {
            clock
        };
        let faults = FaultInjection {
            page_entities: std::num::NonZeroUsize::new(self.life.page_entities),
            ..FaultInjection::default()
        };
        let delete_delay = if self.life.drops_slowly { LONG } else { Duration::ZERO };
        let durability = if self.life.relaxed { Durability::Relaxed } else { Durability::Durable };
        EngineOptions::new()
            .disk(Arc::new(disk))
            .scheduler(Arc::new(Shared(Arc::clone(&self.schedule))))
            .clock(clock)
            .failpoints(self.hook())
            .faults(faults)
            .durability(durability)
            .table_delete_delay(delete_delay)
            .checkpoint_bytes(self.life.checkpoint_bytes)
            .memtable_bytes(self.life.memtable_bytes)
            .cache_bytes(self.life.cache_bytes)
    }

    /// Checks that the folder stays locked, even if another program removes the lock file.
    pub(super) fn second_engine(&mut self) -> Result<(), Wrong> {
        if self.random.random() {
            self.disk.take_away(&Path::new(FOLDER).join("LOCK"));
        }
        match EngineOptions::new().disk(Arc::new(self.disk.clone())).open(FOLDER) {
            Err(error)
                if error.code() == ErrorCode::FolderLocked
                    || self.has_failed()
                    || self.is_full()
                    || self.lacks_resources() =>
            {
                Ok(())
            }
            Err(error) => Err(Wrong(format!("a second engine received {error}"))),
            Ok(second) => {
                // The scheduler does not know the thread of the second engine. The engine is therefore dropped immediately.
                drop(second);
                Err(Wrong("a second engine has the folder open".to_owned()))
            }
        }
    }
}

/// Makes each call take simulated time, and may run other threads first. The engine must not hold a lock during a call. Otherwise, threads might wait for this
/// lock, and the scheduler could not see them.
pub(super) fn watch(schedule: &Schedule, call: &Call) {
    schedule.note(call);
    let time = match call {
        Call::Sync(_) | Call::SyncDir => 500,
        Call::Write(_, _, bytes) => 5 + u64::try_from(*bytes / 1_000).unwrap_or(u64::MAX),
        _ => 5,
    };
    schedule.step(Duration::from_micros(time));
}
