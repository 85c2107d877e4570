//! Report of a run, and assertions on it.

use table_core::error::{Error, Result};
use table_core::query::QueryClass;

use crate::asked::Asked;
use crate::fault::{BudgetFault, WorkloadFault};
use crate::heat_map::HeatMap;
use crate::picture;
use crate::prices::Prices;
use crate::random::real;
use crate::spread::{Heat, PARTITION_TARGET, Peak};
use crate::step::Step;

/// Requests a second that one account of the service takes (SCL-1).
pub(super) const ACCOUNT_TARGET: u64 = 20_000;
const SECONDS_A_MONTH: f64 = 30.0 * 86_400.0;

/// What one pattern of access costs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PatternCost {
    /// Its name.
    pub name: String,
    /// Operations a second.
    pub per_second: f64,
    /// The dearest class of its reads; `None` if it only writes.
    pub class: Option<QueryClass>,
    /// Operations of the run.
    pub operations: u64,
    /// Requests of the run that read.
    pub reads: u64,
    /// Requests of the run that write.
    pub writes: u64,
    /// The most requests of one operation.
    pub max_requests: u64,
    /// Entities written or looked at.
    pub entities: u64,
    /// Bytes of entities that are sent.
    pub bytes_written: u64,
    /// Bytes of entities that come back.
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

    pub(super) fn add(&mut self, step: &Step) {
        self.class = self.class.max(step.class);
        self.operations += 1;
        self.reads = self.reads.saturating_add(step.reads);
        self.writes = self.writes.saturating_add(step.writes);
        self.max_requests = self.max_requests.max(step.requests());
        self.entities = self.entities.saturating_add(step.entities);
        let bytes = if step.class.is_none() { &mut self.bytes_written } else { &mut self.bytes_read };
        *bytes = bytes.saturating_add(step.bytes);
    }

    /// What is the sum of the run, for one operation; 0 if there was none.
    #[must_use]
    pub fn each(&self, sum: u64) -> f64 {
        real(sum) / real(self.operations.max(1))
    }

    /// What is the sum of the run, for a month of 30 days.
    #[must_use]
    pub fn a_month(&self, sum: u64) -> f64 {
        self.each(sum) * self.per_second * SECONDS_A_MONTH
    }

    /// The money for a month.
    #[must_use]
    pub fn price(&self, prices: &Prices) -> f64 {
        prices.of(self.a_month(self.reads), self.a_month(self.writes), self.a_month(self.bytes_read))
    }
}

/// What is over the published targets (SCL-1), second by second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Throttling {
    /// Entities written and pages read over 2,000 a second in one partition.
    pub refused_load: u64,
    /// Requests over 20,000 a second in the account.
    pub refused_requests: u64,
    /// The most entities written and pages read of one partition in one second.
    pub hottest_second: u64,
    /// The partition that had them.
    pub hottest_partition: String,
}

/// What a run found. Text by `Display`, a picture by [`svg`](Self::svg).
///
/// ```
/// use table_core::Result;
/// use table_advice::Report;
///
/// /// What the test of a design holds.
/// fn hold(report: &Report) -> Result<()> {
///     report.no_throttling()?;
///     report.max_requests("an order by its number", 1)
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
    pub(super) asked: Asked,
}

impl Report {
    /// The costs of the patterns, in the order of the workload.
    #[must_use]
    pub fn patterns(&self) -> &[PatternCost] {
        &self.patterns
    }

    /// The costs of one pattern.
    ///
    /// # Errors
    /// `InvalidWorkload` if the workload has none of this name.
    pub fn pattern(&self, name: &str) -> Result<&PatternCost> {
        self.patterns.iter().find(|pattern| pattern.name == name).ok_or_else(|| {
            let known: Vec<_> = self.patterns.iter().map(|pattern| format!("`{}`", pattern.name)).collect();
            Error::of(WorkloadFault::NoPattern { pattern: name.to_owned(), known: known.join(", ") })
        })
    }

