//! Tests of bulk writes whose requests are larger than the written entities, because the client sends whole items and repeats their ids.

use table_core::{Entity, TableName, TableStoreExt};
use table_cosmos::Options;
use table_cosmos::emulator::Emulator;

use crate::runtime;

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Things")]
#[partition_key(owner)]
#[row_key(name)]
struct Thing {
    owner: String,
    name: String,
    text: Option<String>,
    flag: Option<bool>,
}

fn thing(number: usize, key_length: usize, text_length: usize) -> Thing {
    let name = format!("{number:03}{}", "k".repeat(key_length));
    Thing { owner: "o".into(), name, text: Some("x".repeat(text_length)), flag: None }
}

#[test]
fn egt_3_a_bulk_write_splits_the_batches_that_the_client_enlarges() {
    runtime().block_on(async {
        for at_most_once in [true, false] {
            // Together, the stored items exceed 2 MiB, or long ids occur twice in a batch.
            for (key_length, text_length) in [(3, 30_000), (500, 19_000), (500, 20_000)] {
                let account = Emulator::new(false).unwrap();
                account.create(&TableName::new("Things").unwrap(), 1, 1, None).unwrap();
                let store = account.open(Options::new().at_most_once_writes(at_most_once)).await.unwrap();
                let things = store.table::<Thing>().create_if_missing().await.unwrap();
                let all = (0..100).map(|number| thing(number, key_length, text_length));
                assert_eq!(things.bulk().insert_all(all.clone()).await.unwrap().len(), 100);
                let flags = all.clone().map(|thing| Thing { text: None, flag: Some(true), ..thing });
                let mut transactions = 0;
                let merged =
                    things.bulk().on_progress(|_| transactions += 1).insert_or_merge_all(flags).await;
                assert_eq!(merged.unwrap().len(), 100);
                // More transactions would mean that batches were split unnecessarily.
                assert!((1..=4).contains(&transactions), "{transactions}");
                let replaced = things.bulk().insert_or_replace_all(all.clone()).await;
                assert_eq!(replaced.unwrap().len(), 100);
                let found = things.query(Thing::partition("o")).collect().await.unwrap();
                assert_eq!(found, all.collect::<Vec<_>>());
            }
        }
    });
}
