//! A recipe that splits a physical partition between two documents of the same tenant. The model predicts the split, and the container then performs it.

use std::fmt::Write as _;
use std::time::Duration;

use table_core::{Error, ErrorCode, Result, TableName, TableStoreExt};
use table_hierarchy::{Bounds, KeyLoad, Load, PartitionMap, picture};

use super::Shown;
use super::documents::{Document, stored};
use super::ledger::{Ledger, Rows};

/// Returns the documents' load on the partitions in `map`. The size limits are scaled down: forty documents fill a partition.
fn load(map: PartitionMap) -> Load {
    let key = |number: usize| {
        let levels = vec!["contoso".to_owned(), format!("d{number}")];
        KeyLoad { levels, bytes: 1.0, growth: 0.0, ru: 1.0 }
    };
    Load::new(map, (0..50).map(key).collect(), Bounds::of_bytes(20.0, 40.0))
}

pub(super) async fn run() -> Result<Shown> {
    let table = TableName::new("Documents")?;
    let (emulator, store, _) = stored(4).await?;
    let documents = store.table::<Document>();
    let mut ledger = Ledger::new(&emulator);
    let tenant = documents.query(Document::within("contoso")).collect().await?;
    ledger.add("the tenant before", Rows::Found(tenant.len()));

    let before = load(store.partitions(&table).await?);
    let next = before.next_split().and_then(|split| Some((split.id, split.at?)));
    let Some((partition, at)) = next else {
        return Err(Error::new(ErrorCode::InternalError, "fifty documents are too many for one partition"));
    };
    emulator.split(&table, partition, &at, Duration::ZERO)?;
    emulator.settled().await;
    let after = load(store.partitions(&table).await?);
    assert_eq!(after.map().partitions().len(), 5);
    let _ = emulator.sent();

    let tenant = documents.query(Document::within("contoso")).collect().await?;
    ledger.add("the tenant after, with an old map in the client", Rows::Found(tenant.len()));
    assert_eq!(tenant.len(), 50);
    let tenant = documents.query(Document::within("contoso")).collect().await?;
    ledger.add("the tenant after", Rows::Found(tenant.len()));
    let one = documents.get(Document::key("contoso", "d7")).await?;
    ledger.add("one document after", Rows::Read(usize::from(one.is_some())));

    let mut text =
        format!("A split inside a tenant: partition {partition} is full, and divides at {at}\n\n{ledger}\n");
    for (name, load) in [("before", &before), ("after", &after)] {
        let heat = load.heat();
        let keys: Vec<usize> = heat.iter().map(|heat| heat.keys).collect();
        let fullest = heat.iter().map(|heat| heat.full * 100.0).fold(0.0, f64::max);
        let _ = writeln!(text, "{name}: documents by partition {keys:?}, the fullest at {fullest:.0} %");
    }
    Ok(Shown { name: "split", text, picture: Some(picture(&[("before", &before), ("after", &after)])) })
}
