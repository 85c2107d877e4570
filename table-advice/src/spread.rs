//! The distribution of writes over partitions (PAT-ANTI-1). It is computed from their keys, before anything is stored.
//!
//! # Context
//! One server at a time serves a partition. If a PartitionKey follows time, such as the current hour `2014042315`, all inserts within an hour go to one
//! partition, however many they are. This is the prepend/append anti-pattern. Over a day, the writes look evenly spread, but at any moment one partition is
//! hot. The relevant figure is therefore a partition's share of consecutive writes, and not its total number of writes.
//!
//! # Key layout
//! | | PartitionKey | RowKey |
//! |---|---|---|
//! | hot | `2014042315`, the hour | department, employee, event |
//! | spread | `Sales_000123`, the department and the employee | time and event |
//! | spread, single log | `log_03`, from `bucket(stamp, 8)` | time and event |
//!
//! # Guarantee
//! [`Heat`] measures the share of each partition exactly, in every run of consecutive writes of the given length. If the PartitionKey of an entity consists
//! only of time, the declaration does not compile unless it explicitly allows this.
//!
//! # Cost
//! A measurement sends no requests. It keeps the PartitionKey of each partition in memory, and one integer for each write in a run.
//!
//! # Bounds
//! Only the keys are measured, not the servers. Adjacent partitions may share a server.
//!
//! # When not to
//! Do not use this module for reads. The type of a selection shows its cost, and [`plan`](table_core::Table::plan) prints it.
//!
//! ```
//! use chrono::{DateTime, Utc};
//! use table_advice::spread::Heat;
//! use table_core::Entity;
//!
//! #[derive(Entity)]
//! #[partition_key(department, "_", employee)]
//! #[row_key(at)]
//! struct Event { #[without('_')] department: String, #[digits(6)] employee: u32, at: DateTime<Utc> }
//!
//! let mut heat = Heat::of_runs(100);
//! for number in 0..1_000 {
//!     heat.write(&Event { department: "Sales".into(), employee: number % 50, at: DateTime::UNIX_EPOCH })?;
//! }
//! assert_eq!((heat.partitions(), heat.peak().share), (50, 0.02));
//! assert_eq!(heat.writes_per_second(2_000.0), 100_000.0); // the throughput if each partition accepts 2,000 writes per second
//! # Ok::<(), table_core::Error>(())
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use table_core::Result;
use table_core::entity::Entity;

/// The number of writes per second that one partition of the service accepts (SCL-1).
pub const PARTITION_TARGET: f64 = 2_000.0;

/// The partition with the largest share of the writes in any one run of consecutive writes.
///
/// ```
/// use table_advice::spread::Peak;
///
/// /// Returns `true` if one partition takes more than twice its fair share.
/// fn is_hot(peak: &Peak, partitions: u32) -> bool {
///     peak.share > 2.0 / f64::from(partitions)
/// }
/// assert!(is_hot(&Peak { partition_key: "2024-01-01".to_owned(), share: 1.0 }, 16));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Peak {
    /// The PartitionKey.
    pub partition_key: String,
    /// The partition's share of the writes in the run. It is 1 if the partition received all of them, and 0 if no writes were recorded.
    pub share: f64,
}

/// The distribution of a sequence of writes over partitions.
#[derive(Clone, Debug)]
pub struct Heat {
    run: usize,
    /// The partition numbers of the most recent writes, oldest first.
    recent: VecDeque<usize>,
    numbers: BTreeMap<String, usize>,
    counts: Vec<Count>,
    peak: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    total: u64,
    recent: usize,
}

impl Heat {
    /// Creates a measurement over runs of `writes` consecutive writes (at least 1). Pass the number of writes that the program makes per second.
    #[must_use]
    pub fn of_runs(writes: usize) -> Self {
        let (recent, numbers) = (VecDeque::new(), BTreeMap::new());
        Self { run: writes.max(1), recent, numbers, counts: Vec::new(), peak: None }
    }

    /// Records a write of this entity.
    ///
    /// # Errors
    /// `KeyEncoding` if the entity has a value that its key cannot contain.
    pub fn write<E: Entity>(&mut self, entity: &E) -> Result<()> {
        let (mut partition_key, mut row_key) = (String::new(), String::new());
        entity.encode_key(&mut partition_key, &mut row_key)?;
        self.write_to(&partition_key);
        Ok(())
    }

    /// Records a write to this partition.
    pub fn write_to(&mut self, partition_key: &str) {
        let number = self.numbers.get(partition_key).copied().unwrap_or_else(|| {
            self.counts.push(Count::default());
            self.numbers.insert(partition_key.to_owned(), self.counts.len() - 1);
            self.counts.len() - 1
        });
        if self.recent.len() == self.run
            && let Some(count) = self.recent.pop_front().and_then(|oldest| self.counts.get_mut(oldest))
        {
            count.recent -= 1;
        }
        self.recent.push_back(number);
        if let Some(count) = self.counts.get_mut(number) {
            count.total += 1;
            count.recent += 1;
            // Only the partition of this write can become the hottest one. In an incomplete run, the count of a partition cannot exceed its count in the first
            // complete run, which begins with the same writes.
            if self.peak.is_none_or(|(most, _)| count.recent > most) {
                self.peak = Some((count.recent, number));
            }
        }
    }

