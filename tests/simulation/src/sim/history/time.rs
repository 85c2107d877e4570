//! Clock errors in a history, and their corrections.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::queue::TimeToLive;

use super::History;
use crate::sim::model::NUMBERS;

/// The error of a clock that is far behind the actual time, in ticks.
const BEHIND: u64 = 100 * 86_400 * 10_000_000;
/// The time to live of a message that expires. The clock of a history advances so far only if it is wrong.
const LIFE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The clock errors of a history.
pub(super) struct Time {
    random: StdRng,
    /// `true` if the clock also measures elapsed time.
    pub(super) measures: bool,
    /// `true` if messages expire.
    expires: bool,
    /// The number of ticks by which the clock is behind until it is corrected.
    pub(super) behind: u64,
    /// The first request since the clock was last set.
    since: u64,
    /// `true` if the folder contains a Timestamp of the actual time.
    is_recorded: bool,
}

impl Time {
    pub(super) fn draw(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed.rotate_left(32));
        Self {
            measures: random.random(),
            expires: random.random(),
            random,
            behind: 0,
            since: 0,
            is_recorded: false,
        }
    }

    /// Returns the time to live of the messages in the history.
    pub(super) fn life(&self) -> TimeToLive {
        if self.expires { TimeToLive::For(LIFE) } else { TimeToLive::Never }
    }
}

impl History {
    /// At random steps, sets the clock far back or corrects it.
    pub(super) fn set_clock(&mut self) {
        let chance = if self.time.behind > 0 { 4 } else { 100 };
        if self.excuses.time_over || !self.time.random.random_ratio(1, chance) {
            return;
        }
        if self.time.behind > 0 {
            self.correct_clock();
        } else {
            self.clock.fetch_sub(BEHIND, Ordering::SeqCst);
            self.time.behind = BEHIND;
            self.time.since = u64::from(self.next / NUMBERS);
            self.log.add("the clock goes back by 100 days".to_owned());
        }
    }
    /// Corrects a clock that is behind, unless the folder contains an undamaged Timestamp of the actual time. Without such a Timestamp, an engine could not
    /// know the actual time. Messages that are put at a wrong time expire at a wrong time.
    pub(super) fn correct_clock_of_unknown_time(&mut self) {
        let is_known = self.time.is_recorded && !self.excuses.is_damaged();
        if self.time.behind > 0 && !is_known {
            self.correct_clock();
        }
    }

    fn correct_clock(&mut self) {
        self.clock.fetch_add(self.time.behind, Ordering::SeqCst);
        self.time.behind = 0;
        self.time.since = u64::from(self.next / NUMBERS);
        self.log.add("the clock is corrected".to_owned());
    }

    /// Records that the write with the given request number was acknowledged.
    pub(super) fn note_time_of(&mut self, id: u64) {
        self.time.is_recorded |= self.time.behind == 0 && id >= self.time.since && !self.life.relaxed;
    }
}
