//! Tests records of another program that contain many index keys.

use std::fmt::Write;

use table_core::row::RowWriter;
use table_core::{Entity, ValueRef, limits};

use super::*;
use crate::EntityStore;
use crate::outbox::OUTBOX_PREFIX;

/// An entity with an index in another table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Parcels")]
#[partition_key(tenant)]
#[row_key("parcel_", number)]
#[index(Everywhere, unique, table = "Codes", partition_key("code"), row_key(code))]
struct Parcel {
    tenant: String,
    #[digits(6)]
    number: u32,
    code: String,
}

#[test]
fn pat_ec_4_a_record_with_many_index_keys_costs_few_requests() {
    for change in ["Everywhere", "copies of it", "copies by It"] {
        let (outbox, engine, time) = outbox();
        let store = FaultyStore::new(engine.clone());
        let (queue, pace) = (outbox.queue().clone(), outbox.runtime().clone());
        let faulty = Outbox::with_runtime(store.clone(), engine.clone(), queue, pace);
        let parcels = store.entities_with_outbox::<Parcel, _>(faulty.clone());
        let parcels = block_on(parcels.create_if_missing()).unwrap();
        let mut payload = format!(r#"["{change}",["t0","parcel_000001"]"#);
        (0..40_000).for_each(|number| write!(payload, r#",["code","{number}"]"#).unwrap());
        payload.push(']');
        let call = serde_json::json!({"Do": "Call", "Name": "elsewhere of Parcel", "Payload": payload});
        let intent =
            serde_json::json!({"Version": 1, "Source": "parcel_000001", "Steps": [call]}).to_string();
        let mut writer = RowWriter::new();
        for (at, part) in intent.as_bytes().chunks(limits::BINARY_BYTES).enumerate() {
            let name = if at == 0 { "Intent".to_owned() } else { format!("Intent{at}") };
            writer.property(&name, ValueRef::Binary(part));
        }
        let (table, t0) = (TableName::new("Parcels").unwrap(), PartitionKey::new("t0").unwrap());
        let mut transaction = Transaction::new(t0.clone(), engine.capabilities().limits).unwrap();
        let row_key = RowKey::new(format!("{OUTBOX_PREFIX}{:032x}", 7)).unwrap();
        transaction.push(Operation { row_key, kind: OperationKind::Insert(writer.finish()) }).unwrap();
        block_on(engine.submit(&table, transaction)).unwrap();
        block_on(outbox.notify(&table, &t0)).unwrap();
        store.heal();
        let worker = Worker::new(faulty).with_index_handler(&parcels);
        for _ in 0..10 {
            block_on(worker.run_until_idle()).unwrap();
            time.fetch_add(36_000_000_000, Ordering::SeqCst);
        }
        assert!(store.calls().len() < 200, "{change}: {} requests", store.calls().len());
        let backlog = block_on(outbox.backlog()).unwrap();
        // A change to a relation that the stored schema does not declare counts as done.
        let poison = u64::from(change == "Everywhere");
        assert_eq!((backlog.waiting, backlog.poison), (0, poison), "{change}");
    }
}
