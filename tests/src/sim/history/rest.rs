//! An engine at rest: merges end, nothing more is written, every row is found, and layers and room have their bounds.

use std::sync::Arc;
use std::time::Duration;

use table_core::embedded::Engine;
use table_core::embedded::threads::Scheduler;

use super::History;
use crate::sim::model::Wrong;
use crate::sim::schedule::Shared;

/// Longer than an engine takes to merge everything that a history writes.
const REST: Duration = Duration::from_secs(20);

impl History {
    /// Lets the engine finish all its work, and looks at everything.
    pub(super) fn rest(&mut self, engine: &Engine) -> Result<(), Wrong> {
        self.hear_all()?;
        if self.has_failed() || self.is_full() || self.disk.has_lost_power() {
            return Ok(());
        }
        let sleep = || Shared(Arc::clone(&self.schedule)).sleep(REST);
        sleep();
        let changes = self.disk.changes();
        sleep();
        if self.has_failed() || self.is_full() || self.disk.has_lost_power() {
            return Ok(());
        }
        if self.disk.changes() != changes {
            let statistics = engine.statistics();
            return Err(Wrong(format!("an engine at rest writes: {statistics:?}")));
        }
        self.seen.rests += 1;
        self.look_at_everything(engine)
    }
}
