//! Opening a folder whose writer was killed, up to the first entity read: a large table against a small one.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::child::{self, place};
use crate::harness::Figure;
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::report::{Report, Target, short};
use crate::stage::Stage;

/// Measures the row.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let sizes = [("large", stage.large()), ("small", stage.small())];
    let mut figures = Vec::new();
    for (name, entities) in sizes {
        let folder = child::filled(stage, entities)?.folder;
        let mut rates = Vec::new();
        for _ in 0..stage.options.rounds {
            child::killed(&folder, entities, Duration::from_millis(700))?;
            let start = Instant::now();
            let tables = Tables::open(&folder)?;
            let (site, number) = place(entities / 2);
            let found = tables.reader()?.get(&site, number)?;
            rates.push(1.0 / start.elapsed().as_secs_f64());
            found.ok_or("the entity is gone")?;
        }
        figures.push(Figure::new(name, rates));
    }
    let [large, small] = sizes.map(|(_, entities)| short(entities.into()));
    report.compare_bound(
        &format!("reopen after kill, {large} against {small}"),
        &figures,
        Target::AtMost(3.0),
    );
    Ok(())
}
