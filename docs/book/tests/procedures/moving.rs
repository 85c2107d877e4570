//! Tests the procedure for moving an entity to another store together with all of its patterns.

use std::collections::BTreeMap;
use std::time::Duration;

use table_patterns::embedded::EngineOptions;
use table_patterns::feed::Feed;
use table_patterns::migrate::Migration;
use table_patterns::outbox::Outbox;
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::work::Worker;
use table_patterns::{
    Engine, Entities, Entity, EntityStore as _, IfMatch, PartitionKey, QueueName, Result, TableName,
};

use crate::page::Procedure;
use crate::time::Time;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Parcels", feed)]
#[partition_key(depot)]
#[row_key("parcel_", number)]
#[index(ByWeight, row_key("weight_", grams, "_", number))]
#[index(Tracking, unique, table = "Tracking", partition_key(code), row_key("code"))]
struct Parcel {
    depot: String,
    #[digits(8)]
    number: u32,
    #[digits(6)]
    grams: u32,
    code: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Loads")]
#[partition_key(depot)]
#[row_key("load")]
struct Load {
    depot: String,
    parcels: i64,
    grams: i64,
}

/// A view that contains the number and the total weight of the parcels at each depot.
struct Loads;

impl View for Loads {
    type Source = Parcel;
    type Row = Load;

    fn project(parcel: &Parcel, view: &mut Projection<Load>) -> Result<()> {
        view.add(Load::key(&parcel.depot), Load::PARCELS, 1)?;
        view.add(Load::key(&parcel.depot), Load::GRAMS, parcel.grams.into())
    }
}

/// A program that uses one store.
struct Program {
    outbox: Outbox<Engine, Engine>,
    parcels: Entities<Parcel, Engine, Outbox<Engine, Engine>>,
    loads: ViewTable<Loads, Engine>,
}

const DEPOTS: u32 = 6;

fn depot(number: u32) -> String {
    format!("depot {}", number % DEPOTS)
}

impl Program {
    async fn start(store: &Engine) -> Result<Self> {
        let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("parcels")?);
        outbox.create_queues().await?;
        let parcels = store.entities_with_outbox::<Parcel, _>(outbox.clone()).create_if_missing().await?;
        let loads = ViewTable::<Loads, _>::new(store.clone()).create_if_missing().await?;
        Ok(Self { outbox, parcels, loads })
    }

    async fn work(&self) -> Result<()> {
        Worker::new(self.outbox.clone()).with_index_handler(&self.parcels).run_until_idle().await
    }

    async fn follow(&self) -> Result<()> {
        while self.loads.catch_up(1_000).await?.is_behind {}
        Ok(())
    }

    async fn insert(&self, number: u32) -> Result<()> {
        let parcel =
            Parcel { depot: depot(number), number, grams: number % 500, code: format!("NO{number}") };
        self.parcels.insert(&parcel).await.map(drop)
    }

    async fn change(&self, number: u32) -> Result<()> {
        let change = |parcel: &mut Parcel| {
            parcel.grams += 1;
            parcel.code.push('x');
        };
        self.parcels.update(Parcel::key(depot(number), number), change).await.map(drop)
    }

    async fn delete(&self, number: u32) -> Result<()> {
        self.parcels.delete(Parcel::key(depot(number), number), IfMatch::Any).await
    }

    /// Checks the view, the indexes, and each index entry that is in another partition. Returns the number of parcels.
    async fn check(&self) -> Result<usize> {
        let report = self.parcels.check().run().await?;
        assert!(report.is_clean(), "{:?}", report.findings);
        let parcels = self.parcels.scan("check").max_rows(100_000).collect().await?;
        let mut loads: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for parcel in &parcels {
            let load = loads.entry(parcel.depot.clone()).or_default();
            *load = (load.0 + 1, load.1 + i64::from(parcel.grams));
            let entry = self.parcels.get_eventual(Parcel::tracking(&parcel.code)).await?;
            assert_eq!(entry.unwrap().primary(&self.parcels).await?.as_deref(), Some(parcel));
        }
        for (depot, expected) in loads {
            let load = self.loads.table().await?.get(Load::key(&depot)).await?.unwrap();
            assert_eq!((load.parcels, load.grams), expected, "{depot}");
        }
        Ok(parcels.len())
    }
}

