//! Tests of the levels of partition keys: unchanged entities, point reads, prefixes, batches, containers with different levels, and rejected ids.

use table_core::query::{KeyRange, Query, TextRange};
use table_core::row::RowWriter;
use table_core::{Engine, Entity, EntityKey, ErrorCode, TableEntity, TableName, TableStore, TableStoreExt};
use table_cosmos::emulator::Emulator;
use table_cosmos::{Difference, Options, Throughput};
use table_hierarchy::RouteClass;
use table_patterns::migrate::Migration;

use crate::{runtime, store};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Events")]
#[partition_key(tenant, user, session)]
#[row_key(number)]
struct Event {
    tenant: String,
    user: String,
    session: String,
    #[digits(4)]
    number: u32,
    kind: String,
}

/// An entity whose id is the last level of its partition key (HPK-26).
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Documents")]
#[partition_key(tenant, id)]
#[row_key("")]
struct Document {
    tenant: String,
    id: String,
    title: String,
}

fn event(tenant: &str, user: &str, session: &str, number: u32) -> Event {
    let [tenant, user, session] = [tenant, user, session].map(str::to_owned);
    Event { tenant, user, session, number, kind: "click".to_owned() }
}

#[test]
fn hpk_34_to_37_and_rust_3_a_declared_entity_runs_unchanged_on_its_levels() {
    runtime().block_on(async {
        let store = store(8, Options::new().levels_of::<Event>()).await;
        store.create("Events", 3);
        let events = store.table::<Event>();
        let mut all = Vec::new();
        for tenant in ["Micro", "Microsoft", "Microsoft2", "a!b", "é 東京"] {
            for user in ["ada", "bob"] {
                for session in ["s1", "s2"] {
                    for number in 0..3 {
                        all.push(event(tenant, user, session, number));
                    }
                }
            }
        }
        for event in &all {
            events.insert(event).await.unwrap();
        }
        for event in &all {
            let key =
                Event::key(event.tenant.as_str(), event.user.as_str(), event.session.as_str(), event.number);
            assert_eq!(*events.get(key).await.unwrap().unwrap(), *event);
        }
        let expect = |take: &dyn Fn(&Event) -> bool| all.iter().filter(|event| take(event)).count();
        for tenant in ["Micro", "Microsoft", "a!b", "é 東京", "none"] {
            let found = events.query(Event::within(tenant)).collect().await.unwrap();
            assert_eq!(found.len(), expect(&|event| event.tenant == tenant), "{tenant}");
            assert!(found.iter().all(|event| event.tenant == tenant), "RT-5: rows of another tenant");
            let found = events.query(Event::within(tenant).user_is("ada")).collect().await.unwrap();
            assert_eq!(found.len(), expect(&|event| event.tenant == tenant && event.user == "ada"));
        }
        let rows = events.query(Event::rows("Micro", "ada", "s1").number(1..)).collect().await.unwrap();
        assert_eq!(rows.iter().map(|event| event.number).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(events.scan("all").max_rows(1_000).collect().await.unwrap().len(), all.len());
    });
}

#[test]
fn hpk_26_and_lim_10_an_entity_may_be_its_own_last_level() {
    runtime().block_on(async {
        let store = store(4, Options::new().levels_of::<Document>()).await;
        store.create("Documents", 2);
        let documents = store.table::<Document>();
        for id in ["d1", "d2", "d3"] {
            let document = Document { tenant: "contoso".into(), id: id.into(), title: id.to_uppercase() };
            documents.insert(&document).await.unwrap();
        }
        let found = documents.get(Document::key("contoso", "d2")).await.unwrap().unwrap();
        assert_eq!(found.title, "D2");
        assert_eq!(documents.query(Document::within("contoso")).collect().await.unwrap().len(), 3);
    });
}

#[test]
fn hpk_43_rust_2_and_wire_7_opening_a_container_with_other_levels_is_refused() {
    runtime().block_on(async {
        let store = store(2, Options::new().levels("Two", 2).levels("One", 1)).await;
        let (two, one) = (store.create("Two", 3), store.create("One", 2));
        for table in [two, one] {
            let key = EntityKey::new("a!b!", "r").unwrap();
            let error = store.get(&table, &key, &table_core::query::Select::All).await.unwrap_err();
            assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("HPK-43")), "{error}");
            assert!(error.to_string().contains("paths"), "{error}");
        }
    });
}

