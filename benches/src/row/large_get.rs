//! Measures random point gets in a table twice as large as the cache. Also measures them in a tenth of that table, which fits into the cache.

use crate::Outcome;
use crate::child::place;
use crate::data::Random;
use crate::harness::{Contender, alternate, repeat_busy};
use crate::large::Large;
use crate::peer::store::{Kind, Store};
use crate::report::{OURS, Report, Target, short};

const BATCH: u32 = 64;
/// The name of the engine when its reads are served from the cache.
const WARM: &str = "tables, in the cache";
/// The distance between the entities that are read to warm up the cache. It is less than the number of entities in a block, so every block is read.
const STEP: usize = 8;

/// Measures the point gets in every library under comparison and adds the rates to the report.
pub fn measure(large: &Large, report: &mut Report) -> Outcome<()> {
    let stores: Vec<_> =
        Kind::ALL.into_iter().map(|kind| Ok((kind, large.open(kind)?))).collect::<Outcome<_>>()?;
    let all = stores.iter().map(|(kind, store)| contender(kind.name(), &**store, large.entities));
    let mut figures = alternate(all.collect::<Outcome<_>>()?, large.options.rounds, large.options.time)?;
    // Gets from the cache are measured alone. Contenders that read the entire table would evict their blocks.
    let warm = stores.first().map(|(_, store)| contender(WARM, &**store, large.warm())).transpose()?;
    figures.extend(alternate(warm.into_iter().collect(), large.options.rounds, large.options.time)?);
    let work = format!("point get at {}, cache of {} MiB", short(large.entities.into()), large.cache() >> 20);
    let targets: Vec<_> =
        Kind::ALL.into_iter().skip(1).map(|kind| (kind.name(), Target::AtLeast(1.0))).collect();
    report.compare(&work, &figures, &targets);
    let of = |name| figures.iter().find(|figure| figure.name == name).cloned();
    let both: Vec<_> = [OURS, WARM].into_iter().filter_map(of).collect();
    report.compare_bound(&format!("time of a {work}, against one in the cache"), &both, Target::AtMost(4.0));
    Ok(())
}

/// Warms up the cache with all blocks of the first `entities` entities. Returns a contender that reads these entities at random.
fn contender<'a>(name: &'static str, store: &'a dyn Store, entities: u32) -> Outcome<Contender<'a>> {
    let (mut look, mut random) = (store.look()?, Random::new(3));
    let mut get = move |entity| {
        let (site, number) = place(entity);
        look.get(&site, number)
    };
    (0..entities).step_by(STEP).try_for_each(&mut get)?;
    Ok(Contender::new(name, move |time| repeat_busy(time, BATCH, || get(random.below(entities)))))
}
