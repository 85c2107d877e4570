//! Measures how fast a new index is backfilled over existing rows. Compares the cost per row in a large table with the cost per row in a small one.
//!
//! In the first row of results, the engine does not sync each transaction, so the cost per row consists of CPU time and journal writes. The second row is the
//! additional cost of durable transactions. It is shown for information only, because it depends on the disk and on the number of transactions that share a
//! sync.

use std::time::Instant;

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::Entity;
use table_core::embedded::{Durability, Engine};
use table_patterns::Entities;
use table_patterns::EntityStore;
use table_patterns::index::IndexState;

use crate::Outcome;
use crate::data::{PARTITION, site};
use crate::folder::settle;
use crate::harness::{Figure, Rate};
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::report::{Report, Target, short};
use crate::stage::Stage;

/// A [`Reading`](crate::data::Reading) as declared by a later release, with an index.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Readings", schema_name = "Reading")]
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

/// The number of entities in the backfills that compare synced with unsynced transactions.
const SYNCED: u32 = 20_000;

/// Measures backfills of small and large tables and adds the rates to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let sizes = [("large", stage.options.entities), ("small", stage.small())];
    let built = |(name, entities)| build(stage, name, entities, Durability::Relaxed);
    let figures = sizes.into_iter().map(built).collect::<Outcome<Vec<_>>>()?;
    let [large, small] = sizes.map(|(_, entities)| short(entities.into()));
    let work = format!("backfill of an index, not synced: a row of {large} against one of {small}");
    report.compare_figures(&work, &figures, Target::AtLeast(0.6));

    let modes = [("synced", Durability::Durable), ("not", Durability::Relaxed)];
    let built = |(name, durability)| build(stage, name, SYNCED, durability);
    let figures = modes.into_iter().map(built).collect::<Outcome<Vec<_>>>()?;
    let work = format!("backfill of an index, {} rows: synced against not", short(SYNCED.into()));
    report.compare_figures(&work, &figures, Target::Shown);
    Ok(())
}

/// Backfills the index of a new table in a separate folder. Returns the rate.
pub(crate) fn build(
    stage: &Stage,
    name: &'static str,
    entities: u32,
    durability: Durability,
) -> Outcome<Figure> {
    let folder = stage.folder.inside(&format!("backfill-{name}"));
    let engine = Engine::builder().durability(durability).open(folder.join("engine"))?;
    Tables::of(&engine)?.load(entities)?;
    settle()?;
    let indexed = block_on(engine.entities::<Indexed>().create_if_missing())?;
    let start = Instant::now();
    let built = block_on(indexed.backfill::<IndexedByDevice>().assume_no_older_programs().run())?;
    let rate = Rate { operations: built.repaired, elapsed: start.elapsed() };
    check(&indexed, entities)?;
    Ok(Figure::new(name, vec![rate.per_second()]))
}

/// Checks that the index is ready and contains one entry for each entity.
fn check(indexed: &Entities<Indexed, Engine>, entities: u32) -> Outcome<()> {
    if block_on(indexed.states())? != [("ByDevice", IndexState::Ready)] {
        return Err("the index is not ready after its backfill".into());
    }
    let mut found = 0;
    for partition in 0..entities.div_ceil(PARTITION) {
        block_on(indexed.query(Indexed::by_device_rows(site(partition))).for_each(|_| found += 1))?;
    }
    if found != entities {
        return Err(format!("the index has {found} entries for {entities} entities").into());
    }
    Ok(())
}