#[test]
fn hpk_43_a_table_without_levels_adopts_those_of_its_container_if_the_option_is_set() {
    runtime().block_on(async {
        let store = store(2, Options::new().adopt_levels(true).levels("Two", 2)).await;
        let (three, two) = (store.create("Three", 3), store.create("Two", 3));
        let key = EntityKey::new("t!u!s!", "r").unwrap();
        let row = TableEntity::new("t!u!s!", "r").unwrap().with("N", 1);
        let untyped = store.store.untyped("Three").unwrap();
        untyped.insert(&row).await.unwrap();
        assert!(untyped.get(&key).await.unwrap().is_some());
        let error = untyped.insert(&TableEntity::new("t", "r").unwrap()).await.unwrap_err();
        assert_eq!(error.rule(), Some("HPK-36"), "{error}");
        let within = KeyRange { partition_key: TextRange::prefix("t!"), row_key: TextRange::ALL };
        let plan = store.store.explain(&three, &Query::new(within)).await.unwrap();
        assert_eq!(plan.text, "SELECT * FROM c WHERE c.l1 = @p0");
        // Configured levels are still compared with the container's levels.
        let error = store.store.get(&two, &key, &table_core::query::Select::All).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("HPK-43")), "{error}");
    });
}

#[test]
fn hpk_31_and_hpk_32_a_table_is_created_with_its_levels() {
    runtime().block_on(async {
        let store = store(1, Options::new().levels("Events", 3).throughput(400)).await;
        let table = TableName::new("Events").unwrap();
        store.store.create_table(&table).await.unwrap();
        assert!(!store.store.partitions(&table).await.unwrap().partitions().is_empty());
        store.store.table::<Event>().insert(&event("t", "u", "s", 1)).await.unwrap();
        // A table name matches its container regardless of case (TBL-2).
        let other = TableName::new("EVENTS").unwrap();
        let query = Query::new(KeyRange { partition_key: TextRange::prefix("t!"), row_key: TextRange::ALL });
        assert_eq!(store.store.query(&other, &query, None).await.unwrap().rows.len(), 1);
    });
}

#[test]
fn lim_5_wire_5_a_key_that_would_address_another_item_is_not_sent() {
    runtime().block_on(async {
        let store = store(1, Options::new().levels("Three", 3)).await;
        let three = store.create("Three", 3);
        let one = store.create("One", 1);
        let rows = |partition: &str, row: &str| {
            use table_core::{IfMatch, Operation, OperationKind, PartitionKey, RowKey, Transaction};
            let limits = store.capabilities().limits;
            let mut transaction = Transaction::new(PartitionKey::new(partition).unwrap(), limits).unwrap();
            let kind = OperationKind::Delete(IfMatch::Any);
            transaction.push(Operation { row_key: RowKey::new(row).unwrap(), kind }).unwrap();
            transaction
        };
        // The container is already open, so the write itself is the only request that could be sent.
        for table in [&one, &three] {
            store.query(table, &Query::new(KeyRange::ALL), None).await.unwrap();
        }
        let _ = store.emulator.sent();
        for row in ["..", ".", "a "] {
            let error = store.submit(&one, rows("p", row)).await.unwrap_err();
            assert_eq!((error.code(), error.rule()), (ErrorCode::OutOfRangeInput, Some("LIM-5")), "{row}");
            let key = EntityKey::new("p", row).unwrap();
            assert_eq!(store.get(&one, &key, &table_core::query::Select::All).await.unwrap(), None);
        }
        // A prefix of the levels is not a complete key: no entity has such a key, and none can be inserted with it (WIRE-5, HPK-36).
        assert!(store.submit(&three, rows("a!b!", "r")).await.unwrap_err().is_not_found());
        let mut transaction = table_core::Transaction::new(
            table_core::PartitionKey::new("a!b!").unwrap(),
            store.capabilities().limits,
        )
        .unwrap();
        let kind = table_core::OperationKind::Insert(RowWriter::new().finish());
        transaction
            .push(table_core::Operation { row_key: table_core::RowKey::new("r").unwrap(), kind })
            .unwrap();
        assert_eq!(store.submit(&three, transaction).await.unwrap_err().rule(), Some("HPK-36"));
        assert_eq!(store.emulator.sent(), []);
    });
}

