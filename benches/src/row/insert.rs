//! Measures durable inserts of single entities by 1, 4, 16 and 64 writers.

use crate::Outcome;
use crate::harness::{Contender, alternate, crowd, repeat};
use crate::peer::fdatasync::Appender;
use crate::report::{Report, Target};
use crate::stage::Stage;

/// Measures the inserts in every library under comparison and adds the rates to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    for writers in [1, 4, 16, 64] {
        let mut contenders = Vec::new();
        for peer in stage.peers() {
            contenders.push(Contender::new(peer.name(), move |time| {
                crowd(writers, time, || peer.insert(stage.fresh()))
            }));
        }
        let mut appender = Appender::create(&stage.folder.join("append"))?;
        contenders.push(Contender::new(Appender::NAME, move |time| repeat(time, 1, || appender.append())));
        // Each round takes twice as long as usual.
        let figures = alternate(contenders, stage.options.rounds, stage.options.time * 2)?;
        let (fdatasync, rusqlite, native_db) = match writers {
            1 => (Target::AtLeast(0.8), Target::Shown, Target::Shown),
            16 => (Target::Shown, Target::AtLeast(1.3), Target::AtLeast(4.0)),
            64 => (Target::Shown, Target::AtLeast(2.0), Target::AtLeast(4.0)),
            _ => (Target::Shown, Target::Shown, Target::Shown),
        };
        let work = format!("durable insert, {writers} {}", if writers == 1 { "writer" } else { "writers" });
        let targets = [(Appender::NAME, fdatasync), ("rusqlite", rusqlite), ("native_db", native_db)];
        report.compare(&work, &figures, &targets);
    }
    Ok(())
}
