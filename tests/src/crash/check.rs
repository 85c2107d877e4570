//! Checks the stored data after a crash. It must contain the writes that were acknowledged before the crash.

use std::collections::BTreeMap;

use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::{EntityKey, Result, TableName, TableStore};

use crate::crash::workload::{
    Acknowledged, ROWS_OF_A_SLOT, SLOTS, TABLE, deletes, number_of, partition, slot_row,
};

/// The evidence of acknowledged writes: the last acknowledged transaction of each writer.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    last: BTreeMap<usize, Acknowledged>,
}

impl Evidence {
    /// Records an acknowledged transaction.
    pub fn record(&mut self, acknowledged: Acknowledged) {
        self.last.insert(acknowledged.writer, acknowledged);
    }

    /// Returns the number of writers with an acknowledged transaction.
    #[must_use]
    pub fn writers(&self) -> usize {
        self.last.len()
    }
}

/// Compares a store with the evidence. Returns a description of each defect. An empty list means that the store is correct.
///
/// # Errors
/// Any error from the store. It counts as a failed check, because a store must be readable after a crash.
pub async fn check(store: &impl TableStore, evidence: &Evidence) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (writer, last) in &evidence.last {
        check_writer(store, *writer, last, &mut wrong).await?;
    }
    Ok(wrong)
}

async fn check_writer(
    store: &impl TableStore,
    writer: usize,
    last: &Acknowledged,
    wrong: &mut Vec<String>,
) -> Result<()> {
    let table = TableName::new(TABLE)?;
    let counter = store.get(&table, &EntityKey::new(partition(writer), "counter")?, &Select::All).await?;
    let Some(counter) = counter else {
        wrong.push(format!(
            "writer {writer}: transaction {} was acknowledged, the counter is gone",
            last.number
        ));
        return Ok(());
    };
    let reached = number_of(&counter.row)?.unwrap_or_default();
    let etag = counter.etag.ticks().unwrap_or_default();
    if reached < last.number {
        wrong.push(format!("writer {writer}: {} was acknowledged, {reached} is stored", last.number));
    }
    if etag < last.etag || (reached > last.number && etag == last.etag) {
        wrong.push(format!("writer {writer}: ETag {etag} after {} had been acknowledged", last.etag));
    }
    let stored = slots(store, &table, writer).await?;
    for slot in 0..SLOTS {
        check_slot(writer, slot, reached, &stored, wrong);
    }
    Ok(())
}

/// Returns the transaction number in each row of a writer's slots, by `RowKey`.
async fn slots(
    store: &impl TableStore,
    table: &TableName,
    writer: usize,
) -> Result<BTreeMap<String, Option<u64>>> {
    let query = Query::new(KeyRange::rows(partition(writer), TextRange::prefix("slot_")));
    let (mut stored, mut from) = (BTreeMap::new(), None);
    loop {
        let page = store.query(table, &query, from.as_ref()).await?;
        for entity in page.rows.iter() {
            let row = entity.row.to_row();
            stored.insert(entity.row_key.to_owned(), number_of(&row)?);
        }
        from = page.continuation;
        if from.is_none() {
            return Ok(stored);
        }
    }
}

fn check_slot(
    writer: usize,
    slot: u64,
    reached: u64,
    stored: &BTreeMap<String, Option<u64>>,
    wrong: &mut Vec<String>,
) {
    // The last transaction up to `reached` that changed this slot.
    let expected =
        (0..=reached).rev().take(usize::try_from(SLOTS).unwrap_or(usize::MAX)).find(|n| n % SLOTS == slot);
    let expected = expected.filter(|number| !deletes(*number));
    for row in 0..ROWS_OF_A_SLOT {
        let found = stored.get(&slot_row(slot, row)).copied().flatten();
        if found != expected {
            wrong.push(format!(
                "writer {writer}, counter {reached}: slot {slot} row {row} holds {found:?}, {expected:?} belongs there"
            ));
        }
    }
}