    /// The most requests that one operation of a pattern took.
    ///
    /// # Errors
    /// Those of [`pattern`](Self::pattern).
    pub fn requests(&self, pattern: &str) -> Result<u64> {
        Ok(self.pattern(pattern)?.max_requests)
    }

    /// How the requests that name a partition spread.
    #[must_use]
    pub const fn heat(&self) -> &Heat {
        &self.heat
    }

    /// Each partition with its share of all requests that name one, the hottest first.
    pub fn shares(&self) -> impl Iterator<Item = (&str, f64)> {
        let all = real(self.heat.writes());
        self.heat.hottest(usize::MAX).into_iter().map(move |(name, requests)| (name, real(requests) / all))
    }

    /// The partition that took the largest share of the requests of any one second, or of 1,000 in a row where a second has fewer.
    /// Sums over the whole run would hide a partition that is hot for an hour (PAT-ANTI-1).
    #[must_use]
    pub fn peak(&self) -> Peak {
        self.heat.peak()
    }

    /// Partitions over time.
    #[must_use]
    pub const fn heat_map(&self) -> &HeatMap {
        &self.map
    }

    /// What is over the published targets.
    #[must_use]
    pub const fn throttling(&self) -> &Throttling {
        &self.throttling
    }

    /// The heat map as a picture: an SVG file that needs no other.
    #[must_use]
    pub fn svg(&self) -> String {
        picture::svg(&self.name, &self.map)
    }

    /// That no partition takes a larger share at any moment: 0.05 is a twentieth.
    ///
    /// # Errors
    /// `OverBudget` (PAT-ANTI-1), with what to do about it.
    pub fn max_partition_share(&self, most: f64) -> Result<()> {
        let Peak { partition_key, share } = self.peak();
        // Not `share > most`: a bound that is not a number is held by nothing.
        if share <= most {
            return Ok(());
        }
        let (share, most) = (share * 100.0, most * 100.0);
        Err(Error::of(BudgetFault::Share { partition_key, share, most }))
    }

    /// That no operation of a pattern takes more requests.
    ///
    /// # Errors
    /// `OverBudget` (CLS-1), with what to do about it; those of [`pattern`](Self::pattern).
    pub fn max_requests(&self, pattern: &str, most: u64) -> Result<()> {
        let PatternCost { max_requests, class, .. } = self.pattern(pattern)?;
        if *max_requests <= most {
            return Ok(());
        }
        let remedy = match class {
            None => "keep fewer copies in other partitions, or move those to the entity's own partition",
            Some(QueryClass::Point | QueryClass::Range) => {
                "ask for fewer entities, with `top` or a narrower range"
            }
            Some(QueryClass::PartitionScan) => {
                "begin the RowKey with what the question gives, so that it is a range"
            }
            Some(QueryClass::FanOut(_)) => {
                "ask fewer partitions: fewer buckets, or a copy by what the question gives"
            }
            Some(QueryClass::PartitionRange | QueryClass::TableScan) => {
                "begin the PartitionKey with what the question gives, or declare an index that does"
            }
        };
        let kind = class.map_or_else(|| "write".to_owned(), |class| class.to_string());
        let (pattern, requests) = (pattern.to_owned(), *max_requests);
        Err(Error::of(BudgetFault::Requests { pattern, kind, requests, most, remedy }))
    }

    /// That nothing is over the published targets.
    ///
    /// # Errors
    /// `OverBudget` (SCL-1), with what to do about it.
    pub fn no_throttling(&self) -> Result<()> {
        self.over_target().map_or(Ok(()), |fault| Err(Error::of(fault)))
    }

    /// What is over a target, and what to do about it.
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

    /// The money for a month, of all patterns; `None` if the workload has no prices.
    #[must_use]
    pub fn price(&self) -> Option<f64> {
        let prices = self.prices.as_ref()?;
        Some(self.patterns.iter().map(|pattern| pattern.price(prices)).sum())
    }
}
