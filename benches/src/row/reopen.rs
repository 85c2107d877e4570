//! Measures the time to reopen a folder whose writer was killed, and to read an entity from it. Compares a large table with a small one.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::child::{self, place};
use crate::harness::Figure;
use crate::peer::tables::Tables;
use crate::peer::{CACHE, Peer};
use crate::report::{Report, Target, short};
use crate::stage::Stage;

/// Measures the reopening and adds the ratio of the times to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let sizes = [("large", stage.large()), ("small", stage.small())];
    let mut rates = sizes.map(|_| Vec::new());
    // In each round, two processes are started and killed. This takes as long as three rounds of other measurements.
    for _ in 0..stage.options.rounds.div_ceil(3) {
        for ((_, entities), rates) in sizes.into_iter().zip(&mut rates) {
            let folder = child::filled(stage, entities)?.folder;
            child::killed(&folder, entities, Duration::from_millis(700))?;
            let start = Instant::now();
            let tables = Tables::open(&folder, CACHE)?;
            let (site, number) = place(entities / 2);
            let found = tables.reader()?.get(&site, number)?;
            rates.push(1.0 / start.elapsed().as_secs_f64());
            found.ok_or("the entity is gone")?;
        }
    }
    let figures: Vec<_> =
        sizes.into_iter().zip(rates).map(|((name, _), rates)| Figure::new(name, rates)).collect();
    let [large, small] = sizes.map(|(_, entities)| short(entities.into()));
    report.compare_bound(
        &format!("reopen after kill, {large} against {small}"),
        &figures,
        Target::AtMost(3.0),
    );
    Ok(())
}
