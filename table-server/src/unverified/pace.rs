//! Limits the rate at which the [guests](super) of one network are served.

use std::time::{Duration, Instant};

/// The gap after one unit of work. It limits the guests of all networks to a combined 10,000 units per second.
const GAP: Duration = Duration::from_micros(100);
/// The longest pause imposed on a guest. Work that would extend the pause further is not charged, so the pause must be long enough that all guests together do
/// little work within it.
const LONGEST: Duration = Duration::from_secs(60);
/// The shortest pause. Timers have a resolution of one millisecond.
const SHORTEST: Duration = Duration::from_millis(1);

/// The schedule for the guests in one network. Each unit of work extends the schedule by a gap, and the guest that did the work pauses until the end of the
/// schedule.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The end of the last gap.
    end: Option<Instant>,
}

impl Pace {
    /// Extends the schedule by the gaps for `units` units of work. The gaps are longer if several networks have guests. Returns the end of the pause, or `None`
    /// if the guest need not pause.
    pub(super) fn charge(&mut self, units: u32, networks: usize, now: Instant) -> Option<Instant> {
        let networks = u32::try_from(networks).unwrap_or(u32::MAX);
        let gap = GAP.saturating_mul(units.saturating_mul(networks)).min(LONGEST);
        let begin = self.end.filter(|end| *end > now).unwrap_or(now);
        let end = (begin + gap).min(now + LONGEST);
        self.end = Some(end);
        (end.saturating_duration_since(now) >= SHORTEST).then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: u32 = 20;

    #[test]
    fn guests_of_a_network_pause_in_the_order_of_their_work() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        let after = |units: u32| Some(now + GAP * units);
        assert_eq!([(); 3].map(|()| pace.charge(UNITS, 1, now)), [1, 2, 3].map(|times| after(UNITS * times)));
        let later = now + GAP * UNITS * 5;
        assert_eq!(pace.charge(UNITS, 1, later), after(UNITS * 6), "an unused gap is not saved");
        assert_eq!(Pace::default().charge(UNITS, 3, now), after(UNITS * 3), "three networks share the rate");
    }

    #[test]
    fn pauses_are_bounded() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        assert_eq!([(); 3].map(|()| pace.charge(4, 1, now)), [None, None, Some(now + GAP * 12)]);
        for _ in 0..3 {
            assert_eq!(pace.charge(u32::MAX, usize::MAX, now), Some(now + LONGEST));
        }
    }
}
