//! Tests the seal keys that are passed to `sealed_by`, for example as parts of a configuration value.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use pollster::block_on;
use sha2::{Digest, Sha256};
use table_core::ErrorCode;
use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::queue::QueueName;
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::transaction::Transaction;

use crate::outbox::seal::Place;
use crate::outbox::{Intent, Outbox, Step};
use crate::work::Worker;

/// Returns the seal that anyone who knows the key can compute.
fn forged(key: &[u8], place: Place<'_>, text: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    for part in [place.table.folded(), place.partition_key.as_str(), place.row_key] {
        mac.update(part.as_bytes());
        mac.update(&[0]);
    }
    mac.update(text);
    let hash = Sha256::digest(key);
    let id = u32::from_be_bytes(*hash.first_chunk().unwrap());
    format!("{id:08x}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

#[test]
fn pat_ec_4_given_keys_are_refused_or_protect_the_intents() {
    let lengths = [0_u8, 1, 15, 16, 40];
    let mut lists: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
    for _ in 0..3 {
        let longer: Vec<_> = lists
            .iter()
            .flat_map(|list| lengths.map(|length| [list.clone(), vec![vec![b','; length.into()]]].concat()))
            .collect();
        lists.extend(longer);
    }
    lists.sort();
    lists.dedup();
    let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
    for keys in lists {
        let lengths: Vec<_> = keys.iter().map(Vec::len).collect();
        let engine = Engine::in_memory();
        block_on(engine.create_table(&table)).unwrap();
        let outbox =
            Outbox::new(engine.clone(), engine.clone(), QueueName::new("work").unwrap()).sealed_by(keys);
        block_on(outbox.create_queues()).unwrap();
        let target = EntityKey::new("target", "1").unwrap();
        let step = Step::insert_or_replace(table.clone(), target, RowWriter::new().finish());
        let intent = Intent::of(RowKey::new("1").unwrap()).step(step);
        let mut transaction = Transaction::new(sales.clone(), engine.capabilities().limits).unwrap();
        outbox.record(&mut transaction, &intent).unwrap();
        let submitted = block_on(outbox.submit(&table, transaction));
        let is_refused = lengths.is_empty() || lengths.iter().any(|length| *length < 16);
        assert_eq!(submitted.is_err(), is_refused, "{lengths:?}");
        if let Err(error) = submitted {
            assert_eq!(error.code(), ErrorCode::InvalidInput, "{lengths:?}");
            let error = block_on(Worker::new(outbox).run_once()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidInput, "{lengths:?}");
            continue;
        }
        for known in [&b""[..], b","] {
            let place = Place { table: &table, partition_key: &sales, row_key: "" };
            let seal = forged(known, place, b"{}");
            let is_genuine = outbox.seals().is_genuine(&engine, place, (b"{}", Some(&seal)));
            assert!(!block_on(is_genuine).unwrap(), "{lengths:?}");
        }
        let worker = Worker::new(outbox);
        block_on(worker.run_until_idle()).unwrap();
        assert_eq!((worker.metrics().done, worker.metrics().poisoned), (1, 0), "{lengths:?}");
    }
}
