//! Derives engine options from a seed. A folder can therefore be opened with different options each time.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::{Durability, EngineOptions};
use table_core::limits::Limits;

/// Derives options from a seed. They keep the default durability, because acknowledged writes must survive a crash.
pub fn drawn(seed: u64) -> EngineOptions {
    let mut random = StdRng::seed_from_u64(seed);
    let mut one_of =
        |choices: &[usize]| choices.get(random.random_range(0..choices.len())).copied().unwrap_or(1);
    let checkpoint = one_of(&[64 << 10, 256 << 10, 768 << 10, 4 << 20, 48 << 20]);
    let recent = checkpoint * one_of(&[1, 2, 4, 16]);
    let cache = one_of(&[0, 1 << 20, 16 << 20, 256 << 20]);
    let delay = u64::try_from(one_of(&[0, 0, 1, 50])).unwrap_or_default();
    EngineOptions::new()
        .limits(Limits::UNLIMITED)
        .checkpoint_bytes(checkpoint)
        .memtable_bytes(recent)
        .cache_bytes(cache)
        .table_delete_delay(Duration::from_millis(delay))
}

/// Derives options from a seed, as [`drawn`] does, but with the given durability.
pub fn drawn_with(seed: u64, durability: Durability) -> EngineOptions {
    drawn(seed).durability(durability)
}
