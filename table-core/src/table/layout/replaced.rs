//! Schemas that this process has replaced by newer ones, on stores that no other process can use. A handle with a replaced schema reads the stored
//! schema before its next write, even if its lease has not expired.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number of replacements in this process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The fingerprints of replaced schemas, each with the number of its last replacement.
static REPLACED: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Records that the schemas with these fingerprints have been replaced.
pub(super) fn note(fingerprints: &[String]) {
    if fingerprints.is_empty() {
        return;
    }
    let mut replaced = REPLACED.lock().unwrap_or_else(PoisonError::into_inner);
    let number = COUNT.load(Ordering::Relaxed).saturating_add(1);
    replaced.extend(fingerprints.iter().map(|fingerprint| (fingerprint.clone(), number)));
    COUNT.store(number, Ordering::Release);
}

/// Returns the number of replacements in this process.
pub(super) fn count() -> u64 {
    COUNT.load(Ordering::Acquire)
}

/// Returns `true` if a schema has been replaced since the given number of replacements.
pub(super) fn is_replaced_since(fingerprint: &str, number: u64) -> bool {
    let replaced = REPLACED.lock().unwrap_or_else(PoisonError::into_inner);
    replaced.get(fingerprint).is_some_and(|last| *last > number)
}
