//! Server metrics in the Prometheus text format.

mod counter;
mod histogram;
mod text;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::cost::Cost;
use crate::operation::Operation;
use counter::Requests;
use histogram::Histogram;

pub(crate) use text::{UnderWay, write};

/// Counters of a server's requests. Counting a request takes no lock and allocates no memory.
#[derive(Debug)]
pub(crate) struct Metrics {
    requests: Requests,
    /// The response time histogram of each operation.
    latencies: Vec<Histogram>,
    rows_read: AtomicU64,
    rows_returned: AtomicU64,
    rows_written: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: Requests::default(),
            latencies: Operation::ALL.iter().map(|_| Histogram::default()).collect(),
            rows_read: AtomicU64::default(),
            rows_returned: AtomicU64::default(),
            rows_written: AtomicU64::default(),
            bytes_in: AtomicU64::default(),
            bytes_out: AtomicU64::default(),
        }
    }
}

/// An answered request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered<'a> {
    pub(crate) operation: Operation,
    pub(crate) cost: &'a Cost,
    pub(crate) status: u16,
    pub(crate) took: Duration,
    pub(crate) bytes_in: usize,
    pub(crate) bytes_out: usize,
}

impl Metrics {
    pub(crate) fn count(&self, answered: &Answered<'_>) {
        self.requests.count(answered.operation, answered.cost.class, answered.status);
        if let Some(latencies) = self.latencies.get(answered.operation as usize) {
            latencies.note(answered.took);
        }
        let add = |to: &AtomicU64, number: u64| {
            if number > 0 {
                to.fetch_add(number, Ordering::Relaxed);
            }
        };
        add(&self.rows_read, answered.cost.rows_read);
        add(&self.rows_returned, answered.cost.rows_returned);
        add(&self.rows_written, answered.cost.rows_written);
        add(&self.bytes_in, answered.bytes_in as u64);
        add(&self.bytes_out, answered.bytes_out as u64);
    }
}
