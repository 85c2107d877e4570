//! The partitions with most requests, counted from a sample in bounded memory.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// One request in so many is counted, for so many.
const SAMPLE: u64 = 16;
/// Partitions that are counted.
const COUNTED: usize = 64;
/// Partitions that are shown.
const SHOWN: usize = 10;
/// After so many samples every count is halved, so that what was hot once is not shown for ever.
const HALVED_AFTER: u64 = 1 << 14;

/// Counts of the partitions with most requests: where no place is left, a new partition takes that of the one with fewest, and its
/// count (the algorithm "Space-Saving": a count is never too low, and too high by the smallest one at most).
#[derive(Debug, Default)]
pub(super) struct Hot {
    seen: AtomicU64,
    counted: Mutex<Vec<Counted>>,
}

#[derive(Debug)]
struct Counted {
    table: String,
    partition: String,
    requests: u64,
}

impl Hot {
    pub(super) fn note(&self, table: &str, partition: &str) {
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        if !seen.is_multiple_of(SAMPLE) {
            return;
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if (seen / SAMPLE) % HALVED_AFTER == HALVED_AFTER - 1 {
            counted.iter_mut().for_each(|one| one.requests /= 2);
        }
        let own = |one: &&mut Counted| one.partition == partition && one.table == table;
        if let Some(one) = counted.iter_mut().find(own) {
            one.requests += SAMPLE;
            return;
        }
        let (table, partition) = (table.to_owned(), partition.to_owned());
        if counted.len() < COUNTED {
            counted.push(Counted { table, partition, requests: SAMPLE });
        } else if let Some(least) = counted.iter_mut().min_by_key(|one| one.requests) {
            *least = Counted { table, partition, requests: least.requests + SAMPLE };
        }
    }

    /// Table, key and requests, most first.
    pub(super) fn read(&self) -> Vec<(String, String, u64)> {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> =
            counted.iter().map(|one| (one.table.clone(), one.partition.clone(), one.requests)).collect();
        drop(counted);
        all.sort_by_key(|(.., requests)| Reverse(*requests));
        all.truncate(SHOWN);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hot_partition_is_first_among_many() {
        let hot = Hot::default();
        for number in 0..20_000_u32 {
            // Prime to the sample, so that both are in it.
            let partition = if number % 3 == 0 { "hot".to_owned() } else { format!("cold {number}") };
            hot.note("Employee", &partition);
        }
        let read = hot.read();
        assert_eq!((read[0].0.as_str(), read[0].1.as_str(), read.len()), ("Employee", "hot", SHOWN));
        assert!((6_000..8_000).contains(&read[0].2), "{read:?}");
        assert!(hot.counted.lock().unwrap().len() <= COUNTED);
    }
}
