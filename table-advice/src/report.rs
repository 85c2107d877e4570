//! The report of a run, with assertions for tests.

use table_core::query::QueryClass;
use table_core::{Error, Result};

use crate::demand::Demand;
use crate::fault::{BudgetFault, WorkloadFault};
use crate::heat_map::HeatMap;
use crate::picture;
use crate::prices::Prices;
use crate::random::real;
use crate::spread::{Heat, PARTITION_TARGET, Peak};
use crate::step::Step;

/// The number of requests per second that one account of the service accepts (SCL-1).
pub(super) const ACCOUNT_TARGET: u64 = 20_000;
const SECONDS_A_MONTH: f64 = 30.0 * 86_400.0;

/// The cost of one access pattern.
///
/// If the pattern has a rate above 0 but is too rare to occur in the run, `operations` is 0. All other counts are then for a single operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PatternCost {
    /// The name of the pattern in the workload.
    pub name: String,
    /// The number of operations per second.
    pub per_second: f64,
    /// The most expensive query class among the reads of the pattern. `None` if the pattern only writes.
    pub class: Option<QueryClass>,
    /// The number of operations in the run.
    pub operations: u64,
    /// The number of read requests in the run.
    pub reads: u64,
    /// The number of write requests in the run.
    pub writes: u64,
    /// The highest number of requests in any one operation.
    pub max_requests: u64,
    /// The number of entities written or examined.
    pub entities: u64,
    /// The number of bytes in the written entities.
    pub bytes_written: u64,
    /// The number of bytes in the returned entities.
    pub bytes_read: u64,
}

impl PatternCost {
    pub(super) fn new(name: &str, per_second: f64) -> Self {
        Self {
            name: name.to_owned(),
            per_second,
            class: None,
            operations: 0,
            reads: 0,
            writes: 0,
            max_requests: 0,
            entities: 0,
            bytes_written: 0,
            bytes_read: 0,
        }
    }

    /// Adds the cost of one operation.
    pub(super) fn add(&mut self, step: &Step) {
        self.class = self.class.max(step.class);
        self.reads = self.reads.saturating_add(step.reads);
        self.writes = self.writes.saturating_add(step.writes);
        self.max_requests = self.max_requests.max(step.requests());
        self.entities = self.entities.saturating_add(step.entities);
        let bytes = if step.class.is_none() { &mut self.bytes_written } else { &mut self.bytes_read };
        *bytes = bytes.saturating_add(step.bytes);
    }

    /// Converts a total over the run to the average per operation. Returns 0 if the rate of the pattern is 0.
    #[must_use]
    pub fn each(&self, sum: u64) -> f64 {
        real(sum) / real(self.operations.max(1))
    }

    /// Extrapolates a total over the run to a month of 30 days.
    #[must_use]
    pub fn per_month(&self, sum: u64) -> f64 {
        self.each(sum) * self.per_second * SECONDS_A_MONTH
    }

    /// Returns the price of the pattern's operations in a month.
    #[must_use]
    pub fn price(&self, prices: &Prices) -> f64 {
        prices.of(self.per_month(self.reads), self.per_month(self.writes), self.per_month(self.bytes_read))
    }
}

/// The load above the published targets (SCL-1), computed for each second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Throttling {
    /// The number of entities written and pages read above a partition's limit of 2,000 per second.
    pub refused_load: u64,
    /// The number of requests above the account's limit of 20,000 per second.
    pub refused_requests: u64,
    /// The highest load of any one partition in one second. The load is the number of entities written plus the number of pages read.
    pub hottest_second: u64,
    /// The partition with the load [`hottest_second`](Self::hottest_second).
    pub hottest_partition: String,
}

/// The result of a run. The `Display` implementation writes it as text, and [`svg`](Self::svg) draws it.
///
/// ```
/// use table_core::Result;
/// use table_advice::Report;
///
/// /// Checks a design in a test.
/// fn hold(report: &Report) -> Result<()> {
///     report.require_no_throttling()?;
///     report.require_max_requests("an order by its number", 1)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Report {
    pub(super) name: String,
    pub(super) seed: u64,
    pub(super) seconds: u32,
    pub(super) patterns: Vec<PatternCost>,
    pub(super) heat: Heat,
    pub(super) map: HeatMap,
    pub(super) throttling: Throttling,
    pub(super) busiest_second: u64,
    pub(super) prices: Option<Prices>,
    pub(super) demand: Demand,
}

impl Report {
    /// Returns the costs of the patterns, in the order in which they were added to the workload.
    #[must_use]
    pub fn patterns(&self) -> &[PatternCost] {
        &self.patterns
    }

    /// Returns the cost of one pattern.
    ///
    /// # Errors
    /// `InvalidWorkload` if the workload has no pattern with this name.
    pub fn pattern(&self, name: &str) -> Result<&PatternCost> {
        self.patterns.iter().find(|pattern| pattern.name == name).ok_or_else(|| {
            let known: Vec<_> = self.patterns.iter().map(|pattern| format!("`{}`", pattern.name)).collect();
            Error::of(WorkloadFault::NoPattern { pattern: name.to_owned(), known: known.join(", ") })
        })
    }

