//! Compares the time of a point get in a large table with the time in a small table. Both tables fit into the cache. A full run also uses a cache that is too
//! small for the large table.

use table_core::embedded::Engine;

use crate::Outcome;
use crate::child::{self, place};
use crate::data::Random;
use crate::harness::{Contender, Figure, alternate, repeat_busy};
use crate::peer::tables::Tables;
use crate::peer::{CACHE, Peer};
use crate::report::{Report, Target, short};
use crate::stage::Stage;

/// A cache size that suffices for ten million entities.
const WARM: usize = 6 << 30;
/// The distance between the entities that are read to warm up the cache. It is less than the number of entities in a block, so every block is read.
const STEP: usize = 20;

/// Measures point gets in both tables, and adds the ratio of their times to the report. A full run also measures with the smaller cache.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let [large, small] = [stage.large(), stage.small()].map(|entities| short(entities.into()));
    let work = format!("time of a point get at {large} against {small}");
    report.compare_bound(&work, &figures(stage, WARM)?, Target::AtMost(3.0));
    if stage.options.full {
        let work = format!("{work}, cache of {} MiB", CACHE >> 20);
        report.compare_bound(&work, &figures(stage, CACHE)?, Target::Shown);
    }
    Ok(())
}

fn figures(stage: &Stage, cache: usize) -> Outcome<Vec<Figure>> {
    let sizes = [("large", stage.large()), ("small", stage.small())];
    let mut tables = Vec::new();
    for (_, entities) in sizes {
        let folder = child::filled(stage, entities)?.folder;
        tables.push(Tables::of(&Engine::builder().cache_bytes(cache).open(folder)?)?);
    }
    let mut contenders = Vec::new();
    for (tables, (name, entities)) in tables.iter().zip(sizes) {
        let (mut reader, mut random) = (tables.reader()?, Random::new(3));
        let mut get = move |entity| {
            let (site, number) = place(entity);
            Ok(reader.get(&site, number)?.ok_or("the entity is gone")?)
        };
        for entity in (0..entities).step_by(STEP) {
            get(entity)?;
        }
        contenders
            .push(Contender::new(name, move |time| repeat_busy(time, 64, || get(random.below(entities)))));
    }
    alternate(contenders, stage.options.rounds, stage.options.time)
}
