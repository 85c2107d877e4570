//! Measures point reads of decoded entities at random positions.

use crate::Outcome;
use crate::harness::{Contender, alternate, repeat_busy};
use crate::peer::bytes::Buffer;
use crate::peer::redb::RawRedb;
use crate::report::{Report, Target};
use crate::stage::Stage;

const BATCH: u32 = 64;

/// Measures the reads in every library under comparison and adds the rates to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let mut contenders = Vec::new();
    for peer in stage.peers() {
        let (mut reader, mut turn) = (peer.reader()?, 0);
        contenders.push(Contender::new(peer.name(), move |time| {
            repeat_busy(time, BATCH, || {
                let (site, number) = stage.places.at(turn);
                turn += 1;
                Ok(reader.get(site, number)?.ok_or("the entity is gone")?)
            })
        }));
    }
    let (mut buffer, mut turn) = (Buffer::default(), 0);
    contenders.push(Contender::new(RawRedb::NAME, move |time| {
        repeat_busy(time, BATCH, || {
            let (site, number) = stage.places.at(turn);
            turn += 1;
            stage.redb.get(site, number, &mut buffer)
        })
    }));
    let figures = alternate(contenders, stage.options.rounds, stage.options.time)?;
    let targets = [
        (RawRedb::NAME, Target::AtLeast(0.55)),
        ("rusqlite", Target::AtLeast(2.0)),
        ("native_db", Target::AtLeast(1.5)),
    ];
    report.compare("typed point get, decoded", &figures, &targets);
    Ok(())
}
