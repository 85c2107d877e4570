//! Workloads. A workload consists of the operations of an application's users, with their rates and duration.

use std::fmt;

use chrono::{DateTime, Utc};
use table_core::{Error, Result};

use crate::draw::Draw;
use crate::fault::WorkloadFault;
use crate::meter::Recorded;
use crate::prices::Prices;
use crate::step::Step;

/// The maximum number of operations in one run.
pub const MOST_OPERATIONS: u64 = 2_000_000;
/// The maximum duration of one run in seconds, equal to 30 days.
pub const MOST_SECONDS: u32 = 30 * 86_400;

type Next = Box<dyn Fn(&mut Draw<'_>) -> Result<Step>>;

/// An operation and its rate.
pub(super) struct Pattern {
    pub(super) name: String,
    pub(super) per_second: f64,
    pub(super) next: Next,
}

/// The expected load of an application: access patterns with their rates. See the [package](crate) for an example.
pub struct Workload {
    pub(super) name: String,
    pub(super) seed: u64,
    pub(super) seconds: u32,
    pub(super) start: DateTime<Utc>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) prices: Option<Prices>,
}

impl Workload {
    /// Creates an empty workload with seed 0 that starts at the Unix epoch and lasts 60 seconds.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let start = DateTime::UNIX_EPOCH;
        Self { name: name.into(), seed: 0, seconds: 60, start, patterns: Vec::new(), prices: None }
    }

    /// Sets the seed. With a different seed, the values differ but follow the same distributions.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the duration of the workload in seconds.
    #[must_use]
    pub fn seconds(self, seconds: u32) -> Self {
        Self { seconds, ..self }
    }

    /// Sets the start time of the workload.
    #[must_use]
    pub fn start(self, start: DateTime<Utc>) -> Self {
        Self { start, ..self }
    }

    /// Sets the prices of requests and returned data.
    #[must_use]
    pub fn prices(self, prices: Prices) -> Self {
        Self { prices: Some(prices), ..self }
    }

    /// Adds an operation with its rate. [`run`](Self::run) reports invalid rates and names.
    #[must_use]
    pub fn pattern(
        mut self,
        name: impl Into<String>,
        per_second: f64,
        next: impl Fn(&mut Draw<'_>) -> Result<Step> + 'static,
    ) -> Self {
        self.patterns.push(Pattern { name: name.into(), per_second, next: Box::new(next) });
        self
    }

    /// Adds a recording from a [`Meter`](crate::meter::Meter::recording). It is replayed at `per_second` requests per second, and restarts when it ends.
    ///
    /// ```
    /// use table_advice::Workload;
    /// use table_advice::meter::Meter;
    /// use table_core::{Engine, Entity, TableStoreExt};
    ///
    /// #[derive(Entity)]
    /// #[partition_key(department)]
    /// #[row_key(id)]
    /// struct Employee { department: String, id: u32 }
    ///
    /// # pollster::block_on(async {
    /// let meter = Meter::recording(Engine::in_memory());
    /// let employees = meter.table::<Employee>().create_if_missing().await?;
    /// for id in 0..10 {
    ///     employees.insert(&Employee { department: "Sales".into(), id }).await?;
    /// }
    /// let report = Workload::new("hires").replay("as recorded", 3_000.0, meter.take_recorded()).seconds(2).run()?;
    /// assert!(report.require_no_throttling().is_err()); // one partition accepts 2,000 a second (SCL-1)
    /// # Ok::<(), table_core::Error>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn replay(self, name: impl Into<String>, per_second: f64, recorded: Vec<Recorded>) -> Self {
        self.pattern(name, per_second, move |draw| {
            let place = draw.number().checked_rem(recorded.len() as u64);
            let recorded = place.and_then(|place| recorded.get(usize::try_from(place).ok()?));
            recorded.map(Step::recorded).ok_or_else(|| Error::of(WorkloadFault::NothingRecorded))
        })
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.seconds > MOST_SECONDS {
            let seconds = self.seconds;
            return Err(Error::of(WorkloadFault::Seconds { seconds, most: MOST_SECONDS }));
        }
        let mut operations = 0.0;
        for (place, pattern) in self.patterns.iter().enumerate() {
            let (name, rate) = (&pattern.name, pattern.per_second);
            if !(rate.is_finite() && rate >= 0.0) {
                return Err(Error::of(WorkloadFault::Rate { pattern: name.clone(), rate }));
            }
            if self.patterns.iter().take(place).any(|earlier| earlier.name == *name) {
                return Err(Error::of(WorkloadFault::SameName(name.clone())));
            }
            operations += rate * f64::from(self.seconds);
        }
        if operations < 0.5 {
            return Err(Error::of(WorkloadFault::NoOperations));
        }
        #[expect(clippy::cast_precision_loss, reason = "two million is exact")]
        if operations > MOST_OPERATIONS as f64 {
            return Err(Error::of(WorkloadFault::Operations { operations, most: MOST_OPERATIONS }));
        }
        self.prices.as_ref().map_or(Ok(()), Prices::check)
    }
}

impl fmt::Debug for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patterns: Vec<_> =
            self.patterns.iter().map(|pattern| (&pattern.name, pattern.per_second)).collect();
        let name = &self.name;
        f.debug_struct("Workload").field("name", name).field("patterns", &patterns).finish_non_exhaustive()
    }
}
