//! Calls the webhook of a tenant. It receives the changes in the tenant's feed in order and at least once. Each call has an idempotency key.

use std::collections::BTreeMap;

use table_core::PartitionKey;
use table_patterns::feed::Cursor;

use crate::ledger::books::Bookkeeping;
use crate::ledger::{CONTOSO, Failed};
use crate::model::ledger::Entry;

/// A receiver that stores each call under its idempotency key, so a repeated call has no effect.
#[derive(Default)]
struct Receiver {
    calls: u32,
    changes: BTreeMap<String, (u32, String)>,
}

impl Receiver {
    fn receive(&mut self, key: String, number: u32, kind: &str) {
        self.calls += 1;
        self.changes.insert(key, (number, kind.to_owned()));
    }
}

/// Delivers all changes in the feed of a tenant. The sender fails once before it stores its cursor. One page is therefore delivered twice.
pub(super) async fn follow(books: &Bookkeeping) -> Result<(), Failed> {
    let (feed, table, tenant) =
        (books.entries.feed(), books.entries.table().name()?, PartitionKey::new(CONTOSO)?);
    let (mut receiver, mut stored, mut pages) = (Receiver::default(), Cursor::default(), 0);
    loop {
        let entries = feed.read(table, &tenant, &stored, 100).await?;
        let Some(last) = entries.last() else { break };
        for entry in &entries {
            let Some(key) = entry.source_as::<Entry>(&tenant) else { continue };
            let number = key.key()?.row_key.as_str().trim_start_matches("entry_").parse()?;
            // The cursor identifies the feed as well as the change. A recreated table gets a new feed with new numbers.
            let cursor = serde_json::to_string(&entry.cursor)?;
            receiver.receive(format!("{CONTOSO}/{cursor}"), number, &entry.kind);
        }
        pages += 1;
        if pages != 2 {
            stored = last.cursor.clone();
        }
    }
    let inserted = receiver.changes.values().filter(|(_, kind)| kind == "inserted").count();
    let entries = books.entries.query(Entry::rows(CONTOSO)).collect().await?.len();
    println!("\nWebhook: {} calls for {} changes", receiver.calls, receiver.changes.len());
    assert_eq!(inserted, entries, "each entry was announced");
    Ok(())
}
