//! Recipes for hierarchical partition keys on the vendor's in-memory emulator: no account, no server.
//!
//! ```text
//! cargo run -p table-cosmos --features emulator --example cookbook             # all recipes
//! cargo run -p table-cosmos --features emulator --example cookbook -- split.svg   # and the picture of a split
//! ```

#![expect(clippy::print_stdout, reason = "a recipe shows what it found")]

use std::time::Duration;

use table_core::hierarchy::{Bounds, Component, Epk, KeyLoad, Load, PartitionMap, picture};
use table_core::query::{KeyRange, Query, TextRange};
use table_core::{Entity, Result, TableName, TableStoreExt};
use table_cosmos::emulator::Emulator;
use table_cosmos::{CosmosTables, Options, read_units, write_units};

/// Events of users inside tenants (HPK-20).
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Events")]
#[partition_key(tenant, user, session)]
#[row_key(number)]
struct Event {
    tenant: String,
    user: String,
    session: String,
    #[digits(6)]
    number: u32,
    kind: String,
}

/// Readings of devices, by device and day.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Readings")]
#[partition_key(device, day)]
#[row_key(minute)]
struct Reading {
    device: String,
    #[digits(3)]
    day: u16,
    #[digits(4)]
    minute: u16,
    celsius: f64,
}

/// Documents that are their own last level, so that a tenant grows without bound (HPK-26).
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Documents")]
#[partition_key(tenant, id)]
#[row_key("")]
struct Document {
    tenant: String,
    id: String,
    title: String,
}

/// Partitions of each container.
const PARTITIONS: u32 = 8;

#[tokio::main]
async fn main() -> Result<()> {
    let emulator = Emulator::new(false)?;
    let options = Options::new().levels_of::<Event>().levels_of::<Reading>().levels_of::<Document>();
    let store = emulator.open(options).await?;
    for (table, levels) in [("Events", 3), ("Readings", 2), ("Documents", 2)] {
        emulator.create(&TableName::new(table)?, levels, PARTITIONS, None)?;
    }
    tenants(&emulator, &store).await?;
    devices(&emulator, &store).await?;
    documents(&emulator, &store).await?;
    let svg = split(&emulator, &store).await?;
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(&path, svg).map_err(|error| {
            table_core::Error::new(table_core::ErrorCode::Io, format!("`{path}` cannot be written"))
                .with_source(error)
        })?;
        println!("  written: {path}");
    }
    Ok(())
}

/// Says how many requests were sent since the last word, with what they cost by the published prices where they are points.
fn requests(emulator: &Emulator, what: &str, units: f64) {
    let sent = emulator.sent();
    let queries = sent.iter().filter(|sent| sent.is_query).count();
    let points = sent.iter().filter(|sent| !sent.is_query && sent.path.contains("/docs")).count();
    println!(
        "  {what}: {points} point requests, {queries} queries, about {units:.1} RU by the published table"
    );
}

async fn tenants(emulator: &Emulator, store: &CosmosTables) -> Result<()> {
    println!("multi-tenant: what did contoso do, what did ada, and who else is read?");
    let events = store.table::<Event>();
    let mut count = 0;
    for (tenant, users) in [("contoso", 20), ("fabrikam", 3), ("con", 2)] {
        for user in 0..users {
            let event = Event {
                tenant: tenant.to_owned(),
                user: format!("u{user}"),
                session: "s1".to_owned(),
                number: 1,
                kind: "sign-in".to_owned(),
            };
            events.insert(&event).await?;
            count += 1;
        }
    }
    requests(emulator, "written", f64::from(count) * write_units(200));
    let contoso = events.query(Event::within("contoso")).collect().await?;
    assert!(contoso.len() == 20 && contoso.iter().all(|event| event.tenant == "contoso"));
    requests(emulator, "read, one tenant", 2.5);
    let keys = KeyRange { partition_key: TextRange::prefix("contoso!"), row_key: TextRange::ALL };
    println!("  {}", store.explain(&TableName::new("Events")?, &Query::new(keys)).await?);
    println!("  {}", store.explain(&TableName::new("Events")?, &Query::new(KeyRange::ALL)).await?);
    let _ = emulator.sent();
    Ok(())
}

