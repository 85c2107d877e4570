//! Counts and reports the items that queries skip because other programs wrote them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use table_core::Error;

/// The maximum number of errors kept. Older errors are dropped, but the count still includes them.
const KEPT: usize = 100;

/// Items skipped by queries because other programs wrote them in a different format.
///
/// ```no_run
/// # fn program(store: table_cosmos::CosmosTables) {
/// let skipped = store.skipped_items();
/// if skipped.count > 0 {
///     eprintln!("{} items were skipped; the last: {:?}", skipped.count, skipped.latest.last());
/// }
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SkippedItems {
    /// The number of skipped items. An item is counted each time a query skips it.
    pub count: u64,
    /// The errors for the last 100 skipped items, oldest first. Each error names the table, the key and the reason.
    pub latest: Vec<Error>,
}

/// Collects the items skipped by queries.
#[derive(Debug, Default)]
pub(crate) struct Skipped(Mutex<(u64, VecDeque<Error>)>);

impl Skipped {
    pub(crate) fn add(&self, error: Error) {
        tracing::warn!(target: "table_cosmos", %error, "an item of another program was skipped");
        let mut report = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        report.0 = report.0.saturating_add(1);
        if report.1.len() == KEPT {
            report.1.pop_front();
        }
        report.1.push_back(error);
    }

    pub(crate) fn items(&self) -> SkippedItems {
        let report = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        SkippedItems { count: report.0, latest: report.1.iter().cloned().collect() }
    }
}
