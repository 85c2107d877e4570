//! Runs a workload. It performs all operations in chronological order, and counts their requests.

use std::collections::BTreeMap;

use table_core::{Error, Result};

use crate::demand::Demand;
use crate::draw::Draw;
use crate::fault::WorkloadFault;
use crate::heat_map::{HeatMap, Touch};
use crate::random::{Random, real};
use crate::report::{ACCOUNT_TARGET, PatternCost, Report, Throttling};
use crate::spread::{Heat, PARTITION_TARGET};
use crate::step::{Step, load};
use crate::workload::{MOST_OPERATIONS, Pattern, Workload};

/// The minimum number of consecutive requests over which the peak share of a partition is measured. In a shorter run, a partition could appear hot by chance.
const SHORTEST_RUN: usize = 1_000;

/// The state of one pattern during a run.
struct Turn {
    random: Random,
    number: u64,
    cost: PatternCost,
}

impl Turn {
    /// Returns the time of the pattern's next operation, which is the middle of its time slot.
    fn due(&self) -> f64 {
        (real(self.number) + 0.5) / self.cost.per_second
    }

    /// Performs the pattern's next operation.
    fn next(&mut self, workload: &Workload, pattern: &Pattern, seconds: f64) -> Result<Step> {
        let start = workload.start;
        let mut draw = Draw { random: &mut self.random, number: self.number, seconds, start };
        self.number += 1;
        (pattern.next)(&mut draw)
    }
}

impl Workload {
    /// Runs the workload without I/O.
    ///
    /// If a pattern has a rate above 0 but is too rare to occur in the run, it is evaluated once. Its operation is priced and checked, but is not part of the
    /// heat map.
    ///
    /// # Errors
    /// - `InvalidWorkload` if no pattern has operations, or if two patterns have the same name.
    /// - `InvalidWorkload` if a rate or a price is negative or not a number.
    /// - `InvalidWorkload` if the run exceeds [`MOST_OPERATIONS`] or [`MOST_SECONDS`](crate::workload::MOST_SECONDS).
    /// - Any error returned by a pattern's closure, such as one from [`Step::write`].
    pub fn run(&self) -> Result<Report> {
        self.check()?;
        run(self)
    }
}

fn run(workload: &Workload) -> Result<Report> {
    let new_turn = |pattern: &Pattern| Turn {
        random: Random::new(workload.seed, &pattern.name),
        number: 0,
        cost: PatternCost::new(&pattern.name, pattern.per_second),
    };
    let mut turns: Vec<Turn> = workload.patterns.iter().map(new_turn).collect();
    let mut tally = Tally::new(workload.seconds);
    let end = f64::from(workload.seconds);
    loop {
        let due = turns.iter().enumerate().map(|(place, turn)| (turn.due(), place));
        // A pattern with a rate of 0 is never due.
        let next = due.filter(|(due, _)| *due < end).min_by(|left, right| left.0.total_cmp(&right.0));
        let Some((seconds, place)) = next else { break };
        let (Some(turn), Some(pattern)) = (turns.get_mut(place), workload.patterns.get(place)) else { break };
        let step = turn.next(workload, pattern, seconds)?;
        turn.cost.operations += 1;
        turn.cost.add(&step);
        tally.add(seconds, step)?;
    }
    // The cost of an operation does not depend on its rate. A pattern that is too rare for the run is therefore priced by one operation outside the run.
    for (turn, pattern) in turns.iter_mut().zip(&workload.patterns) {
        if turn.number == 0 && pattern.per_second > 0.0 {
            let step = turn.next(workload, pattern, end)?;
            turn.cost.add(&step);
            tally.demand.add(&step, pattern.per_second * end);
        }
    }
    let patterns = turns.into_iter().map(|turn| turn.cost).collect();
    Ok(tally.finish(workload, patterns))
}

/// The totals of the requests and the load of all patterns, updated during a run.
struct Tally {
    numbers: BTreeMap<String, usize>,
    touches: Vec<Touch>,
    /// The number of requests in each second.
    requests: Vec<u64>,
    demand: Demand,
}

impl Tally {
    fn new(seconds: u32) -> Self {
        let requests = vec![0; usize::try_from(seconds).unwrap_or_default()];
        Self { numbers: BTreeMap::new(), touches: Vec::new(), requests, demand: Demand::default() }
    }

    fn add(&mut self, seconds: f64, step: Step) -> Result<()> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and below the seconds of the run"
        )]
        let second = seconds as u32;
        if let Some(requests) = usize::try_from(second).ok().and_then(|place| self.requests.get_mut(place)) {
            *requests = requests.saturating_add(step.writes).saturating_add(load(step.reads));
        }
        // A single fan-out operation can touch many partitions.
        if (self.touches.len() + step.touches.len()) as u64 > 4 * MOST_OPERATIONS {
            return Err(Error::of(WorkloadFault::Partitions));
        }
        self.demand.add(&step, 1.0);
        for (name, load) in step.touches {
            let next = self.numbers.len();
            let partition = *self.numbers.entry(name).or_insert(next);
            self.touches.push(Touch { second, partition, load });
        }
        Ok(())
    }

    fn finish(self, workload: &Workload, patterns: Vec<PatternCost>) -> Report {
        let mut names = vec![String::new(); self.numbers.len()];
        for (name, number) in self.numbers {
            if let Some(place) = names.get_mut(number) {
                *place = name;
            }
        }
        let a_second = self.touches.len() / usize::try_from(workload.seconds).unwrap_or(1).max(1);
        let mut heat = Heat::of_runs(a_second.max(SHORTEST_RUN));
        for touch in &self.touches {
            heat.write_to(names.get(touch.partition).map_or("", String::as_str));
        }
        let mut throttling = throttled(&self.touches, &names);
        let over = |requests: &u64| requests.saturating_sub(ACCOUNT_TARGET);
        throttling.refused_requests = self.requests.iter().map(over).fold(0, u64::saturating_add);
        let map = HeatMap::new(&names, &self.touches, workload.seconds);
        Report {
            name: workload.name.clone(),
            seed: workload.seed,
            seconds: workload.seconds,
            patterns,
            heat,
            map,
            throttling,
            busiest_second: self.requests.iter().copied().max().unwrap_or_default(),
            prices: workload.prices.clone(),
            demand: self.demand,
        }
    }
}

/// Returns the load above the target of each partition, summed over all seconds (SCL-1). `touches` must be sorted by time.
fn throttled(touches: &[Touch], names: &[String]) -> Throttling {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small whole number")]
    let target = PARTITION_TARGET as u64;
    let mut throttling = Throttling::default();
    for second in touches.chunk_by(|left, right| left.second == right.second) {
        let mut loads: BTreeMap<usize, u64> = BTreeMap::new();
        for touch in second {
            let load = loads.entry(touch.partition).or_default();
            *load = load.saturating_add(touch.load);
        }
        let hottest = loads.iter().max_by_key(|(number, load)| (**load, std::cmp::Reverse(**number)));
        if let Some((partition, load)) = hottest
            && *load > throttling.hottest_second
        {
            throttling.hottest_second = *load;
            throttling.hottest_partition = names.get(*partition).cloned().unwrap_or_default();
        }
        let over = loads.values().map(|load| load.saturating_sub(target));
        throttling.refused_load = over.fold(throttling.refused_load, u64::saturating_add);
    }
    throttling
}
