//! Models the physical partitions of a Cosmos DB container under a workload: their load, splits and limits.
//!
//! The model also compares the possible orders of the partition key's levels, and generates warnings.

use std::fmt;

use table_core::{Error, Result};
use table_hierarchy::{
    Cause, Component, Fixed, KeyLoad, Load, NextSplit, Order, Route, common_levels, picture,
};

use crate::demand::{RangeDemand, middle};
use crate::design::Design;
use crate::fault::{BudgetFault, WorkloadFault};
use crate::report::Report;

const SECONDS_A_DAY: f64 = 86_400.0;
/// The maximum number of items listed in one text. It applies to the partition keys near their limit in the summary, and to the tables in an error message.
const NAMED: usize = 5;
/// The documented minimum number of distinct first-level values for evenly spread writes (HPK-16).
const FIRST_VALUES: usize = 1_000;

/// The physical partitions of a container under a workload, before and after all pending splits.
///
/// ```
/// use table_core::Entity;
/// use table_advice::{Design, Distribution, Step, Workload};
///
/// #[derive(Entity)]
/// #[entity(table = "Events")]
/// #[partition_key(tenant, user)]
/// #[row_key(number)]
/// struct Event { tenant: String, user: String, #[digits(8)] number: u32, body: String }
///
/// let users = Distribution::uniform(200)?;
/// let report = Workload::new("events").pattern("store", 50.0, move |draw| {
///     let (user, number) = (format!("u{}", draw.of(&users)), draw.number());
///     let number = u32::try_from(number).unwrap_or_default();
///     Step::write(&Event { tenant: "contoso".into(), user, number, body: "x".repeat(900) })
/// }).run()?;
/// let container = report.container(&Design::of::<Event>().days(30.0))?;
/// assert!(container.splits.len() > 3); // one tenant of 240 GB, no user of 20
/// container.max_full(0.95)?;
/// assert!(container.svg().starts_with("<svg"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Container {
    /// The physical partitions before any split.
    pub before: Load,
    /// The pending splits, in order.
    pub splits: Vec<NextSplit>,
    /// The physical partitions after the splits.
    pub after: Load,
    /// The possible orders of the levels, best first, as ranked by `Load::orders`. Empty if the design has no queries.
    pub orders: Vec<Order>,
    /// The request units per second that belong to no partition key of the design.
    unplaced: f64,
    design: Design,
}

impl Report {
    /// Models the physical partitions of a container with this design. Assumes that the workload continues at its rates.
    ///
    /// The model assumes that every write adds an entity, and that no entity is ever deleted. As in the rest of the report, a character counts as two bytes.
    /// ASCII JSON needs only half of that, but the service's index needs additional space. Reads and writes cost the published request units. The cost of a
    /// query over several partition keys is divided equally among the keys that the workload accesses individually.
    ///
    /// # Errors
    /// - `InvalidWorkload` if one of the design's queries fixes an unknown level.
    /// - `InvalidWorkload` if one of the design's numeric settings is negative, infinite or not a number.
    /// - `InvalidInput` if the design's throughput, or its stored bytes in any level order, need more than 1,000 physical partitions.
    /// - `InvalidWorkload` if the workload has load, but none of it is on the design's [table](Design::table).
    pub fn container(&self, design: &Design) -> Result<Container> {
        if let Some((query, level)) = design.unknown.clone() {
            let known = design.levels.join(", ");
            return Err(Error::of(WorkloadFault::NoLevel { query, level, known }));
        }
        design.check()?;
        let (seconds, whole) = (f64::from(self.seconds.max(1)), design.days * SECONDS_A_DAY);
        let is_table = |table: &str| table.eq_ignore_ascii_case(&design.table);
        let tables = self.demand.tables();
        let has_load = !self.demand.keys.is_empty() || !self.demand.ranges.is_empty();
        if has_load && !tables.iter().any(|table| is_table(table)) {
            let named: Vec<String> = tables.iter().take(NAMED).map(|table| format!("`{table}`")).collect();
            let known = if named.is_empty() { "not named".to_owned() } else { named.join(", ") };
            return Err(Error::of(WorkloadFault::NoTable { table: design.table.clone(), known }));
        }
        let (mut keys, mut unplaced) = (Vec::new(), 0.0);
        for (name, demand) in &self.demand.keys {
            let Some((_, partition_key)) = name.split_once('/').filter(|(table, _)| is_table(table)) else {
                continue;
            };
            let ru = demand.units / seconds;
            let Some(levels) = design.split(partition_key) else {
                unplaced += ru;
                continue;
            };
            let growth = demand.bytes / seconds;
            keys.push(KeyLoad { levels, bytes: growth * whole, growth, ru });
        }
        let ranges = self.demand.ranges.iter().filter(|((table, _), _)| is_table(table));
        for ((_, range), demand) in ranges {
            // In a container with one level, that level is the entire key. A query over several keys does not fix it, so the keys share no level.
            let common = if design.levels.len() == 1 { Vec::new() } else { common_levels(range) };
            unplaced += spread(&mut keys, &common, demand, seconds, design)?;
        }
        let before = Load::new(design.map.clone(), keys, design.bounds);
        let before = match design.throughput {
            Some(ru) => before.with_throughput(ru),
            None => before,
        };
        let mut after = before.clone();
        let splits = after.settle()?;
        let questions: Vec<Vec<bool>> = design.questions.iter().map(|(_, fixes)| fixes.clone()).collect();
        let orders = if questions.is_empty() { Vec::new() } else { before.orders(&questions)? };
        Ok(Container { before, splits, after, orders, unplaced, design: design.clone() })
    }
}

