//! A recipe that stores documents. The document ID is the last level of the partition key, so a tenant can grow without limit (HPK-26).

use table_core::{Entity, Result, TableName, TableStoreExt};
use table_cosmos::emulator::Emulator;
use table_cosmos::{CosmosTables, Options};

use super::Shown;
use super::ledger::{Ledger, Rows};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Documents")]
#[partition_key(tenant, id)]
#[row_key("")]
pub(super) struct Document {
    pub(super) tenant: String,
    pub(super) id: String,
    pub(super) title: String,
}

/// Creates a container with `partitions` physical partitions, and stores fifty documents of one tenant. Returns the emulator, the store and a ledger of its
/// requests.
pub(super) async fn stored(partitions: u32) -> Result<(Emulator, CosmosTables, Ledger)> {
    let emulator = Emulator::new(false)?;
    let store = emulator.open(Options::new().levels_of::<Document>()).await?;
    emulator.create(&TableName::new("Documents")?, 2, partitions, None)?;
    let documents = store.table::<Document>();
    documents.get(Document::key("contoso", "d0")).await?;
    let mut ledger = Ledger::new(&emulator);
    for number in 0..50 {
        let (id, title) = (format!("d{number}"), format!("Title {number}"));
        documents.insert(&Document { tenant: "contoso".to_owned(), id, title }).await?;
    }
    ledger.add("write a document", Rows::Written(50));
    Ok((emulator, store, ledger))
}

pub(super) async fn run() -> Result<Shown> {
    let (_emulator, store, mut ledger) = stored(8).await?;
    let documents = store.table::<Document>();
    let one = documents.get(Document::key("contoso", "d7")).await?;
    ledger.add("one document", Rows::Read(usize::from(one.is_some())));
    let tenant = documents.query(Document::within("contoso")).collect().await?;
    ledger.add("a tenant: one level", Rows::Found(tenant.len()));
    assert_eq!(one.map(|document| document.title.clone()).as_deref(), Some("Title 7"));
    assert_eq!(tenant.len(), 50);

    let text = format!(
        "The id as the last level: tenant > id on 8 physical partitions; no transaction spans two documents\n\n{ledger}"
    );
    Ok(Shown { name: "documents", text, picture: None })
}
