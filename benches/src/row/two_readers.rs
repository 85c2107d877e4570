//! Measures how much a second reading thread increases the rate of point gets and pages. Measures the engine and raw redb.

use std::time::Duration;

use crate::Outcome;
use crate::child::place;
use crate::data::{PARTITION, Random, site};
use crate::harness::{Contender, Figure, Rate, alternate, repeat};
use crate::large::Large;
use crate::peer::store::{Kind, Look, Store};
use crate::report::{Report, Target};

/// One read operation.
type Work = fn(&mut dyn Look, &mut Random, u32) -> Outcome<()>;

/// Measures the reads and adds the ratios to the report.
pub fn measure(large: &Large, report: &mut Report) -> Outcome<()> {
    let stores = [Kind::Tables, Kind::Redb].map(|kind| large.open(kind));
    let [ours, theirs] = stores;
    let (ours, theirs) = (ours?, theirs?);
    let works: [(&str, u32, Work); 2] = [("point get", 64, get), ("page of 1,000", 1, page)];
    for (name, batch, work) in works {
        let mut contenders = Vec::new();
        for (name, store, readers) in [
            ("tables, two", &*ours, 2),
            ("tables, one", &*ours, 1),
            ("redb, two", &*theirs, 2),
            ("redb, one", &*theirs, 1),
        ] {
            let warm = large.warm();
            contenders.push(Contender::new(name, move |time| read(store, readers, time, batch, work, warm)));
        }
        // The first round of each contender warms up the cache.
        let figures = alternate(contenders, large.options.rounds, large.options.time * 2)?;
        if let [two, one, their_two, their_one] = figures.as_slice() {
            let gains = [two.times(one), their_two.times(their_one)];
            let shown =
                |gain: f64, figure: &Figure| format!("{gain:.2} times one of {:.0}/s", figure.median());
            report.line(
                &format!("{name}, gain by a second reader"),
                shown(gains[0], one),
                format!("{} {}", Kind::Redb.name(), shown(gains[1], their_one)),
                gains[0] / gains[1],
                Target::AtLeast(0.9),
            );
        }
    }
    Ok(())
}

fn get(look: &mut dyn Look, random: &mut Random, warm: u32) -> Outcome<()> {
    let (site, number) = place(random.below(warm));
    look.get(&site, number)
}

fn page(look: &mut dyn Look, random: &mut Random, warm: u32) -> Outcome<()> {
    let read = look.page(&site(random.below(warm / PARTITION)))?;
    if read == PARTITION { Ok(()) } else { Err("the page is short".into()) }
}

/// Repeats an operation on the given number of threads. Returns the rate.
fn read(store: &dyn Store, readers: u64, time: Duration, batch: u32, work: Work, warm: u32) -> Outcome<Rate> {
    std::thread::scope(|scope| {
        let one = |seed| -> Outcome<Rate> {
            let (mut look, mut random) = (store.look()?, Random::new(seed));
            repeat(time, batch, || work(&mut *look, &mut random, warm))
        };
        let threads: Vec<_> = (0..readers).map(|seed| scope.spawn(move || one(seed))).collect();
        let mut sum = Rate { operations: 0, elapsed: Duration::ZERO };
        for thread in threads {
            let rate = thread.join().map_err(|_| "a reader panicked")??;
            sum =
                Rate { operations: sum.operations + rate.operations, elapsed: sum.elapsed.max(rate.elapsed) };
        }
        Ok(sum)
    })
}
