//! The steps of a life (the lifetime of one engine). They are requests, reads, and everything else that happens while an engine is open.

use std::time::Duration;

use rand::RngExt;
use table_core::embedded::Engine;

use super::History;
use crate::power::Fault;
use crate::sim::model::Wrong;
use crate::sim::plan::{Compactions, Trouble, Work};

impl History {
    /// Sends requests, reads data, and lets time pass.
    pub(super) fn work(&mut self, engine: &Engine) -> Result<(), Wrong> {
        if self.life.from > 0 || self.model.is_vague() {
            self.look_at_everything(engine)?;
        }
        for step in 0..self.life.steps {
            if step == self.life.from && step > 0 {
                if matches!(self.life.trouble, Trouble::Rot | Trouble::Unreadable) {
                    // Corruption is about to begin. The model would not know which corrupted messages a pending receive skips.
                    self.hear_all()?;
                }
                self.begin_trouble();
            }
            if self.disk.has_lost_power() {
                return Ok(());
            }
            self.set_clock();
            self.step(engine)?;
            let most = [2, 8, 40][self.random.random_range(0..3)];
            for _ in 0..self.random.random_range(0..most) {
                self.schedule.step(Duration::from_micros(20));
            }
            self.hear()?;
            // A failed engine must respond to every caller, although its thread has ended.
            if self.has_failed() && self.random.random_ratio(1, 8) {
                self.hear_all()?;
            }
        }
        if self.life.compactions == Compactions::AtEnd {
            self.ask_base(engine, true);
            self.hear_all()?;
        }
        self.relieve(engine)
    }

    fn step(&mut self, engine: &Engine) -> Result<(), Wrong> {
        match self.random.random_range(0..100) {
            0..=35 => self.ask_transaction(engine),
            36..=44 => self.ask_queue(engine),
            45..=47 => self.ask_table(engine),
            48..=50 => self.ask_checkpoint(engine),
            51..=65 => self.look_up(engine)?,
            66..=80 => self.read_on(engine)?,
            81..=82 => self.list(engine)?,
            83..=85 => self.use_snapshot(engine)?,
            86..=87 => self.go_away(),
            88 => self.second_engine()?,
            89 => self.verify(engine)?,
            90 => self.count_messages(engine)?,
            91..=92 => self.ask_backup(engine),
            93 => self.rest(engine)?,
            94..=95 => self.copy_folder(),
            _ => {}
        }
        if self.neighbours.are_there {
            match self.neighbours.random.random_range(0..32) {
                0..=3 => self.start_restore(),
                4 if self.life.compactions == Compactions::Random => self.compact_twice(engine)?,
                5..=6 => self.use_image(engine)?,
                // Verifications and images make more disk calls than other steps. A lack of memory is therefore more likely to hit one of their calls.
                number @ 7..=22 if matches!(self.life.trouble, Trouble::Disk(Fault::NoMemory(_))) => {
                    if number <= 14 {
                        self.verify(engine)?;
                    } else {
                        self.use_image(engine)?;
                    }
                }
                _ => {}
            }
        }
        if self.life.work == Work::Trickle && self.random.random_ratio(1, 4) {
            self.ask_base(engine, false);
        }
        Ok(())
    }
}
