//! Samples of table sizes over time, thinned out with age.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::store_names::StoreNames;

/// The maximum number of stores per file, and of tables per store. If a limit is exceeded, the least recently sampled stores or tables are dropped. Of the
/// tables last sampled at the same time, smaller tables are dropped first.
const STORES: usize = 16;
const TABLES: usize = 64;
/// The retention policy: period lengths in seconds, and the number of most recent periods whose last sample is kept.
///
/// Periods without samples are not counted, and the current time is ignored. This way, a sample with a wrong timestamp takes up only one period, and each
/// number includes one spare period.
const PERIODS: [(i64, usize); 3] = [(60, 61), (HOUR, 49), (DAY, 401)];
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// A store's samples by table name.
pub(crate) type Samples = BTreeMap<String, Vec<Sample>>;

/// The size of a table at a given time, serialized as an array: seconds since 1970, rows and bytes.
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

/// The content of the samples file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Content {
    #[serde(default)]
    stores: BTreeMap<String, Samples>,
}

impl Content {
    pub(super) fn of(&self, store: &StoreNames) -> Samples {
        self.stores
            .get(&store.identity)
            .or_else(|| self.stores.get(&store.shown))
            .cloned()
            .unwrap_or_default()
    }

    /// Adds samples taken at the same time, and drops samples, tables and stores beyond the limits. Samples that an earlier release recorded under the store's
    /// name are continued.
    ///
    /// As long as no tables are sampled and the store's size stays the same, the content changes once an hour.
    pub(super) fn add(&mut self, store: &StoreNames, added: &[(String, Sample)]) {
        if !self.stores.contains_key(&store.identity) {
            let earlier = self.of(store);
            self.stores.insert(store.identity.clone(), earlier);
        }
        let samples = self.stores.entry(store.identity.clone()).or_default();
        let is_repeated = |(table, sample): &(String, Sample)| {
            let known = samples.get(table).map(Vec::as_slice).unwrap_or_default();
            known.split_last().is_some_and(|(last, before)| {
                let is_known = before.last().is_some_and(|before| before.has_size_of(*sample));
                is_known && last.has_size_of(*sample) && (0..HOUR).contains(&(sample.0 - last.0))
            })
        };
        if added.iter().all(|added| added.0.is_empty() && is_repeated(added)) {
            return;
        }
        for (table, sample) in added {
            add(samples.entry(table.clone()).or_default(), *sample);
        }
        // The entry for the entire store is never removed.
        let mut tables: Vec<(i64, u64, String)> = samples
            .iter()
            .filter(|(name, _)| !name.is_empty())
            .map(|(name, of)| {
                of.last().map_or((0, 0, name.clone()), |last| (last.0, last.bytes(), name.clone()))
            })
            .collect();
        tables.sort_unstable();
        for (_, _, name) in tables.into_iter().rev().skip(TABLES - 1) {
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

/// Adds a sample to a table's samples, in chronological order. While the size is unchanged, only the first and the last sample are kept.
fn add(samples: &mut Vec<Sample>, sample: Sample) {
    let at = samples.partition_point(|known| known.0 < sample.0);
    let is_last = at == samples.len();
    match samples.as_mut_slice() {
        [.., before, last] if is_last && before.has_size_of(sample) && last.has_size_of(sample) => {
            *last = sample;
        }
        known => match known.get_mut(at).filter(|known| known.0 == sample.0) {
            Some(known) => *known = sample,
            None => samples.insert(at, sample),
        },
    }
    thin(samples);
}

/// Keeps the last sample of each of the most recent periods.
fn thin(samples: &mut Vec<Sample>) {
    let mut kept = vec![false; samples.len()];
    for (length, count) in PERIODS {
        let (mut periods, mut later) = (0, None);
        for (sample, is_kept) in samples.iter().zip(&mut kept).rev() {
            let period = sample.0.div_euclid(length);
            if later != Some(period) {
                (periods, later) = (periods + 1, Some(period));
                *is_kept |= periods <= count;
            }
        }
    }
    let mut kept = kept.into_iter();
    samples.retain(|_| kept.next().unwrap_or(false));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The maximum number of samples per table: one per minute for an hour, one per hour for two days, one per day for 400 days, and one extra for each of the
    /// three.
    const MOST: usize = 61 + 49 + 401;

    fn at(seconds: i64, rows: u64) -> Sample {
        Sample(1_764_000_000 + seconds, rows, 10 * rows)
    }

    #[test]
    fn samples_are_thinned_with_age_and_stay_in_order() {
        // The samples cover 450 days: hourly, then every minute in the last three days.
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
        assert!(last.0 - samples[0].0 > 398 * DAY, "the oldest is {}", samples[0].0);
    }

    #[test]
    fn a_size_that_does_not_change_has_two_samples() {
        let mut samples = Vec::new();
        for (minute, rows) in [(0, 1), (1, 1), (2, 1), (3, 1), (4, 2), (5, 2)] {
            add(&mut samples, at(60 * minute, rows));
        }
        assert_eq!(samples, [at(0, 1), at(180, 1), at(240, 2), at(300, 2)]);
        add(&mut samples, at(120, 9));
        let expected = [at(0, 1), at(120, 9), at(180, 1), at(240, 2), at(300, 2)];
        assert_eq!(samples, expected, "after the clock was set back, the samples are in order");
    }

    #[test]
    fn a_sample_with_a_wrong_time_removes_no_others() {
        for wrong in [-3_000 * DAY, -400 * DAY, -30, 30, 400 * DAY, 3_000 * DAY] {
            let mut samples = Vec::new();
            (0_i64..40).for_each(|minute| add(&mut samples, at(60 * minute, minute.unsigned_abs())));
            let before = samples.clone();
            add(&mut samples, at(wrong, 99));
            add(&mut samples, at(60 * 40, 40));
            assert!(samples.is_sorted_by_key(|sample| sample.0), "{wrong}: {samples:?}");
            // A sample 30 seconds into the first minute replaces that minute's sample.
            let lost: Vec<_> = before.iter().filter(|sample| !samples.contains(sample)).collect();
            assert!(lost.is_empty() || wrong == 30 && lost == [&at(0, 0)], "{wrong}: {lost:?}");
            assert!(samples.contains(&at(60 * 40, 40)), "{wrong}: {samples:?}");
        }
    }

    fn names(store: &str) -> StoreNames {
        StoreNames { identity: store.to_owned(), shown: store.to_owned() }
    }

    #[test]
    fn tables_and_stores_are_bounded() {
        let mut content = Content::default();
        for (store, time) in (0..2 * STORES).zip(0..) {
            let tables = (0..2 * TABLES).map(|table| (format!("t{table:03}"), at(60 * time, table as u64)));
            let whole = (super::super::WHOLE.to_owned(), at(60 * time, 0));
            content.add(&names(&format!("s{store:02}")), &tables.chain([whole]).collect::<Vec<_>>());
        }
        assert_eq!(content.stores.len(), STORES);
        assert_eq!(content.of(&names("s00")), Samples::new(), "the store that was sampled first is dropped");
        let last = content.of(&names(&format!("s{:02}", 2 * STORES - 1)));
        assert_eq!(last.len(), TABLES);
        assert!(last.contains_key("") && last.contains_key("t127") && !last.contains_key("t001"));
    }

    #[test]
    fn a_table_that_is_sampled_no_longer_is_dropped_before_those_that_are() {
        let (mut content, store) = (Content::default(), names("s"));
        for day in 0..2 * i64::try_from(TABLES).unwrap() {
            let log = (format!("log{day:03}"), at(DAY * day, 1_000));
            content.add(&store, &[log, ("Settings".to_owned(), at(DAY * day, day.unsigned_abs()))]);
        }
        let found = content.of(&store);
        assert_eq!(found.get("Settings").map(Vec::len), Some(2 * TABLES));
        assert!(found.contains_key("log127") && !found.contains_key("log000"));
    }

    #[test]
    fn an_unchanged_size_changes_the_content_once_an_hour() {
        let (mut content, store) = (Content::default(), names("s"));
        let mut changes = 0;
        for minute in 0_i64..180 {
            let before = content.clone();
            content.add(&store, &[(String::new(), at(60 * minute, 7))]);
            changes += u64::from(content != before);
        }
        assert_eq!(changes, 4, "the first, the second, and one more in each further hour");
        content.add(&store, &[(String::new(), at(60 * 180, 8))]);
        assert_eq!(content.of(&store)[""].last(), Some(&at(60 * 180, 8)));
    }

    #[test]
    fn samples_under_the_name_of_a_store_are_continued_under_its_identity() {
        let mut content = Content::default();
        content.add(&names("data"), &[("T".to_owned(), at(0, 1))]);
        let [a, b] = ["/a/data", "/b/data"]
            .map(|identity| StoreNames { identity: identity.to_owned(), shown: "data".to_owned() });
        assert_eq!(content.of(&a)["T"], [at(0, 1)]);
        content.add(&a, &[("T".to_owned(), at(60, 2))]);
        content.add(&b, &[("T".to_owned(), at(120, 3))]);
        assert_eq!(content.of(&a)["T"], [at(0, 1), at(60, 2)]);
        assert_eq!(content.of(&b)["T"], [at(0, 1), at(120, 3)]);
    }
}
