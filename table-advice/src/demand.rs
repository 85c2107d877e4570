//! Adds up the load of a run by partition key, and by range of partition keys.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use table_core::query::{QueryClass, TextRange};
use table_hierarchy::{query_units, read_units, write_units};

use crate::random::real;
use crate::step::Step;

/// The total load of a run, by partition key and by range of partition keys.
///
/// A partition key has the form `table/PartitionKey`. If the table has no name, it is the PartitionKey alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Demand {
    pub(super) keys: BTreeMap<String, KeyDemand>,
    pub(super) ranges: HashMap<(String, TextRange), RangeDemand>,
}

/// The load of one partition key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyDemand {
    /// The number of bytes written to the partition key.
    pub(super) bytes: f64,
    /// The number of request units used by the partition key.
    pub(super) units: f64,
}

/// The load of all queries over one range of partition keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RangeDemand {
    pub(super) queries: f64,
    /// The number of request units for the returned entities. It excludes the charge for each physical partition.
    pub(super) units: f64,
}

impl Demand {
    /// Returns the distinct names of the tables with load.
    pub(super) fn tables(&self) -> BTreeSet<&str> {
        let of_keys = self.keys.keys().filter_map(|name| Some(name.split_once('/')?.0));
        of_keys.chain(self.ranges.keys().map(|(table, _)| table.as_str())).collect()
    }

    /// Adds the load of an operation performed `times` times.
    pub(super) fn add(&mut self, step: &Step, times: f64) {
        match step.class {
            None => self.write(step, times),
            Some(class) => self.read(class, step, times),
        }
    }

    /// Adds the load of a write. All entities in a step are assumed to have the same size.
    fn write(&mut self, step: &Step, times: f64) {
        let each = step.bytes.checked_div(step.entities).unwrap_or_default();
        for (at, (name, load)) in step.touches.iter().enumerate() {
            let key = self.keys.entry(name.clone()).or_default();
            key.bytes += times * real(*load) * real(each);
            key.units += times * real(*load) * write_units(size(each));
            if at == 0 {
                key.units += times * real(step.reads) * read_units(size(each));
            }
        }
    }

    fn read(&mut self, class: QueryClass, step: &Step, times: f64) {
        let answers = step.touches.len().saturating_add(step.ranges.len()).max(1) as u64;
        let found = read_units(size(step.bytes.checked_div(answers).unwrap_or_default()));
        for (name, _) in &step.touches {
            let query = if class == QueryClass::Point { 0.0 } else { middle(1) };
            self.keys.entry(name.clone()).or_default().units += times * (query + found);
        }
        for place in &step.ranges {
            let of_range = self.ranges.entry(place.clone()).or_default();
            of_range.queries += times;
            of_range.units += times * found;
        }
    }
}

/// Returns the additional request units for a query on `partitions` physical partitions. This is the midpoint of the published range.
pub(super) fn middle(partitions: usize) -> f64 {
    let (least, most) = query_units(partitions);
    f64::midpoint(least, most)
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