/// Copies a table to another store and compares the checksums. Returns the number of rows.
async fn copy(here: &Engine, account: &Engine, table: &str) -> Result<u64> {
    let mut copy = Migration::new(here, account, TableName::new(table)?);
    while copy.step().await? {}
    let (source, target) = copy.checksums().await?;
    assert_eq!(source, target, "{table}");
    Ok(target.rows())
}

#[pollster::test]
async fn an_entity_moves_with_its_index_view_feed_and_outbox() -> Result<()> {
    let mut page = Procedure::of("book/azure.md", "Moving a table");
    let (here, account) = (Engine::in_memory(), Engine::in_memory());
    let old = Program::start(&here).await?;
    old.loads.rebuild().run().await?;
    for number in 0..1_300 {
        old.insert(number).await?;
    }
    old.work().await?;
    old.follow().await?;
    for number in 0..60 {
        old.change(number).await?;
        old.delete(number + 100).await?;
    }

    page.step("Stop the writers of the source first");
    page.step("wait until its workers are idle and no poison is left");
    old.work().await?;
    let depth = old.outbox.backlog().await?;
    assert_eq!((depth.waiting, depth.poison), (0, 0));

    page.step("Before rows arrive, open the entity and its views at the target.");
    let new = Program::start(&account).await?;
    page.step("copy the tables of its indexes and views, and then `TablesFeeds` and `TablesOutbox`.");
    for (table, least) in
        [("Parcels", 1_240), ("Tracking", 1_240), ("Loads", 1_240), ("TablesFeeds", 6), ("TablesOutbox", 7)]
    {
        assert!(copy(&here, &account, table).await? >= least, "{table}");
    }
    page.step("After the copy, run `check` at the target.");
    // The view continues with the changes that had not been applied to it at the source.
    new.follow().await?;
    assert_eq!(new.check().await?, 1_240);

    // The program continues at the target. Feed entries that were written before the move can still be read and trimmed.
    for number in 0..30 {
        new.change(number).await?;
        new.delete(number + 40).await?;
        new.insert(number + 100).await?;
    }
    new.work().await?;
    new.follow().await?;
    assert_eq!(new.check().await?, 1_240);
    let (feed, parcels) = (Feed::new(account.clone()), TableName::new("Parcels")?);
    for number in 0..DEPOTS {
        let partition = PartitionKey::new(depot(number))?;
        let position = new.loads.position(&partition).await?;
        assert!(feed.trim(&parcels, &partition, &position).await? > 200, "{partition}");
    }
    assert_eq!(new.check().await?, 1_240);
    assert_eq!(new.outbox.backlog().await?.poison, 0);
    Ok(())
}

#[pollster::test]
async fn changes_at_a_target_with_a_slow_clock_are_treated_as_older() -> Result<()> {
    let mut page = Procedure::of("book/azure.md", "Moving a table");
    let (time, hour) = (Time::new(), Duration::from_secs(60 * 60));
    let here = EngineOptions::new().clock(time.ahead(hour)).in_memory();
    let account = time.engine();
    let old = Program::start(&here).await?;
    for number in 0..4 {
        old.insert(number).await?;
    }
    old.work().await?;
    let new = Program::start(&account).await?;
    for table in ["Parcels", "Tracking", "Loads", "TablesFeeds", "TablesOutbox"] {
        copy(&here, &account, table).await?;
    }

    page.step("If the target's clock is behind the source's, wait out the difference. Until then, workers mistake new changes for older ones;");
    new.change(0).await?;
    new.work().await?;
    assert!(!new.parcels.check().run().await?.is_clean());
    page.step("a later `check` with `repair` corrects the indexes.");
    new.parcels.check().repair().run().await?;
    assert!(new.parcels.check().run().await?.is_clean());
    time.pass(hour + Duration::from_secs(1));
    new.change(1).await?;
    new.work().await?;
    assert!(new.parcels.check().run().await?.is_clean());
    Ok(())
}
