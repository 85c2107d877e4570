use table_core::ErrorCode;

use super::*;
use crate::outbox::intent::Step;

#[test]
fn work_is_read_back_as_it_was() {
    let (table, partition_key) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
    let intent = Intent::of(RowKey::new("1").unwrap()).step(Step::of_pattern("mail".into(), "{}".into()));
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
        Work::inline(&table, &partition_key, &intent).unwrap(),
        Work::Inline {
            table: table.clone(),
            partition_key: partition_key.clone(),
            text: text::write(&intent).unwrap(),
            seal: Some("key.mac".into()),
            tried: Tried { attempts: 2, error: Some("no".into()) },
        },
    ] {
        assert_eq!(Work::read(&work.write().unwrap()).unwrap(), work);
    }
    let nowhere = r#"{"Version":1,"Table":"Company","PartitionKey":"a/b"}"#;
    let entity = r#"{"Version":1,"Table":"Company","PartitionKey":"Sales","RowKey":"r"}"#;
    for text in ["", "{}", "{\"Version\":1}", nowhere, entity] {
        assert_eq!(Work::read(text).unwrap_err().code(), ErrorCode::Corrupted);
    }
}
