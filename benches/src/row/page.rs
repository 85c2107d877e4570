//! Measures reading a page of 1,000 decoded entities. The page is an entire partition, whose entities are returned one by one. For the engine, the list that
//! `page` returns is measured as well.

use std::hint::black_box;

use pollster::block_on;

use crate::Outcome;
use crate::data::{PARTITION, Reading};
use crate::harness::{Contender, alternate, repeat_busy};
use crate::peer::redb::RawRedb;
use crate::report::{Report, Target};
use crate::stage::Stage;

/// The name of the contender that returns a page as a list.
const LIST: &str = "tables, `page` as a list";

/// Measures the reads in every library under comparison and adds the rates to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let mut contenders = Vec::new();
    for peer in stage.peers() {
        let (mut reader, mut turn) = (peer.reader()?, 0);
        contenders.push(Contender::new(peer.name(), move |time| {
            repeat_busy(time, 1, || {
                turn += 1;
                let mut seen = 0;
                reader.page(stage.places.at(turn).0, &mut |reading| {
                    black_box(reading);
                    seen += 1;
                })?;
                if seen == PARTITION { Ok(()) } else { Err("the page is short".into()) }
            })
        }));
    }
    let mut turn = 0;
    contenders.push(Contender::new(RawRedb::NAME, move |time| {
        repeat_busy(time, 1, || {
            turn += 1;
            stage.redb.page(stage.places.at(turn).0)
        })
    }));
    let mut turn = 0;
    contenders.push(Contender::new(LIST, move |time| {
        repeat_busy(time, 1, || {
            turn += 1;
            let query = stage.tables.table().query(Reading::partition(stage.places.at(turn).0));
            let page = block_on(query.page())?;
            if page.items.len() == PARTITION as usize {
                Ok(page.items)
            } else {
                Err("the page is short".into())
            }
        })
    }));
    let figures = alternate(contenders, stage.options.rounds, stage.options.time)?;
    let targets = [
        (RawRedb::NAME, Target::AtLeast(0.35)),
        ("rusqlite", Target::AtLeast(1.5)),
        ("native_db", Target::Shown),
        (LIST, Target::Shown),
    ];
    report.compare("page of 1,000, decoded", &figures, &targets);
    Ok(())
}
