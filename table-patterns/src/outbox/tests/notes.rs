//! Tests the notes that workers and sweeps write to the row of a pending intent.

use table_core::etag::ETag;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::row::{self, Row};

use super::*;
use crate::outbox::notes::{Note, without_notes};
use crate::outbox::place::{OutboxKey, Place};
use crate::outbox::rows::{self, Pending};

fn names(row: &Row) -> Vec<String> {
    row.view().properties().map(|property| property.unwrap().name.to_owned()).collect()
}

#[test]
fn a_row_without_its_notes_contains_only_the_intent_and_the_version() {
    let intent =
        Intent::of(RowKey::new("customer_1").unwrap()).step(Step::call(&Mail { to: "ada".into() }).unwrap());
    let Operation { row_key, kind: OperationKind::Insert(recorded) } = rows::insert(&intent, 7).unwrap()
    else {
        unreachable!("an intent is inserted");
    };
    let place = Place {
        table: TableName::new("Customers").unwrap(),
        partition_key: PartitionKey::new("p").unwrap(),
        row_key: OutboxKey::of_stored(row_key.as_str()).unwrap(),
    };
    let pending = Pending::of(place, recorded.view(), ETag::from_ticks(1)).unwrap();
    let notes = [
        Note::Prompted(NOW),
        Note::Claimed { by: "worker", attempts: 1, until: NOW, wait: 7 },
        Note::Failed { error: Some("unreachable"), failures: 2, until: NOW, wait: 9 },
    ];
    let stored = notes.into_iter().fold(recorded.clone(), |row, note| {
        row::merge(row.view(), pending.note(note).unwrap().kind.row().unwrap().view()).unwrap()
    });
    assert_eq!(names(&stored).len(), names(&recorded).len() + 8);
    let version = ["Version".to_owned()];
    assert_eq!(names(&without_notes(&stored).unwrap()), [&names(&recorded)[..], &version].concat());
}
