//! Measures a scan of a partition of a thousand entities, with a filter that matches 1% of them.

use std::hint::black_box;

use crate::Outcome;
use crate::data::{LEVELS, Random};
use crate::harness::{Contender, alternate, repeat_busy};
use crate::report::{Report, Target};
use crate::stage::Stage;

/// Measures filtered scans in every library under comparison and adds the rates to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let mut contenders = Vec::new();
    for peer in stage.peers() {
        let (mut reader, mut turn, mut random) = (peer.reader()?, 0, Random::new(11));
        contenders.push(Contender::new(peer.name(), move |time| {
            repeat_busy(time, 1, || {
                turn += 1;
                let level = i32::try_from(random.below(LEVELS))?;
                reader.filter(stage.places.at(turn).0, level, &mut |reading| {
                    black_box(reading);
                })
            })
        }));
    }
    let figures = alternate(contenders, stage.options.rounds, stage.options.time)?;
    let targets = [("rusqlite", Target::AtLeast(1.2)), ("native_db", Target::Shown)];
    report.compare("filter over a partition, 1 % match", &figures, &targets);
    Ok(())
}
