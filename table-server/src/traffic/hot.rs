//! The partitions with the most requests, estimated from samples in bounded memory.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The sampling interval: one of `SAMPLE` requests is counted, with the weight `SAMPLE`.
const SAMPLE: u64 = 16;
/// The number of counted partitions.
const COUNTED: usize = 64;
/// The number of reported partitions.
const SHOWN: usize = 10;
/// The number of samples after which every count is halved, so a formerly hot partition is not reported forever.
const HALVED_AFTER: u64 = 1 << 14;

/// Counts of the busiest partitions. If all slots are in use, a new partition replaces the one with the lowest count and inherits that count (the
/// algorithm "Space-Saving": a count is never too low, and too high by at most the smallest count).
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

    /// Returns the table, the key and the number of requests of each partition, the highest number first.
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
            // The period is coprime with the sampling interval, so both keys occur in the sample.
            let partition = if number % 3 == 0 { "hot".to_owned() } else { format!("cold {number}") };
            hot.note("Employee", &partition);
        }
        let read = hot.read();
        assert_eq!((read[0].0.as_str(), read[0].1.as_str(), read.len()), ("Employee", "hot", SHOWN));
        assert!((6_000..8_000).contains(&read[0].2), "{read:?}");
        assert!(hot.counted.lock().unwrap().len() <= COUNTED);
    }
}
