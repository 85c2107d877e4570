//! Measures the rate of a reader, first alone and then during updates. The updates read, modify and write an entity, conditional on its `ETag`.

use std::sync::atomic::{AtomicBool, Ordering};

use pollster::block_on;

use crate::Outcome;
use crate::data::{Places, Reading};
use crate::harness::{Contender, alternate, repeat};
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::report::{Report, Target};
use crate::stage::Stage;

/// Measures both rates of the reader and adds their ratio to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let tables = &stage.tables;
    let mut alone = read(stage, tables)?;
    let mut disturbed = read(stage, tables)?;
    let others = Places::new(stage.options.entities, 23);
    let contenders = vec![
        Contender::new("during updates", move |time| {
            let over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let updater = scope.spawn(|| update_on(tables, &others, &over));
                let rate = repeat(time, 64, &mut disturbed);
                over.store(true, Ordering::Relaxed);
                updater.join().map_err(|_| "the updater panicked")??;
                rate
            })
        }),
        Contender::new("reader alone", move |time| repeat(time, 64, &mut alone)),
    ];
    let figures = alternate(contenders, stage.options.rounds, stage.options.time)?;
    report.compare_figures("reads during conditional updates", &figures, Target::AtLeast(0.5));
    Ok(())
}

fn read<'a>(stage: &'a Stage, tables: &'a Tables) -> Outcome<impl FnMut() -> Outcome<Reading> + 'a> {
    let (mut reader, mut turn) = (tables.reader()?, 0);
    Ok(move || {
        let (site, number) = stage.places.at(turn);
        turn += 1;
        Ok(reader.get(site, number)?.ok_or("the entity is gone")?)
    })
}

fn update_on(tables: &Tables, places: &Places, over: &AtomicBool) -> Outcome<()> {
    let mut turn = 0;
    while !over.load(Ordering::Relaxed) {
        let (site, number) = places.at(turn);
        turn += 1;
        let found = block_on(tables.table().get(Reading::key(site, number)))?.ok_or("the entity is gone")?;
        let etag = found.etag().clone();
        let mut reading = found.into_value();
        reading.retries += 1;
        block_on(tables.table().replace(&reading, etag))?;
    }
    Ok(())
}
