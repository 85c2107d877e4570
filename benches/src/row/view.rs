//! Measures a materialised view. Compares a rebuild with an index backfill, and measures the rate at which the view processes a change feed.

use std::time::Instant;

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::Entity;
use table_core::embedded::{Durability, Engine};
use table_patterns::EntityStore;
use table_patterns::view::{Projection, View, ViewTable};

use crate::Outcome;
use crate::data::{PARTITION, site};
use crate::folder::settle;
use crate::harness::{Figure, Rate};
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::report::{Report, Target, short};
use crate::row::backfill;
use crate::stage::Stage;

/// A row of the view: the totals of one site.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Sites")]
#[partition_key(site)]
#[row_key("sum")]
struct Totals {
    site: String,
    readings: i64,
    levels: i64,
}

/// A view with the totals of each site, computed from the readings stored in all libraries under comparison.
struct Sites;

impl View for Sites {
    type Source = Stored;
    type Row = Totals;

    fn project(reading: &Stored, view: &mut Projection<Totals>) -> table_core::Result<()> {
        view.add(Totals::key(&reading.site), Totals::READINGS, 1)?;
        view.add(Totals::key(&reading.site), Totals::LEVELS, reading.level.into())
    }
}

/// A [`Reading`](crate::data::Reading), declared with a feed, which is empty because the readings are loaded without one.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Readings", schema_name = "Reading", feed)]
#[partition_key(site)]
#[row_key("reading_", number)]
struct Stored {
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

/// A reading whose changes are recorded in a feed.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Followed", feed)]
#[partition_key(site)]
#[row_key("reading_", number)]
struct Followed {
    site: String,
    number: u32,
    level: i32,
    at: DateTime<Utc>,
}

/// The same view as [`Sites`], computed from readings whose changes are recorded in a feed.
struct Following;

impl View for Following {
    type Source = Followed;
    type Row = Totals;

    fn project(reading: &Followed, view: &mut Projection<Totals>) -> table_core::Result<()> {
        view.add(Totals::key(&reading.site), Totals::READINGS, 1)?;
        view.add(Totals::key(&reading.site), Totals::LEVELS, reading.level.into())
    }
}

/// The number of rebuilds, each followed by a backfill.
const ROUNDS: usize = 3;
/// The number of changes in the feed read by the view.
const CHANGES: u32 = 20_000;
/// The number of partitions with changed entities.
const SITES: u32 = 20;
/// The number of changes per second that the view should process.
const WANTED: u64 = 5_000;

/// Measures rebuilds and the processing of a feed and adds the results to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let entities = stage.options.entities;
    let (mut views, mut indexes) = (Vec::new(), Vec::new());
    // Rebuilds and backfills alternate.
    for _ in 0..ROUNDS {
        views.push(rebuild(stage, entities)?);
        indexes.push(backfill::build(stage, "index", entities, Durability::Relaxed)?.median());
    }
    let work =
        format!("rebuild of a view over {} rows against the backfill of an index", short(entities.into()));
    let figures = [Figure::new("view", views), Figure::new("index", indexes)];
    report.compare_figures(&work, &figures, Target::AtLeast(0.5));

    let wanted = Rate { operations: WANTED, elapsed: std::time::Duration::from_secs(1) };
    let figures = [follow(stage)?, Figure::new("wanted", vec![wanted.per_second()])];
    report.compare_figures("a view catches up: changes a second", &figures, Target::AtLeast(1.0));
    Ok(())
}

fn rebuild(stage: &Stage, entities: u32) -> Outcome<f64> {
    let folder = stage.folder.inside("view-rebuild");
    let engine = Engine::builder().durability(Durability::Relaxed).open(folder.join("engine"))?;
    Tables::of(&engine)?.load(entities)?;
    settle()?;
    let view = block_on(ViewTable::<Sites, _>::new(engine).create_if_missing())?;
    let start = Instant::now();
    let built = block_on(view.rebuild().run())?;
    let rate = Rate { operations: built.applied, elapsed: start.elapsed() };
    check(&view, (0..entities.div_ceil(PARTITION)).map(site), entities)?;
    Ok(rate.per_second())
}

fn follow(stage: &Stage) -> Outcome<Figure> {
    let engine = Engine::open(stage.folder.join("view-follow"))?;
    let readings = block_on(engine.entities::<Followed>().create_if_missing())?;
    let view = block_on(ViewTable::<Following, _>::new(engine).create_if_missing())?;
    block_on(view.rebuild().run())?;
    let reading = |number: u32| {
        let level = i32::try_from(number % 100).unwrap_or_default();
        Followed { site: site(number % SITES), number, level, at: DateTime::<Utc>::UNIX_EPOCH }
    };
    block_on(readings.bulk().insert_all((0..CHANGES).map(reading)))?;
    settle()?;
    let (start, mut operations) = (Instant::now(), 0);
    loop {
        let some = block_on(view.catch_up(1_000))?;
        operations += u64::try_from(some.changes)?;
        if some.changes == 0 {
            break;
        }
    }
    let rate = Rate { operations, elapsed: start.elapsed() };
    check(&view, (0..SITES).map(site), CHANGES)?;
    Ok(Figure::new("view", vec![rate.per_second()]))
}

/// Checks that the view has counted every entity.
fn check<V: View<Row = Totals>>(
    view: &ViewTable<V, Engine>,
    sites: impl Iterator<Item = String>,
    entities: u32,
) -> Outcome<()> {
    let rows = block_on(view.table())?;
    let mut counted = 0;
    for site in sites {
        counted += block_on(rows.get(Totals::key(site)))?.map_or(0, |site| site.readings);
    }
    if counted != i64::from(entities) {
        return Err(format!("the view counts {counted} of {entities} entities").into());
    }
    Ok(())
}