    /// Returns the highest number of requests in any one operation of a pattern.
    ///
    /// # Errors
    /// `InvalidWorkload` if the workload has no pattern with this name.
    pub fn requests(&self, pattern: &str) -> Result<u64> {
        Ok(self.pattern(pattern)?.max_requests)
    }

    /// Returns the distribution of requests over partitions. It includes only requests to a single partition.
    #[must_use]
    pub const fn heat(&self) -> &Heat {
        &self.heat
    }

    /// Returns each partition with its share of all single-partition requests, hottest first.
    pub fn shares(&self) -> impl Iterator<Item = (&str, f64)> {
        let all = real(self.heat.writes());
        self.heat.hottest(usize::MAX).into_iter().map(move |(name, requests)| (name, real(requests) / all))
    }

    /// Returns the partition with the largest share of any sequence of consecutive requests.
    ///
    /// The length of the sequence is the average number of requests per second, but at least 1,000. A total over the entire workload would hide a partition
    /// that is hot for an hour (PAT-ANTI-1).
    #[must_use]
    pub fn peak(&self) -> Peak {
        self.heat.peak()
    }

    /// Returns the heat map of the partitions over time.
    #[must_use]
    pub const fn heat_map(&self) -> &HeatMap {
        &self.map
    }

    /// Returns the load above the published targets.
    #[must_use]
    pub const fn throttling(&self) -> &Throttling {
        &self.throttling
    }

    /// Returns the heat map as a self-contained SVG file.
    #[must_use]
    pub fn svg(&self) -> String {
        picture::svg(&self.name, &self.map)
    }

    /// Checks that no partition ever receives more than the share `most` of the requests. For example, 0.05 means 5%.
    ///
    /// # Errors
    /// `OverBudget` (PAT-ANTI-1) if a partition receives a larger share. The message suggests a remedy.
    pub fn require_max_partition_share(&self, most: f64) -> Result<()> {
        let Peak { partition_key, share } = self.peak();
        // The condition is not `share > most`, because the check must also fail if `most` is NaN.
        if share <= most {
            return Ok(());
        }
        let (share, most) = (share * 100.0, most * 100.0);
        Err(Error::of(BudgetFault::Share { partition_key, share, most }))
    }

    /// Checks that no operation of a pattern takes more than the given number of requests.
    ///
    /// # Errors
    /// - `OverBudget` (CLS-1) if an operation takes more requests. The message suggests a remedy.
    /// - `InvalidWorkload` if the workload has no pattern with this name.
    pub fn require_max_requests(&self, pattern: &str, most: u64) -> Result<()> {
        let PatternCost { max_requests, class, .. } = self.pattern(pattern)?;
        if *max_requests <= most {
            return Ok(());
        }
        let remedy = match class {
            None => "keep fewer copies in other partitions, or move them to the partition of the entity",
            Some(QueryClass::Point | QueryClass::Range) => {
                "read fewer entities, with `top` or a narrower range"
            }
            Some(QueryClass::PartitionScan) => {
                "start the RowKey with the fields that the query fixes, which makes it a range"
            }
            Some(QueryClass::FanOut(_)) => {
                "query fewer partitions, with fewer buckets or an index on the fields that the query fixes"
            }
            Some(QueryClass::PartitionRange | QueryClass::TableScan) => {
                "start the PartitionKey with the fields that the query fixes, or declare an index that does"
            }
        };
        let kind = class.map_or_else(|| "write".to_owned(), |class| class.to_string());
        let (pattern, requests) = (pattern.to_owned(), *max_requests);
        Err(Error::of(BudgetFault::Requests { pattern, kind, requests, most, remedy }))
    }

    /// Checks that neither a partition nor the account exceeds its published target.
    ///
    /// # Errors
    /// `OverBudget` (SCL-1) if a partition or the account exceeds its target. The message suggests a remedy.
    pub fn require_no_throttling(&self) -> Result<()> {
        self.over_target().map_or(Ok(()), |fault| Err(Error::of(fault)))
    }

    /// Returns the fault if a target is exceeded, with a remedy. Returns `None` if no target is exceeded.
    pub(super) fn over_target(&self) -> Option<BudgetFault> {
        let Throttling { refused_load, refused_requests, hottest_second, hottest_partition } =
            &self.throttling;
        if *refused_load > 0 {
            let (partition_key, load) = (hottest_partition.clone(), *hottest_second);
            return Some(BudgetFault::Partition { partition_key, load, target: PARTITION_TARGET });
        }
        let account = || BudgetFault::Account { requests: self.busiest_second, target: ACCOUNT_TARGET };
        (*refused_requests > 0).then(account)
    }

    /// Returns the price of all patterns in a month, or `None` if the workload has no prices.
    #[must_use]
    pub fn price(&self) -> Option<f64> {
        let prices = self.prices.as_ref()?;
        Some(self.patterns.iter().map(|pattern| pattern.price(prices)).sum())
    }
}
