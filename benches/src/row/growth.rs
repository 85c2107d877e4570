//! Point gets in a large table against a small one.

use crate::Outcome;
use crate::child::{self, place};
use crate::data::Random;
use crate::harness::{Contender, alternate, repeat_busy};
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::report::{Report, Target, short};
use crate::stage::Stage;

/// Measures the row.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let sizes = [("large", stage.large()), ("small", stage.small())];
    let mut tables = Vec::new();
    for (_, entities) in sizes {
        tables.push(Tables::open(&child::filled(stage, entities)?.folder)?);
    }
    let mut contenders = Vec::new();
    for (tables, (name, entities)) in tables.iter().zip(sizes) {
        let (mut reader, mut random) = (tables.reader()?, Random::new(3));
        contenders.push(Contender::new(name, move |time| {
            repeat_busy(time, 64, || {
                let (site, number) = place(random.below(entities));
                Ok(reader.get(&site, number)?.ok_or("the entity is gone")?)
            })
        }));
    }
    let figures = alternate(contenders, stage.options.rounds, stage.options.time)?;
    let [(_, large), (_, small)] = sizes.map(|(name, entities)| (name, short(entities.into())));
    report.compare_bound(
        &format!("time of a point get at {large} against {small}"),
        &figures,
        Target::AtMost(3.0),
    );
    Ok(())
}
