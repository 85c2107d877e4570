//! Injects the faults of a life, which is the lifetime of one engine. They affect the disk, threads, stored bytes and the clock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rand::RngExt;
use table_core::embedded::testing::{Action, Hook};
use table_core::ticks;

use super::excuses::Damage;
use super::{FOLDER, History, SECOND};
use crate::power::Fault;
use crate::sim::plan::Trouble;

impl History {
    pub(super) fn begin_trouble(&mut self) {
        match self.life.trouble {
            Trouble::Disk(fault) => {
                self.log.add(format!("from here on {fault:?}"));
                self.disk.set_fault(Some(fault));
                // A write that was refused for lack of resources was not carried out, even if its caller no longer waits for the result.
                self.model.may_skip |= !matches!(
                    fault,
                    Fault::PowerAtSync(_) | Fault::PowerAtCall(_) | Fault::SyncFails(_) | Fault::CallFails(_)
                );
            }
            Trouble::Rot if self.established => self.rot(),
            Trouble::Unreadable if self.established => self.spoil(),
            Trouble::Clock => self.turn_clock(),
            _ => {}
        }
    }

    /// In half of the cases, ends a shortage of disk space or file descriptors.
    pub(super) fn end_trouble_of_room(&mut self) {
        if self.random.random() {
            self.disk.set_fault(None);
        }
    }

    /// Returns the hook that makes a thread fail or panic at the step chosen for this life.
    pub(super) fn hook(&self) -> Hook {
        let (trouble, failed) = (self.life.trouble, Arc::clone(&self.excuses.thread_failed));
        let seen = AtomicU32::new(0);
        Hook::new(move |at| {
            let Trouble::Thread { step, nth, panics } = trouble else { return Action::Continue };
            if at != step || seen.fetch_add(1, Ordering::SeqCst) + 1 != nth {
                return Action::Continue;
            }
            failed.store(true, Ordering::SeqCst);
            assert!(!panics, "a panic of this history");
            Action::Fail
        })
    }

    /// Returns a random file in the engine's folder, and its length. The name of the file has one of these suffixes.
    fn any_file(&mut self, ends: &[&str]) -> Option<(PathBuf, usize)> {
        let is_one = |path: &Path| {
            let end = path.extension().or(path.file_name()).filter(|_| path.starts_with(FOLDER));
            ends.iter().any(|wanted| end.is_some_and(|end| end == *wanted))
        };
        let files = self.disk.files();
        let mut files: Vec<_> = files
            .into_iter()
            .filter(|(path, length)| *length > 0 && is_one(path) && !self.is_foreign(path))
            .collect();
        (!files.is_empty()).then(|| files.swap_remove(self.random.random_range(0..files.len())))
    }

    /// Flips a bit in a file that contains rows.
    pub(super) fn rot(&mut self) {
        if let Some((path, length)) = self.any_file(&["rows"]) {
            let (at, bit) = (self.random.random_range(0..length), 1 << self.random.random_range(0..8));
            self.log.add(format!("byte {at} of {} rots", path.display()));
            let is_block = self.disk.bytes(&path).is_some_and(|bytes| is_in_block(&bytes, at));
            self.disk.damage(&path, |bytes| {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= bit;
                }
            });
            self.excuses.add(if is_block { Damage::Block } else { Damage::Any });
            self.model.may_skip = true;
            self.seen.faults += 1;
        }
    }

    /// Makes a sector unreadable in a file that contains rows.
    fn spoil(&mut self) {
        if let Some((path, length)) = self.any_file(&["rows"]) {
            let at = self.random.random_range(0..length);
            self.log.add(format!("byte {at} of {} cannot be read", path.display()));
            self.disk.spoil(&path, at);
            self.excuses.add(Damage::Any);
            self.model.may_skip = true;
            self.seen.faults += 1;
        }
    }

    /// Changes, truncates or removes a file in a folder that no engine has open. It may also replace the file with an earlier version.
    pub(super) fn rot_at_rest(&mut self) {
        // After a close, the engine must detect that the end of the journal is missing.
        let is_short = self.closed && self.random.random();
        let ends = if is_short { &["journal"][..] } else { &["BASE", "rows", "journal", "SYNCED"] };
        let Some((path, length)) = self.any_file(ends) else { return };
        let is_journal = path.extension().is_some_and(|end| end == "journal");
        let (at, bit) = (self.random.random_range(0..length), 1 << self.random.random_range(0..8));
        let how =
            if is_short { [1, 3][self.random.random_range(0..2)] } else { self.random.random_range(0..6) };
        self.log.add(format!("{} is damaged at {at} ({how})", path.display()));
        match how {
            0 => self.disk.take_away(&path),
            1 => self.disk.damage(&path, |bytes| bytes.truncate(at)),
            2 => self.disk.damage(&path, Vec::clear),
            3..=4 => {
                let Some(bytes) = self.earlier.as_ref().and_then(|disk| disk.bytes(&path)) else { return };
                self.disk.damage(&path, |now| now.clone_from(&bytes));
            }
            _ => self.disk.damage(&path, |bytes| {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= bit;
                }
            }),
        }
        if is_journal && !self.closed {
            // Unless all frames have been recorded as synced, a corrupted journal looks like a torn one. Acknowledged writes may then be lost, including those
            // of an earlier release.
            self.fall_back();
            self.neighbours.earlier = None;
        }
        self.excuses.add(Damage::Any);
        self.model.may_skip = true;
        self.seen.faults += 1;
    }

    pub(super) fn turn_clock(&mut self) {
        let now = self.clock.load(Ordering::SeqCst);
        let to = match self.random.random_range(0..4) {
            0 => now + 86_400 * SECOND,
            1 => now.saturating_sub(86_400 * SECOND),
            2 => now.saturating_sub(2 * SECOND),
            // The clock shows a time far in the future until it is corrected.
            _ => {
                self.excuses.time_over = true;
                self.model.may_skip = true;
                ticks::MAX
            }
        };
        self.log.add(format!("the clock goes from {now} to {to}"));
        self.clock.store(to, Ordering::SeqCst);
        self.seen.faults += 1;
    }
}

/// Returns `true` if byte `at` is in a block of a run. The blocks end where the filter begins. The start of the footer contains the offset of the filter.
fn is_in_block(run: &[u8], at: usize) -> bool {
    const HEADER: usize = 24;
    const VERSION: std::ops::Range<usize> = 8..12;
    let footer = match run.get(VERSION) {
        // Runs of earlier formats have no tally in their footer.
        Some([1, 0, 0, 0]) => 28,
        _ => 44,
    };
    let filter = run.len().checked_sub(footer).and_then(|start| run.get(start..)?.first_chunk());
    filter.is_some_and(|filter| at >= HEADER && (at as u64) < u64::from_le_bytes(*filter))
}
