//! One entity by its key, anywhere in a table that takes twice the cache, and in a tenth of it, which the cache holds.

use crate::Outcome;
use crate::child::place;
use crate::data::Random;
use crate::harness::{Contender, alternate, repeat_busy};
use crate::large::Large;
use crate::peer::store::Kind;
use crate::report::{OURS, Report, Target, short};

const BATCH: u32 = 64;
/// The name of ours where the cache holds what is read.
const WARM: &str = "tables, in the cache";
/// Entities from one look-up to the next that warms the cache: fewer than a block has.
const STEP: usize = 8;

/// Measures the rows.
pub fn measure(large: &Large, report: &mut Report) -> Outcome<()> {
    let stores: Vec<_> =
        Kind::ALL.into_iter().map(|kind| Ok((kind, large.open(kind)?))).collect::<Outcome<_>>()?;
    let mut contenders = Vec::new();
    let ours = stores.first().map(|(_, store)| (WARM, store, large.warm()));
    let all = stores.iter().map(|(kind, store)| (kind.name(), store, large.entities));
    for (name, store, entities) in all.chain(ours) {
        let (mut look, mut random) = (store.look()?, Random::new(3));
        let mut get = move |entity| {
            let (site, number) = place(entity);
            look.get(&site, number)
        };
        for entity in (0..entities).step_by(STEP) {
            get(entity)?;
        }
        contenders
            .push(Contender::new(name, move |time| repeat_busy(time, BATCH, || get(random.below(entities)))));
    }
    // Two that use one cache: those in a tenth first, so that it is in the cache whatever the others did.
    contenders.reverse();
    let figures = alternate(contenders, large.options.rounds, large.options.time)?;
    let work = format!("point get at {}, half of it in the cache", short(large.entities.into()));
    let targets: Vec<_> =
        Kind::ALL.into_iter().skip(1).map(|kind| (kind.name(), Target::AtLeast(1.0))).collect();
    report.compare(&work, &figures, &targets);
    let of = |name| figures.iter().find(|figure| figure.name == name).cloned();
    let both: Vec<_> = [OURS, WARM].into_iter().filter_map(of).collect();
    report.compare_bound(&format!("time of a {work}, against one in the cache"), &both, Target::AtMost(4.0));
    Ok(())
}