async fn devices(emulator: &Emulator, store: &CosmosTables) -> Result<()> {
    println!("devices by day: the readings of one day are one logical partition, and come in order");
    let readings = store.table::<Reading>();
    for day in 1..=3 {
        let mut day_of = readings.transaction(Reading::partition("d7", day))?;
        for minute in 0..60 {
            let celsius = 20.0 + f64::from(minute) / 10.0;
            day_of.insert(&Reading { device: "d7".to_owned(), day, minute, celsius })?;
        }
        day_of.commit().await?;
    }
    requests(emulator, "written, a batch a day", 3.0 * 60.0 * write_units(120));
    let found = readings.query(Reading::rows("d7", 2).minute(10..20)).collect().await?;
    assert_eq!(found.iter().map(|reading| reading.minute).collect::<Vec<_>>(), (10..20).collect::<Vec<_>>());
    requests(emulator, "ten minutes of a day", 2.5);
    let all = readings.query(Reading::within("d7")).collect().await?;
    assert_eq!(all.len(), 180);
    requests(emulator, "a device", 2.5);
    Ok(())
}

async fn documents(emulator: &Emulator, store: &CosmosTables) -> Result<()> {
    println!(
        "the last level is the id: a tenant grows beyond any bound, and has no transactions over documents"
    );
    let documents = store.table::<Document>();
    for id in 0..50 {
        let document =
            Document { tenant: "contoso".to_owned(), id: format!("d{id}"), title: format!("Title {id}") };
        documents.insert(&document).await?;
    }
    requests(emulator, "written", 50.0 * write_units(150));
    let one = documents.get(Document::key("contoso", "d7")).await?;
    assert_eq!(one.map(|document| document.title.clone()).as_deref(), Some("Title 7"));
    requests(emulator, "one document", read_units(150));
    Ok(())
}

async fn split(emulator: &Emulator, store: &CosmosTables) -> Result<String> {
    println!("a split: the tenant's partition is divided between two of its documents");
    let table = TableName::new("Documents")?;
    let key = |id: usize| {
        let levels = vec!["contoso".to_owned(), format!("d{id}")];
        // What a busy document stands for: bounds of the picture are as small as the data.
        KeyLoad { levels, bytes: 1.0, growth: 0.0, ru: 1.0 }
    };
    let bounds = Bounds::of_bytes(20.0, 40.0);
    let keys = || (0..50).map(key).collect::<Vec<_>>();
    let live = store.partitions(&table).await?;
    let before = Load::new(live, keys(), bounds);
    let next = before.next_split().and_then(|split| Some((split.id, split.at?)));
    let (partition, at) = next.unwrap_or((0, Epk::of(&[Component::text("contoso")])));
    println!("  the model: partition {partition} is full, and divides at {at}");
    emulator.split(&table, partition, &at, Duration::ZERO)?;
    emulator.settled().await;
    let after: PartitionMap = store.partitions(&table).await?;
    assert_eq!(after.partitions().len() + 1, PARTITIONS as usize + 2);
    let _ = emulator.sent();
    let found = store.table::<Document>().query(Document::within("contoso")).collect().await?;
    assert_eq!(found.len(), 50);
    requests(emulator, "the tenant after its split", 5.0);
    let after = Load::new(after, keys(), bounds);
    for (name, load) in [("before", &before), ("after", &after)] {
        let busy: Vec<_> =
            load.heat().into_iter().filter(|heat| heat.keys > 0).map(|heat| heat.keys).collect();
        println!("  {name}: keys a busy partition {busy:?}");
    }
    Ok(picture(&[("before", &before), ("after", &after)]))
}
