//! Measures reads of pages of 1,000 entities in a table with ten times the usual number of entities. None of the entities have been updated.

use crate::Outcome;
use crate::data::{PARTITION, Random, site};
use crate::harness::{Contender, alternate, repeat_busy};
use crate::large::Large;
use crate::peer::store::Kind;
use crate::report::{Report, Target, short};

/// Measures the reads in every library under comparison and adds the rates to the report.
pub fn measure(large: &Large, report: &mut Report) -> Outcome<()> {
    let stores: Vec<_> =
        Kind::ALL.into_iter().map(|kind| Ok((kind, large.open(kind)?))).collect::<Outcome<_>>()?;
    let mut contenders = Vec::new();
    for (kind, store) in &stores {
        let (mut look, mut random) = (store.look()?, Random::new(3));
        let mut page = move |partition| {
            if look.page(&site(partition))? == PARTITION { Ok(()) } else { Err("the page is short".into()) }
        };
        let partitions = large.warm() / PARTITION;
        (0..partitions).try_for_each(&mut page)?;
        contenders.push(Contender::new(kind.name(), move |time| {
            repeat_busy(time, 1, || page(random.below(partitions)))
        }));
    }
    let figures = alternate(contenders, large.options.rounds, large.options.time)?;
    let targets = [
        (Kind::Redb.name(), Target::AtLeast(0.35)),
        (Kind::Sqlite.name(), Target::AtLeast(1.5)),
        (Kind::Fjall.name(), Target::Shown),
    ];
    report.compare(&format!("page of 1,000 of {}", short(large.entities.into())), &figures, &targets);
    Ok(())
}
