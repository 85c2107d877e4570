//! Tests the weekly job that deletes guard rows that are no longer needed.

use std::time::Duration;

use table_patterns::outbox::guard::{GUARD_PREFIX, collect_all_guards};
use table_patterns::outbox::{Outbox, Step};
use table_patterns::query::{KeyRange, Query, TextRange};
use table_patterns::row::RowWriter;
use table_patterns::runtime::ticks_of;
use table_patterns::work::Worker;
use table_patterns::{
    Engine, Entities, Entity, EntityKey, EntityStore as _, IfMatch, QueueName, Result, TableName,
    TableStore as _,
};

use crate::page::Procedure;
use crate::time::Time;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Parcels")]
#[partition_key(depot)]
#[row_key("parcel_", number)]
#[index(Tracking, unique, table = "Tracking", partition_key(code), row_key("code"))]
struct Parcel {
    depot: String,
    #[digits(8)]
    number: u32,
    code: String,
}

type Parcels = Entities<Parcel, Engine, Outbox<Engine, Engine>>;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn parcel(number: u32) -> Parcel {
    Parcel { depot: format!("depot {}", number % 3), number, code: format!("NO{number}") }
}

/// Deletes a parcel and records a step that deletes the row of the parcel in another table.
async fn delete(parcels: &Parcels, number: u32) -> Result<()> {
    let Parcel { depot, .. } = parcel(number);
    let found = parcels.get(Parcel::key(&depot, number)).await?.unwrap();
    let mut unit = parcels.unit(Parcel::partition(&depot))?;
    unit.add_step(Parcel::key(&depot, number), Step::delete_if_exists(routes(), route(number)))?;
    unit.delete(&found)?;
    unit.commit().await.map(drop)
}

async fn insert(parcels: &Parcels, number: u32) -> Result<()> {
    let parcel = parcel(number);
    let mut unit = parcels.unit(Parcel::partition(&parcel.depot))?;
    unit.insert(&parcel)?;
    let step = Step::insert_or_replace(routes(), route(number), RowWriter::new().finish());
    unit.add_step(Parcel::key(&parcel.depot, number), step)?;
    unit.commit().await.map(drop)
}

fn routes() -> TableName {
    TableName::new("Routes").unwrap()
}

fn route(number: u32) -> EntityKey {
    EntityKey::new("north", number.to_string()).unwrap()
}

/// Returns the number of guard rows in a table.
async fn guards(store: &Engine, table: &TableName) -> Result<usize> {
    let range = KeyRange { partition_key: TextRange::ALL, row_key: TextRange::prefix(GUARD_PREFIX) };
    Ok(store.query(table, &Query::new(range), None).await?.rows.len())
}

/// Runs the weekly job: deletes the guard rows of a table that are no longer needed because no step has changed them for three days.
async fn job(store: &Engine, table: &TableName, now: u64) -> Result<u64> {
    collect_all_guards(store, table, now - ticks_of(DAY * 3)).await
}

#[pollster::test]
async fn only_guards_of_deleted_rows_are_collected_weekly() -> Result<()> {
    let mut page = Procedure::of("book/running.md", "Periodic jobs");
    let time = Time::new();
    let (store, queue) = (time.engine(), QueueName::new("parcels")?);
    let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue, time.runtime());
    outbox.create_queues().await?;
    store.create_table(&routes()).await?;
    let parcels = store.entities_with_outbox::<Parcel, _>(outbox.clone()).with_runtime(time.runtime());
    let parcels: Parcels = parcels.create_if_missing().await?;
    let worker = Worker::new(outbox.clone()).with_index_handler(&parcels);
    for number in 0..40 {
        insert(&parcels, number).await?;
    }
    for number in 0..10 {
        delete(&parcels, number).await?;
    }
    worker.run_until_idle().await?;
    time.pass(DAY * 5);
    for number in 10..20 {
        delete(&parcels, number).await?;
    }
    worker.run_until_idle().await?;
    assert_eq!(outbox.backlog().await?.poison, 0);

    page.step("`outbox::guard::collect_all_guards` for each table with index rows in other partitions, or with targets of recorded steps,");
    page.step("for guards that no step has changed for days and that are older than all poison | weekly | one row remains for each deleted index row or target");
    let tables = [TableName::new("Tracking")?, routes()];
    for table in &tables {
        assert_eq!(guards(&store, table).await?, 40, "{table}");
        assert_eq!(job(&store, table, time.now()).await?, 10, "those deleted five days ago, {table}");
        assert_eq!(guards(&store, table).await?, 30, "{table}");
    }
    time.pass(DAY * 7);
    for table in &tables {
        assert_eq!(job(&store, table, time.now()).await?, 10, "those deleted since, {table}");
        assert_eq!(job(&store, table, time.now()).await?, 0, "{table}");
    }

    // The keys can be used again.
    for number in 0..10 {
        insert(&parcels, number).await?;
    }
    parcels.delete(Parcel::key(&parcel(30).depot, 30), IfMatch::Any).await?;
    worker.run_until_idle().await?;
    assert!(parcels.check().run().await?.is_clean());
    for number in 0..40 {
        let found = parcels.get_eventual(Parcel::tracking(&parcel(number).code)).await?;
        let is_there = number < 10 || (number >= 20 && number != 30);
        assert_eq!(found.is_some(), is_there, "{number}");
    }
    Ok(())
}