/// Distributes the request units of a query evenly over the known partition keys that it reads.
///
/// Returns the request units per second that could not be distributed. If the query reads no known partition key, these are all of them. Otherwise, the result
/// is 0.
fn spread(
    keys: &mut [KeyLoad],
    prefix: &[String],
    demand: &RangeDemand,
    seconds: f64,
    design: &Design,
) -> Result<f64> {
    let fixed = (0..design.levels.len()).map(|level| match prefix.get(level) {
        Some(text) => Fixed::To(vec![Component::text(text.as_str())]),
        None => Fixed::Not,
    });
    let route = Route::new(&fixed.collect::<Vec<_>>(), &design.map)?;
    let units = (demand.queries * middle(route.partitions()) + demand.units) / seconds;
    let below = |key: &&mut KeyLoad| key.levels.starts_with(prefix);
    let count = keys.iter_mut().filter(below).count();
    if count == 0 {
        return Ok(units);
    }
    let share = units / f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    keys.iter_mut().filter(below).for_each(|key| key.ru += share);
    Ok(0.0)
}

impl Container {
    /// Returns an SVG diagram of the partitions before and after all pending splits.
    #[must_use]
    pub fn svg(&self) -> String {
        picture(&[("before the splits", &self.before), ("after the splits", &self.after)])
    }

    /// Returns the number of distinct first-level values. Until the first split, writes cannot reach more partitions than this number (HPK-9, HPK-16).
    #[must_use]
    pub fn first_values(&self) -> usize {
        self.before.first_values()
    }

    /// Returns the warnings about this design. Most warnings cite the number of a rule in the documentation.
    ///
    /// ```
    /// # use table_core::Entity;
    /// use table_advice::{Design, Step, Workload};
    ///
    /// # #[derive(Entity)]
    /// # #[entity(table = "Events")]
    /// # #[partition_key(tenant, user)]
    /// # #[row_key(number)]
    /// # struct Event { tenant: String, user: String, #[digits(8)] number: u32 }
    /// let report = Workload::new("one tenant").pattern("store", 200.0, |draw| {
    ///     let number = u32::try_from(draw.number()).unwrap_or_default();
    ///     Step::write(&Event { tenant: "contoso".into(), user: format!("u{}", number % 100), number })
    /// }).run()?;
    /// let container = report.container(&Design::of::<Event>().partitions(8).throughput(3_200.0))?;
    /// assert!(container.warnings().iter().any(|warning| warning.contains("throttled")));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (values, partitions) = (self.first_values(), self.before.map().partitions().len());
        let first = self.design.levels.first().map_or("the first level", String::as_str);
        if values < partitions {
            warnings.push(format!(
                "few values first: {values} of {first} reach {values} of {partitions} partitions at most (HPK-9)"
            ));
        } else if values < FIRST_VALUES {
            warnings.push(format!(
                "{first} has {values} values; writes are spread evenly only over at least {FIRST_VALUES} (HPK-16)"
            ));
        }
        if self.design.throughput.is_none() {
            warnings.push(format!(
                "no throughput is set, so each partition is assumed to have {:.0} request units a second",
                self.design.bounds.physical_ru
            ));
        }
        if self.unplaced > 0.0 {
            warnings.push(format!(
                "{:.1} request units a second are not counted, because they read no partition key that the workload writes or names, or their keys \
                 do not consist of {}",
                self.unplaced,
                self.design.levels.join(" > ")
            ));
        }
        let until = self.before.slowdown();
        if until > 1.0 && !self.splits.is_empty() {
            warnings.push(format!(
                "until the splits, which take hours, the hottest partition is throttled: the work takes {until:.1} times as long (HPK-12)"
            ));
        }
        let slowdown = self.after.slowdown();
        if slowdown > 1.0 {
            warnings.push(format!(
                "the hottest partition is throttled: the work takes {slowdown:.1} times as long (HPK-12, HPK-14)"
            ));
        }
        if let Some((ru, seconds)) = self.design.deadline {
            let needed = ru / self.before.ceiling().max(f64::MIN_POSITIVE);
            if needed > seconds {
                warnings.push(format!(
                    "the ingest takes {needed:.0} of {seconds:.0} seconds at {:.0} request units a second; splits take hours (HPK-11, HPK-12)",
                    self.before.ceiling()
                ));
            }
        }
        warnings
    }

    /// Checks that no partition key uses more than the share `most` of its storage or throughput limit. Also checks that no partition exceeds this share after
    /// the splits.
    ///
    /// # Errors
    /// `OverBudget` if a partition key (HPK-17) or a partition (HPK-16) exceeds the share. A partition key cannot be split.
    pub fn max_full(&self, most: f64) -> Result<()> {
        if let Some((key, share)) = self.before.near(most).into_iter().find(|(_, share)| *share > most) {
            let (key, share, most) = (text_of(key), share * 100.0, most * 100.0);
            return Err(Error::of(BudgetFault::PointKey { key, share, most }));
        }
        match self.after.heat().into_iter().find(|heat| heat.full > most) {
            Some(heat) => {
                let (id, share, most) = (heat.id, heat.full * 100.0, most * 100.0);
                Err(Error::of(BudgetFault::PhysicalPartition { id, share, most }))
            }
            None => Ok(()),
        }
    }
}

