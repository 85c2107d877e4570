//! The backfill of an index that is new over old rows: its rate, and what a row costs in a large table against a small one.
//!
//! A backfill is held up by nothing but itself here: the engine does not sync each transaction, which on a disk that takes
//! milliseconds to do so would be all there is to see. What a row costs is then the work of the processor and of the journal.

use std::time::Instant;

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::Entity;
use table_core::embedded::{Durability, Engine};
use table_patterns::index::{IndexState, IndexedStore, IndexedTable};

use crate::Outcome;
use crate::data::{PARTITION, site};
use crate::harness::{Figure, Rate};
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::report::{Report, Target, short};
use crate::stage::Stage;

/// A [`Reading`](crate::data::Reading) by the design that has an index.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Readings")]
#[partition_key(site)]
#[row_key("reading_", number)]
#[index(ByDevice, row_key("device_", without('_', device), "_", number))]
struct Indexed {
    site: String,
    number: u32,
    device: String,
    operator: String,
    quantity: String,
    remark: String,
    level: i32,
    retries: i32,
    total: i64,
    value: f64,
    valid: bool,
    at: DateTime<Utc>,
}

/// Measures the row.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let sizes = [("large", stage.options.entities), ("small", stage.small())];
    let mut figures = Vec::new();
    for (name, entities) in sizes {
        let folder = stage.folder.join(&format!("backfill-{name}"));
        let engine = Engine::builder().durability(Durability::Relaxed).open(folder)?;
        Tables::of(&engine)?.load(entities)?;
        stage.settle()?;
        let indexed = block_on(engine.indexed::<Indexed>().create_if_missing())?;
        let start = Instant::now();
        let built = block_on(indexed.backfill::<IndexedByDevice>().run())?;
        let rate = Rate { operations: built.repaired, elapsed: start.elapsed() };
        figures.push(Figure::new(name, vec![rate.per_second()]));
        check(&indexed, entities)?;
    }
    let [large, small] = sizes.map(|(_, entities)| short(entities.into()));
    let work = format!("backfill of an index, not synced: a row of {large} against one of {small}");
    report.compare_figures(&work, &figures, Target::AtLeast(0.6));
    Ok(())
}

/// Only a backfill that did its work is worth measuring: it answers, and has one entry for each entity.
fn check(indexed: &IndexedTable<Indexed, Engine>, entities: u32) -> Outcome<()> {
    if block_on(indexed.states())? != [("ByDevice", IndexState::Ready)] {
        return Err("the index is not ready after its backfill".into());
    }
    let mut found = 0;
    for partition in 0..entities.div_ceil(PARTITION) {
        block_on(indexed.query(Indexed::by_device_rows(site(partition))).for_each(|_| found += 1))?;
    }
    if found != entities {
        return Err(format!("the index has {found} entries, there are {entities} entities").into());
    }
    Ok(())
}
