//! A histogram of durations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets, in microseconds. Slower requests are counted in one additional bucket.
pub(super) const BOUNDS: [u64; 16] = [
    50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_500, 25_000, 50_000, 100_000, 250_000, 1_000_000,
    5_000_000, 30_000_000,
];

#[derive(Debug, Default)]
pub(super) struct Histogram {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

impl Histogram {
    pub(super) fn note(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let index = BOUNDS.partition_point(|bound| *bound < micros);
        if let Some(bucket) = self.buckets.get(index) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Returns the cumulative count for each histogram bucket, followed by the total number of requests, and the total time in microseconds.
    pub(super) fn read(&self) -> ([u64; BOUNDS.len() + 1], u64) {
        let mut below = 0;
        let counts = self.buckets.each_ref().map(|bucket| {
            below += bucket.load(Ordering::Relaxed);
            below
        });
        (counts, self.micros.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_its_bucket_and_all_larger_ones() {
        let histogram = Histogram::default();
        for micros in [50, 51, 60_000_000] {
            histogram.note(Duration::from_micros(micros));
        }
        let (counts, micros) = histogram.read();
        assert_eq!((counts[0], counts[1], counts[15], counts[16]), (1, 2, 2, 3));
        assert_eq!(micros, 60_000_101);
    }
}