    /// Returns the number of recorded writes.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.counts.iter().map(|count| count.total).sum()
    }

    /// Returns the number of partitions written to.
    #[must_use]
    pub const fn partitions(&self) -> usize {
        self.counts.len()
    }

    /// Returns the partition with the largest share of the writes in any one run, with that share. If there are fewer writes than a run contains, the recorded
    /// writes form a single run.
    #[must_use]
    pub fn peak(&self) -> Peak {
        let Some((most, number)) = self.peak else { return Peak::default() };
        let name = self.numbers.iter().find(|(_, found)| **found == number);
        let partition_key = name.map(|(name, _)| name.clone()).unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "a share needs no more digits than a float has")]
        let share = most as f64 / self.recent.len().max(1) as f64;
        Peak { partition_key, share }
    }

    /// Returns the number of writes per second that the keys support. Each partition accepts `partition` writes per second, such as [`PARTITION_TARGET`].
    #[must_use]
    pub fn writes_per_second(&self, partition: f64) -> f64 {
        let share = self.peak().share;
        if share > 0.0 { partition / share } else { f64::INFINITY }
    }

    /// Returns the `partitions` partitions with the most writes, hottest first. Partitions with equal numbers of writes are in key order.
    #[must_use]
    pub fn hottest(&self, partitions: usize) -> Vec<(&str, u64)> {
        let total = |number: &usize| self.counts.get(*number).map_or(0, |count| count.total);
        let mut all: Vec<_> =
            self.numbers.iter().map(|(name, number)| (name.as_str(), total(number))).collect();
        all.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
        all.truncate(partitions);
        all
    }
}

/// Writes a short summary: totals, the peak, and the ten hottest partitions.
impl fmt::Display for Heat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Peak { partition_key, share } = self.peak();
        writeln!(f, "{} writes over {} partitions", self.writes(), self.partitions())?;
        writeln!(
            f,
            "peak: '{partition_key}' took {:.1} % of {} writes in a row; {:.0} writes/s fit at {PARTITION_TARGET:.0} a partition",
            share * 100.0,
            self.recent.len(),
            self.writes_per_second(PARTITION_TARGET)
        )?;
        for (name, total) in self.hottest(10) {
            writeln!(f, "{total:>10}  {name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta, Utc};
    use proptest::prelude::*;
    use table_core::{Entity, KeyPart};

    use super::*;

    /// An entity type with the key layout recommended by the rule catalogue.
    #[derive(Entity)]
    #[partition_key(department, "_", employee)]
    #[row_key(at, "_", event)]
    struct Logged {
        #[without('_')]
        department: String,
        #[digits(6)]
        employee: u32,
        at: DateTime<Utc>,
        event: String,
    }

    fn event(number: u32) -> Logged {
        let at: DateTime<Utc> = "2014-04-23T15:00:00Z".parse().unwrap();
        Logged {
            department: "Sales".into(),
            employee: 123 + number % 40,
            at: at + TimeDelta::seconds(number.into()),
            event: "login".into(),
        }
    }

    #[test]
    fn pat_anti_1_the_layout_matches_the_catalogue() {
        let key = event(0).key_of().unwrap();
        insta::assert_snapshot!(format!("{} | {}", key.partition_key, key.row_key), @"Sales_000123 | 0635338620000000000_login");
    }

    /// Tests that a partition is always hot if the PartitionKey begins with a time. Consecutive keys are stored on the same server (SCL-4).
    #[test]
    fn pat_anti_1_a_time_key_is_always_hot() {
        let (mut by_hour, mut by_employee) = (Heat::of_runs(500), Heat::of_runs(500));
        for number in 0..24 * 3_600 {
            let event = event(number);
            by_hour.write_to(&event.at.format("%Y%m%d%H").to_string());
            by_employee.write(&event).unwrap();
        }
        // The totals alone would suggest that the hours are evenly spread.
        assert_eq!((by_hour.partitions(), by_hour.hottest(1)), (24, vec![("2014042315", 3_600)]));
        assert!((by_hour.peak().share - 1.0).abs() < 1e-9 && by_employee.peak().share < 0.03);
        insta::assert_snapshot!(by_hour.to_string().lines().take(2).collect::<Vec<_>>().join("\n"), @r"
        86400 writes over 24 partitions
        peak: '2014042315' took 100.0 % of 500 writes in a row; 2000 writes/s fit at 2000 a partition
        ");
    }

    #[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
    enum Color {
        Red,
        Green,
        Blue,
    }

    proptest! {
        /// Tests the peak against a model that counts each run separately.
        #[test]
        fn pat_anti_1_the_peak_is_the_maximum_over_all_runs(
            writes in prop::collection::vec(prop_oneof![Just(Color::Red), Just(Color::Green), Just(Color::Blue)], 0..60),
            run in 1_usize..20,
        ) {
            let mut heat = Heat::of_runs(run);
            for color in &writes {
                heat.write_to(&format!("{color:?}"));
            }
            let length = run.min(writes.len()).max(1);
            let most = writes
                .windows(length)
                .flat_map(|window| window.iter().map(|color| window.iter().filter(|other| *other == color).count()))
                .max()
                .unwrap_or_default();
            let share = f64::from(u32::try_from(most).unwrap()) / f64::from(u32::try_from(length).unwrap());
            prop_assert!((heat.peak().share - share).abs() < 1e-9);
            let counted: u64 = heat.hottest(9).iter().map(|(_, total)| total).sum();
            prop_assert_eq!((counted, heat.writes()), (writes.len() as u64, writes.len() as u64));
        }
    }
}
