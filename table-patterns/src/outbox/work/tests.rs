use table_core::ErrorCode;

use super::*;

#[test]
fn work_is_read_back_as_it_was() {
    let (table, partition_key) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
    for work in [
        Work::partition(&table, &partition_key),
        Work::partition(&table, &partition_key).next(Some(RowKey::new("\u{FFFC}outbox_r").unwrap()), Some(7)),
        Work::partition(&table, &partition_key)
            .next(Some(RowKey::new("r").unwrap()), None)
            .next(None, Some(7)),
        Work::Row(Place {
            table: table.clone(),
            partition_key: partition_key.clone(),
            row_key: OutboxKey::of(RowKey::new("\u{FFFC}outbox_r").unwrap()).unwrap(),
        }),
    ] {
        assert_eq!(Work::read(&work.write().unwrap()).unwrap(), work);
    }
    let nowhere = r#"{"Version":1,"Table":"Company","PartitionKey":"a/b"}"#;
    let entity = r#"{"Version":1,"Table":"Company","PartitionKey":"Sales","RowKey":"r"}"#;
    for text in ["", "{}", "{\"Version\":1}", nowhere, entity] {
        assert_eq!(Work::read(text).unwrap_err().code(), ErrorCode::Corrupted);
    }
}
