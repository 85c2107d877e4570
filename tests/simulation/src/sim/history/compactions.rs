//! Tests compactions that overlap. Checks the base (the engine's merged files) after them.

use std::time::Duration;

use rand::RngExt;
use table_core::embedded::Engine;

use super::History;
use crate::sim::model::Wrong;

impl History {
    /// Requests a compaction while another one is running. After both, the base must contain all earlier writes, but no rows of dropped tables. No merge may be
    /// pending.
    pub(super) fn compact_twice(&mut self, engine: &Engine) -> Result<(), Wrong> {
        // A receive in progress would write to the engine after the compaction.
        self.hear_all()?;
        self.ask_base(engine, true);
        for _ in 0..self.neighbours.random.random_range(0..60) {
            self.schedule.step(Duration::from_micros(20));
        }
        self.ask_transaction(engine);
        self.ask_base(engine, true);
        self.hear_all()?;
        if self.is_in_trouble() || self.excuses.is_damaged() {
            return Ok(());
        }
        let Ok(statistics) = engine.statistics() else { return Ok(()) };
        match engine.holds_dropped_rows() {
            Ok(true) => return Err(Wrong("a compaction has kept rows of dropped tables".to_owned())),
            Err(error) if !self.may_fail(&error) => {
                return Err(Wrong(format!("a search for rows of dropped tables received {error}")));
            }
            _ => {}
        }
        if statistics.memtable_rows > 0 || statistics.layers > 1 || statistics.deletions > 0 {
            return Err(Wrong(format!("a compaction has ended with {statistics:?}")));
        }
        Ok(())
    }
}
