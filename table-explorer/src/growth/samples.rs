//! Samples of table sizes over time. The older the samples, the fewer are kept.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The maximum numbers of stores in a file and of tables in a store. If they are exceeded, the least recently used stores and the
/// smallest tables are dropped.
const STORES: usize = 16;
const TABLES: usize = 64;
/// The density of the samples: one per minute for an hour, one per hour for two days, and one per day for 400 days. Each pair contains an age
/// and the interval between samples from that age on, both in seconds.
const PERIODS: [(i64, i64); 3] = [(0, 60), (HOUR, HOUR), (2 * DAY, DAY)];
const LONGEST: i64 = 400 * DAY;
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// The samples of each table in a store, by table name.
pub(crate) type Samples = BTreeMap<String, Vec<Sample>>;

/// The size of a table at one time, stored as an array: seconds since 1970, rows and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sample(i64, u64, u64);

impl Sample {
    pub(crate) const fn new(at: DateTime<Utc>, rows: u64, bytes: u64) -> Self {
        Self(at.timestamp(), rows, bytes)
    }

    pub(crate) fn at(self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.0, 0).unwrap_or_default()
    }

    pub(crate) const fn rows(self) -> u64 {
        self.1
    }

    pub(crate) const fn bytes(self) -> u64 {
        self.2
    }

    fn has_size_of(self, other: Self) -> bool {
        (self.1, self.2) == (other.1, other.2)
    }
}

/// The content of the file that stores samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Content {
    #[serde(default)]
    stores: BTreeMap<String, Samples>,
}

impl Content {
    pub(super) fn of(&self, store: &str) -> Samples {
        self.stores.get(store).cloned().unwrap_or_default()
    }

    /// Adds a sample, and drops samples that are too old.
    pub(super) fn add(&mut self, store: &str, table: &str, sample: Sample) {
        let samples = self.stores.entry(store.to_owned()).or_default();
        add(samples.entry(table.to_owned()).or_default(), sample);
        let size =
            |(name, of): (&String, &Vec<Sample>)| (of.last().map_or(0, |last| last.bytes()), name.clone());
        while samples.len() > TABLES {
            // The entry for the entire store is never removed.
            let smallest = samples.iter().filter(|(name, _)| !name.is_empty()).map(size).min();
            let Some((_, name)) = smallest else { break };
            samples.remove(&name);
        }
        while self.stores.len() > STORES {
            let newest = |of: &Samples| of.values().filter_map(|of| of.last()).map(|last| last.0).max();
            let oldest = self.stores.iter().max_by_key(|(_, of)| Reverse(newest(of)));
            let Some(name) = oldest.map(|(name, _)| name.clone()) else { break };
            self.stores.remove(&name);
        }
    }
}

/// Adds a sample to a table's samples. While the size does not change, only the first and the last sample are kept.
fn add(samples: &mut Vec<Sample>, sample: Sample) {
    // After the clock was set back, samples would be out of order.
    samples.retain(|known| known.0 < sample.0);
    if let [.., before, last] = samples.as_mut_slice()
        && before.has_size_of(sample)
        && last.has_size_of(sample)
    {
        *last = sample;
    } else {
        samples.push(sample);
    }
    thin(samples, sample.0);
}

/// Keeps the last sample of each period.
fn thin(samples: &mut Vec<Sample>, now: i64) {
    let period = |sample: &Sample| {
        let age = now - sample.0;
        let (_, length) = PERIODS.into_iter().rfind(|(from, _)| age >= *from).unwrap_or((0, 60));
        (length, sample.0.div_euclid(length))
    };
    samples.retain(|sample| now - sample.0 <= LONGEST);
    let mut kept: Vec<Sample> = Vec::with_capacity(samples.len());
    for sample in samples.drain(..) {
        match kept.last_mut() {
            Some(last) if period(last) == period(&sample) => *last = sample,
            _ => kept.push(sample),
        }
    }
    *samples = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The maximum number of samples per table: one per minute for an hour, one per hour for two days, and one per day for 400 days, and one more of each
    /// at the boundaries.
    const MOST: usize = 61 + 49 + 401;

    fn at(seconds: i64, rows: u64) -> Sample {
        Sample(1_764_000_000 + seconds, rows, 10 * rows)
    }

    #[test]
    fn samples_are_thinned_with_age_and_stay_in_order() {
        // 450 days of samples, with one sample per minute in the last three days.
        let (days, minutes) = (447 * 24, 3 * 24 * 60);
        let times =
            (0..days).map(|hour| hour * HOUR).chain((0..minutes).map(|minute| days * HOUR + 60 * minute));
        let mut samples = Vec::new();
        for (nth, time) in times.enumerate() {
            add(&mut samples, at(time, nth as u64));
            assert!(samples.len() <= MOST, "{} samples after {nth}", samples.len());
        }
        assert!(samples.is_sorted_by_key(|sample| sample.0), "{samples:?}");
        let last = samples[samples.len() - 1];
        assert_eq!(last.rows(), (days + minutes - 1).cast_unsigned());
        let within = |seconds| samples.iter().filter(|sample| last.0 - sample.0 < seconds).count();
        assert!((59..=61).contains(&within(HOUR)), "{} in the last hour", within(HOUR));
        assert!((60 + 46..=60 + 49).contains(&within(2 * DAY)), "{} in two days", within(2 * DAY));
        assert!(last.0 - samples[0].0 > LONGEST - 2 * DAY, "the oldest is {}", samples[0].0);
    }

    #[test]
    fn a_size_that_does_not_change_has_two_samples() {
        let mut samples = Vec::new();
        for (minute, rows) in [(0, 1), (1, 1), (2, 1), (3, 1), (4, 2), (5, 2)] {
            add(&mut samples, at(60 * minute, rows));
        }
        assert_eq!(samples, [at(0, 1), at(180, 1), at(240, 2), at(300, 2)]);
        add(&mut samples, at(120, 9));
        assert_eq!(samples, [at(0, 1), at(120, 9)], "a clock that is set back leaves the samples in order");
    }

    #[test]
    fn tables_and_stores_are_bounded() {
        let mut content = Content::default();
        for (store, time) in (0..2 * STORES).zip(0..) {
            for table in 0..2 * TABLES {
                content.add(&format!("s{store:02}"), &format!("t{table:03}"), at(60 * time, table as u64));
            }
            content.add(&format!("s{store:02}"), super::super::WHOLE, at(60 * time, 0));
        }
        assert_eq!(content.stores.len(), STORES);
        assert_eq!(content.of("s00"), Samples::new(), "the store that was sampled first is dropped");
        let last = content.of(&format!("s{:02}", 2 * STORES - 1));
        assert_eq!(last.len(), TABLES);
        assert!(last.contains_key("") && last.contains_key("t127") && !last.contains_key("t001"));
    }
}