#[test]
fn rust_6_a_scan_of_more_partitions_than_allowed_is_refused_with_the_reason() {
    runtime().block_on(async {
        let store = store(64, Options::new().fan_out(10)).await;
        let table = store.create("Many", 1);
        let error = store.query(&table, &Query::new(KeyRange::ALL), None).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Unsupported, "{error}");
        assert!(error.to_string().contains("Options::fan_out"), "{error}");
        let explain = store.store.explain(&table, &Query::new(KeyRange::ALL)).await.unwrap();
        assert_eq!((explain.class, explain.route.partitions()), (RouteClass::FanOut, 64));
    });
}

#[test]
fn dq_12_and_hpk_43_a_table_with_levels_is_copied_to_a_container_and_back() {
    runtime().block_on(async {
        let (engine, home) = (Engine::in_memory(), Engine::in_memory());
        let name = TableName::new("Events").unwrap();
        let events = engine.table::<Event>().create_if_missing().await.unwrap();
        for number in 0..250 {
            let tenant = format!("t{}", number % 7);
            events.insert(&event(&tenant, &format!("u{}", number % 5), "s", number)).await.unwrap();
        }
        let store = store(16, Options::new().levels_of::<Event>()).await;
        store.create("Events", 3);

        // The copy is interrupted after a page, and resumed from the stored checkpoint.
        let begin = || Migration::new(&engine, &store.store, name.clone()).page(100);
        let mut copy = begin();
        assert!(copy.step().await.unwrap());
        let stored = copy.position().to_string();
        let mut copy = begin().resume(stored.parse().unwrap()).unwrap();
        while copy.step().await.unwrap() {}
        let (there, here) = copy.checksums().await.unwrap();
        assert_eq!((there, there.rows()), (here, 250));

        let begin = || Migration::new(&store.store, &home, name.clone()).page(60);
        let mut back = begin();
        assert!(back.step().await.unwrap());
        let stored = back.position().to_string();
        let mut back = begin().resume(stored.parse().unwrap()).unwrap();
        while back.step().await.unwrap() {}
        let (from, to) = back.checksums().await.unwrap();
        assert_eq!((from, to.rows()), (to, 250));
        assert_eq!(from, here);
    });
}

#[test]
fn a_container_with_another_throughput_is_used_with_a_warning() {
    runtime().block_on(async {
        let emulator = Emulator::new(false).unwrap();
        let table = TableName::new("Events").unwrap();
        emulator.create(&table, 3, 1, Some(4_000)).unwrap();
        for (asked, differs) in [(None, false), (Some(4_000), false), (Some(400), true)] {
            let options = Options::new().levels_of::<Event>();
            let options = asked.map_or(options.clone(), |units| options.throughput(units));
            let store = emulator.open(options).await.unwrap();
            store.table::<Event>().insert_or_replace(&event("t", "u", "s", 1)).await.unwrap();
            let expected =
                Difference::Throughput { asked: Throughput::Manual(400), found: Throughput::Manual(4_000) };
            let found = store.differences(&table).await.unwrap();
            // The container has the service's default indexing policy, because another program created it.
            let indexing = Difference::Indexing { path: "/o/?".to_owned(), indexed: true };
            assert_eq!(found, if differs { vec![indexing, expected] } else { vec![indexing] });
            assert!(found[0].to_string().contains("exclude it"), "{}", found[0]);
            if let [_, difference] = found.as_slice() {
                assert!(difference.to_string().contains("4000 request units"), "{difference}");
            }
        }
    });
}
