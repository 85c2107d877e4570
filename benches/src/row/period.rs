//! Measures how long it takes to drop a period with many entities, compared with a period with few. Each period has a separate table.
//!
//! The engine does not sync each change, because sync times would hide any growth with the number of entities. As in [`drop`](super::drop), the fastest of
//! several drops are compared.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::embedded::{Durability, Engine};
use table_core::{Clock, ticks};
use table_patterns::periods::{Period, PeriodTables, Periodic};

use crate::Outcome;
use crate::data::Reading;
use crate::folder::settle;
use crate::harness::Figure;
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::report::{Report, Target, short};
use crate::stage::Stage;

/// The number of periods of each size.
const PERIODS: u16 = 5;
/// The number of entities in a small period.
const FEW: u32 = 1_000;

impl Periodic for Reading {
    const PERIOD: Period = Period::Day;

    fn instant(&self) -> DateTime<Utc> {
        self.at
    }
}

/// Measures the drops and adds the ratio of the fastest ones to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let engine = Engine::builder().durability(Durability::Relaxed).open(stage.folder.join("periods"))?;
    let first: DateTime<Utc> = "2014-04-23T00:00:00Z".parse()?;
    let day = |days: u16| Reading::PERIOD.offset(first, days.into()).ok_or("the calendar ends");
    let today = Arc::new(AtomicU64::new(0));
    let set = |days: u16| -> Outcome<()> {
        today.store(ticks::from_datetime(day(days)?).unwrap_or_default(), Ordering::Relaxed);
        Ok(())
    };
    let clock = Arc::clone(&today);
    let periods = PeriodTables::<Reading, _>::new(engine)
        .with_clock(Clock::new(move || clock.load(Ordering::Relaxed)))
        .retain(2 * PERIODS);
    let sizes = [("large", stage.options.entities), ("small", FEW)];
    // Large and small periods alternate.
    set(2 * PERIODS)?;
    block_on(periods.prepare())?;
    for (days, (_, entities)) in (0..2 * PERIODS).zip(sizes.into_iter().cycle()) {
        let table = periods.table_of(day(days)?)?;
        // Full transactions fill the table quickly. The times of the readings are outside the period, which does not matter for a drop.
        Tables::in_table(block_on(table.create_if_missing())?).load(entities)?;
    }
    settle()?;
    let mut rates = sizes.map(|(name, _)| (name, Vec::new()));
    for days in 0..2 * PERIODS {
        let name = periods.name_of(day(days)?)?;
        // One day later, another period has expired.
        set(2 * PERIODS + days + 1)?;
        let start = Instant::now();
        let dropped = block_on(periods.expire())?;
        let elapsed = start.elapsed();
        if dropped != [name] {
            return Err(format!("{dropped:?} went on day {days}").into());
        }
        if let Some((_, rates)) = rates.get_mut(usize::from(days) % sizes.len()) {
            rates.push(1.0 / elapsed.as_secs_f64());
        }
    }
    let [large, small] = rates.map(|(name, rates)| Figure::new(name, rates));
    let [most, least] = sizes.map(|(_, entities)| short(entities.into()));
    let work = format!("drop of a period of {most} against {least}, not synced");
    report.compare_fastest(&work, &large, &small, Target::AtMost(2.0));
    Ok(())
}
