//! Counters of requests by operation, query class and status, with one atomic counter per combination.

use std::sync::atomic::{AtomicU64, Ordering};

use table_core::query::QueryClass;

use crate::operation::Operation;

/// The counted HTTP statuses. Any other status is counted as 0, the last entry.
const STATUSES: [u16; 24] = [
    200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 405, 406, 408, 409, 411, 412, 413, 415, 416, 429, 500,
    501, 503, 0,
];
const CLASSES: [&str; 7] =
    ["none", "point", "range", "partition_scan", "partition_range", "fan_out", "table_scan"];

#[derive(Debug)]
pub(super) struct Requests(Vec<AtomicU64>);

impl Default for Requests {
    fn default() -> Self {
        let all = Operation::ALL.len() * CLASSES.len() * STATUSES.len();
        Self((0..all).map(|_| AtomicU64::default()).collect())
    }
}

const fn class_index(class: Option<QueryClass>) -> usize {
    match class {
        None => 0,
        Some(QueryClass::Point) => 1,
        Some(QueryClass::Range) => 2,
        Some(QueryClass::PartitionScan) => 3,
        Some(QueryClass::PartitionRange) => 4,
        Some(QueryClass::FanOut(_)) => 5,
        Some(QueryClass::TableScan) => 6,
    }
}

impl Requests {
    pub(super) fn count(&self, operation: Operation, class: Option<QueryClass>, status: u16) {
        let status = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len() - 1);
        let index = (operation as usize * CLASSES.len() + class_index(class)) * STATUSES.len() + status;
        if let Some(count) = self.0.get(index) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the number of requests for each combination of operation, query class and status that has occurred.
    pub(super) fn each(&self) -> impl Iterator<Item = (Operation, &'static str, u16, u64)> {
        let labels = Operation::ALL.iter().flat_map(|operation| {
            CLASSES
                .iter()
                .flat_map(move |class| STATUSES.iter().map(move |status| (*operation, *class, *status)))
        });
        labels.zip(&self.0).filter_map(|((operation, class, status), count)| {
            let count = count.load(Ordering::Relaxed);
            (count > 0).then_some((operation, class, status, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_class_and_status_is_counted_separately() {
        let requests = Requests::default();
        for _ in 0..3 {
            requests.count(Operation::QueryEntities, Some(QueryClass::TableScan), 200);
        }
        requests.count(Operation::Other, None, 200);
        requests.count(Operation::QueryTables, None, 999);
        assert_eq!(
            requests.each().collect::<Vec<_>>(),
            [
                (Operation::QueryTables, "none", 0, 1),
                (Operation::QueryEntities, "table_scan", 200, 3),
                (Operation::Other, "none", 200, 1),
            ]
        );
    }
}
