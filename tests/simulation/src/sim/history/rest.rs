//! Tests that an idle engine has finished all merges, writes nothing more, and finds every row. It must also stay within its limits on layers and bytes.

use std::sync::Arc;
use std::time::Duration;

use table_core::embedded::Engine;
use table_core::embedded::testing::Scheduler;

use super::History;
use super::excuses::Damage;
use crate::sim::model::Wrong;
use crate::sim::schedule::Shared;

/// A duration that is longer than an engine needs to merge everything that a history has written.
pub(super) const REST: Duration = Duration::from_secs(20);

/// The maximum size in bytes of a block with more than one row.
const BLOCK: u64 = 8 << 10;
/// The maximum number of layers over a key range when the engine is idle.
const LAYERS: usize = 11;
/// The maximum number of layers over a key range at any time.
pub(super) const MOST_LAYERS: usize = 16;
/// The maximum number of layers in a base (the engine's merged files) with one corrupted block.
const LAYERS_OF_BROKEN: usize = 18;

impl History {
    /// Lets the engine finish all its work, and then checks all data.
    pub(super) fn rest(&mut self, engine: &Engine) -> Result<(), Wrong> {
        self.hear_all()?;
        if self.is_in_trouble() {
            return Ok(());
        }
        let sleep = || Shared(Arc::clone(&self.schedule)).sleep(REST);
        sleep();
        let changes = self.disk.changes();
        sleep();
        if self.is_in_trouble() {
            return Ok(());
        }
        if self.disk.changes() != changes {
            let statistics = engine.statistics();
            return Err(Wrong(format!("an engine at rest writes: {statistics:?}")));
        }
        self.seen.rests += 1;
        self.check_bounds(engine, LAYERS)?;
        if let Ok(statistics) = engine.statistics()
            && statistics.memtable_bytes >= self.life.checkpoint_at()
        {
            return Err(Wrong(format!("an engine at rest has a checkpoint due: {statistics:?}")));
        }
        self.look_at_everything(engine)
    }

    /// Returns `true` if a fault may prevent the engine from finishing its work.
    pub(super) fn is_in_trouble(&self) -> bool {
        self.has_failed() || self.is_full() || self.lacks_resources() || self.disk.has_lost_power()
    }

    /// Checks the limits in `docs/decisions/engine.md` on layers. If the engine is idle, also checks the limit on wasted space.
    ///
    /// In a base with one corrupted block, only the number of layers is checked. With any other corruption, nothing is checked.
    pub(super) fn check_bounds(&self, engine: &Engine, layers: usize) -> Result<(), Wrong> {
        let Ok(statistics) = engine.statistics() else { return Ok(()) };
        let run_bytes = self.life.checkpoint_at() as u64 / 3;
        // A block at the boundary between two segments counts for both.
        let blocks = statistics.segments as u64 * 2 * BLOCK;
        let waste = statistics.base_bytes / 5 + run_bytes + blocks;
        let is_wasteful = layers == LAYERS && statistics.unmerged_bytes > waste;
        let is_wrong = match self.excuses.damage {
            Damage::None => statistics.layers > layers || is_wasteful,
            Damage::Block => statistics.layers > LAYERS_OF_BROKEN,
            Damage::Any => false,
        };
        if is_wrong && !self.is_full() {
            return Err(Wrong(format!("layers or waste exceed their bounds: {statistics:?}")));
        }
        Ok(())
    }
}