fn text_of(key: &KeyLoad) -> String {
    key.levels.join(" > ")
}

/// Writes a summary: the load of partitions, splits, warnings, partition keys near their limit, and orders of levels.
impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Design { table, levels, days, questions, .. } = &self.design;
        writeln!(f, "{table}: {}, after {days} days", levels.join(" > "))?;
        write_heat(f, "before the splits", &self.before)?;
        if self.splits.is_empty() {
            match self.before.next_split() {
                Some(next) => writeln!(f, "next split: {}", said(&next))?,
                None => writeln!(f, "next split: none, nothing grows")?,
            }
        } else {
            for split in &self.splits {
                writeln!(f, "split: {}", said(split))?;
            }
            write_heat(f, "after the splits", &self.after)?;
        }
        for warning in self.warnings() {
            writeln!(f, "warning: {warning}")?;
        }
        for (key, full) in self.before.near(0.8).into_iter().take(NAMED) {
            let (key, full) = (text_of(key), full * 100.0);
            writeln!(f, "near its limit: {key} at {full:.0} %, which no split divides; add a level")?;
        }
        for order in &self.orders {
            let names: Vec<&str> =
                order.levels.iter().filter_map(|at| levels.get(*at).map(String::as_str)).collect();
            write!(f, "order {}: ", names.join(" > "))?;
            for ((question, _), touched) in questions.iter().zip(&order.touched) {
                write!(f, "{question} {touched:.1} partitions, ")?;
            }
            writeln!(f, "the fullest at {:.0} %", order.fullest * 100.0)?;
        }
        Ok(())
    }
}

fn said(split: &NextSplit) -> String {
    let why = match split.cause {
        Cause::Storage => "storage",
        Cause::Throughput => "throughput",
    };
    let when = if split.seconds > 0.0 {
        format!("in {:.1} days", split.seconds / SECONDS_A_DAY)
    } else {
        "due".to_owned()
    };
    match &split.at {
        Some(at) => format!("partition {} by {why}, {when}, at {at}", split.id),
        None => {
            format!("partition {} by {why}, {when}; it has a single key, which no split divides", split.id)
        }
    }
}

fn write_heat(f: &mut fmt::Formatter<'_>, state: &str, load: &Load) -> fmt::Result {
    writeln!(f, "{state}: partitions {}", load.map().partitions().len())?;
    for heat in load.heat() {
        let (id, keys, gigabytes, full) = (heat.id, heat.keys, heat.bytes / 1e9, heat.full * 100.0);
        writeln!(
            f,
            "  {id:>3}  {keys:>6} keys  {gigabytes:>8.2} GB  {:>8.0} of {:>6.0} RU/s  {full:>4.0} % full",
            heat.ru, heat.share
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
