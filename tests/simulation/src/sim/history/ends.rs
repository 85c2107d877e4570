//! The end of a life, which is the lifetime of one engine. Also the inspection of all data at the end of a history.

use std::collections::BTreeMap;

use rand::RngExt;
use table_core::embedded::Engine;

use super::History;
use crate::power::SimulatedDisk;
use crate::sim::model::Wrong;
use crate::sim::plan::End;

impl History {
    /// Ends the life in the planned way.
    pub(super) fn finish(&mut self, engine: Engine) -> Result<(), Wrong> {
        let end = if self.disk.has_lost_power() { End::Power } else { self.life.end };
        self.log.add(format!("end: {end:?}"));
        if matches!(end, End::Close | End::Drop) && self.random.random() {
            self.hear_all()?;
        }
        self.await_restore()?;
        match end {
            End::Close => {
                self.end_trouble_of_room();
                self.close(&engine)?;
                self.closed = !self.has_failed() && !self.is_full() && !self.lacks_resources();
                // After a power loss, only synced bytes are certain to survive.
                if self.random.random() {
                    if self.life.relaxed && self.has_failed() {
                        self.fall_back();
                    }
                    self.disk = self.lose_power();
                } else {
                    // A failed close has not synced anything.
                    self.unsynced = self.life.relaxed && self.has_failed();
                    self.disk = self.disk.after_kill();
                }
                return Ok(());
            }
            End::Drop => {}
            End::Kill | End::Power => self.disk.cut_power(),
        }
        let image = self.image.take().filter(|_| end == End::Drop);
        self.let_go();
        drop(engine);
        if let Some(image) = image {
            self.outlive_engine(&image)?;
        }
        self.disk = self.disk_afterwards();
        Ok(())
    }

    pub(super) fn disk_afterwards(&mut self) -> SimulatedDisk {
        let lost_power = self.disk.has_lost_power() && self.life.end != End::Kill;
        let unsynced = self.unsynced || self.life.relaxed;
        self.unsynced = unsynced && !lost_power;
        if lost_power {
            if unsynced {
                self.fall_back();
            }
            return self.lose_power();
        }
        self.disk.after_kill()
    }

    /// Returns the disk after a power loss.
    fn lose_power(&mut self) -> SimulatedDisk {
        self.neighbours.linked.lose_power();
        self.disk.after_power_loss(self.random.random())
    }

    /// Records that acknowledged data may have been lost. Versions and receipts may therefore occur again.
    pub(super) fn fall_back(&mut self) {
        self.model.fall_back();
        (self.etags, self.versions, self.leases) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    }

    /// Drops all pending futures.
    pub(super) fn let_go(&mut self) {
        for asked in std::mem::take(&mut self.asked) {
            self.model.give_up(asked.id);
            self.give_up_backup(asked.id);
        }
        (self.scan, self.snapshot, self.image) = (None, None, None);
    }

    /// Opens the folder one last time and inspects all data. No fault occurs, but bytes on the disk may have changed.
    pub(super) fn last_look(&mut self) -> Result<(), Wrong> {
        self.excuses = self.excuses.of_disk();
        self.life = self.life.quiet();
        if self.established && self.random.random_ratio(if self.closed { 2 } else { 1 }, 4) {
            self.rot_at_rest();
        }
        self.log.add("the last look".to_owned());
        self.look_at_backup()?;
        let Some(engine) = self.open()? else { return Ok(()) };
        self.look_at_everything(&engine)?;
        self.use_linked_backup(&engine)?;
        for _ in 0..3 {
            self.ask_transaction(&engine);
            self.ask_checkpoint(&engine);
        }
        self.hear_all()?;
        self.look_at_everything(&engine)?;
        if self.neighbours.random.random() {
            self.erase(&engine)?;
        } else {
            self.close(&engine)?;
        }
        self.check_foreign_files()
    }
}
