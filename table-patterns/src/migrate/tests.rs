use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::key::{EntityKey, RowKey};
use table_core::query::EntityRef;
use table_core::query::Select;
use table_core::queue::QueueName;
use table_core::row::RowWriter;
use table_core::transaction::Transaction;
use table_core::{
    Continuation, Entity, ErrorCode, FromEntity, IfMatch, Selection, TableEntity, Value, ValueRef,
};
use uuid::Uuid;

use super::*;
use crate::EntityStore;
use crate::outbox::{Intent, Outbox, Step};
use crate::sequence::GaplessSequence;
use crate::tests::faults::{Call, Fault, FaultyStore, sendable};
use crate::unit::UnitOfWork;
use crate::work::{Sweep, Worker};

type Rows = BTreeMap<(String, String), BTreeMap<String, Value>>;

fn table() -> TableName {
    TableName::new("Airports").unwrap()
}

fn bag(key: &(String, String), properties: &BTreeMap<String, Value>) -> TableEntity {
    let bag = TableEntity::new(&key.0, &key.1).unwrap();
    properties.iter().fold(bag, |bag, (name, value)| bag.with(name, value.clone()))
}

/// Creates a store with a table that contains `rows`.
fn holding(rows: &Rows) -> FaultyStore<Engine> {
    let store = FaultyStore::new(Engine::in_memory());
    block_on(store.create_table(&table())).unwrap();
    let put = |(key, properties): (&(String, String), &BTreeMap<String, Value>)| {
        let row = bag(key, properties).to_row().unwrap();
        Copied::of(EntityRef::new(&key.0, &key.1, row.view())).unwrap()
    };
    let write = Table::<Copied, _>::new(store.clone(), table());
    block_on(write.bulk().insert_all(rows.iter().map(put))).unwrap();
    store.heal();
    store
}

/// Returns the rows of a table as debug text, in which NaN equals itself.
fn held(store: &FaultyStore<Engine>, name: &str) -> Vec<String> {
    let query = Query::new(KeyRange::ALL);
    let page = block_on(store.query(&TableName::new(name).unwrap(), &query, None)).unwrap();
    assert_eq!(page.continuation, None);
    let text = |entity: EntityRef<'_>| {
        let bag = TableEntity::from_entity(entity).unwrap();
        let properties: BTreeMap<_, _> = bag.iter().collect();
        format!("{} {properties:?}", bag.key())
    };
    page.rows.iter().map(text).collect()
}

fn expected(rows: &Rows) -> Vec<String> {
    held(&holding(rows), "Airports")
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-zé€😀:]{0,3}".prop_map(Value::from),
        any::<i32>().prop_map(Value::Int32),
        any::<i64>().prop_map(Value::Int64),
        any::<f64>().prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
        any::<u128>().prop_map(|bits| Value::Guid(Uuid::from_u128(bits))),
        prop::collection::vec(any::<u8>(), 0..4).prop_map(Value::Binary),
        (0..4_000_000_000_i64)
            .prop_map(|second| Value::DateTime(chrono::DateTime::from_timestamp(second, 700).unwrap())),
    ]
}

fn rows(most: usize) -> impl Strategy<Value = Rows> {
    let properties = prop::collection::btree_map("[A-C]", value(), 0..3);
    prop::collection::btree_map(("[ab€]{0,2}", "[a😀\u{FFFC}\u{FFEE}]{0,3}"), properties, 0..most)
}

/// Copies the table like a program that stores the position after each step. Stops at the first error.
fn copy(source: &FaultyStore<Engine>, target: &FaultyStore<Engine>, stored: &mut String) -> Result<()> {
    let mut copy = Migration::new(source, target, table()).page(2).resume(stored.parse()?)?;
    loop {
        let more = block_on(sendable(copy.step()))?;
        *stored = copy.position().to_string();
        if !more {
            return Ok(());
        }
    }
}

fn start() -> String {
    "Airports:0:start".to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn con_11_a_copy_survives_an_interruption_at_any_request_of_either_store(rows in rows(9)) {
        let source = holding(&rows);
        let whole = FaultyStore::new(Engine::in_memory());
        let mut stored = start();
        copy(&source, &whole, &mut stored).unwrap();
        let (reads, writes) = (source.calls().len(), whole.calls().len());
        prop_assert_eq!(&stored, &format!("Airports:{}:end", rows.len()));
        prop_assert_eq!(held(&whole, "Airports"), expected(&rows));
        for number in 0..reads + writes {
            for lost in [false, true] {
                let (source, target) = (holding(&rows), FaultyStore::new(Engine::in_memory()));
                let (faulty, at) = if number < reads { (&source, number) } else { (&target, number - reads) };
                faulty.script(move |_, now| match now == at {
                    true if lost => Fault::After(ErrorCode::OperationTimedOut),
                    true => Fault::Before(ErrorCode::ServerBusy),
                    false => Fault::None,
                });
                let mut stored = start();
                prop_assert!(copy(&source, &target, &mut stored).is_err(), "request {} is one", number);
                source.heal();
                target.heal();
                copy(&source, &target, &mut stored).unwrap();
                prop_assert_eq!(held(&target, "Airports"), expected(&rows));
                prop_assert_eq!(&stored, &format!("Airports:{}:end", rows.len()), "each row is counted once");
                let again = Migration::new(&source, &target, table());
                let (from, to) = block_on(sendable(again.checksums())).unwrap();
                prop_assert_eq!(from, to);
            }
        }
    }

    /// Tests rows that the source cannot represent. The copy lacks them, counts each of them once, and differs from the source until they are mended.
    #[test]
    fn a_copy_counts_the_rows_that_its_source_omits(
        rows in rows(9),
        strange in prop::collection::btree_set(0..9_usize, 0..4),
        fail in prop::option::of(0..12_usize),
    ) {
        let (source, target) = (holding(&rows), FaultyStore::new(Engine::in_memory()));
        let omitted: BTreeSet<_> = rows.keys().enumerate().filter(|(at, _)| strange.contains(at)).map(|(_, key)| key.clone()).collect();
        let bad = omitted.clone();
        source.misread(("A", ErrorCode::EntityMismatch), move |_, key| {
            bad.contains(&(key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned()))
        });
        if let Some(fail) = fail {
            source.fail_at(fail);
        }
        let mut stored = start();
        if copy(&source, &target, &mut stored).is_err() {
            source.script(|_, _| Fault::None);
            copy(&source, &target, &mut stored).unwrap();
        }
        let position: MigrationPosition = stored.parse().unwrap();
        prop_assert_eq!(position.to_string(), stored);
        let count = |count: usize| u64::try_from(count).unwrap();
        let (copied, lacking) = (count(rows.len() - omitted.len()), count(omitted.len()));
        prop_assert_eq!((position.rows(), position.skipped()), (copied, lacking));
        source.script(|_, _| Fault::None);
        let (from, to) = block_on(Migration::new(&source, &target, table()).checksums()).unwrap();
        prop_assert_eq!((from.rows(), from.skipped(), to.rows(), to.skipped()), (copied, lacking, copied, 0));
        prop_assert_eq!(from == to, omitted.is_empty());
        prop_assert_eq!(from.to_string().contains("omitted"), !omitted.is_empty());
        source.heal();
        copy(&source, &target, &mut start()).unwrap();
        prop_assert_eq!(held(&target, "Airports"), expected(&rows));
    }

    #[test]
    fn a_checksum_ignores_order_and_differs_for_other_rows(
        left in rows(5),
        right in rows(5),
        backwards in any::<bool>(),
    ) {
        let sum = |rows: &Rows, backwards: bool, timestamp: u64| {
            let mut checksum = Checksum::default();
            let mut entries: Vec<_> = rows.iter().collect();
            if backwards {
                entries.reverse();
            }
            for (key, properties) in entries {
                let mut writer = RowWriter::new();
                let mut properties: Vec<_> = properties.iter().collect();
                if backwards {
                    properties.reverse();
                }
                for (name, value) in properties {
                    writer.property(name, value.as_ref());
                }
                let row = writer.finish().with_timestamp(timestamp);
                checksum.add(EntityRef::new(&key.0, &key.1, row.view())).unwrap();
            }
            checksum
        };
        prop_assert_eq!(sum(&left, false, 1), sum(&left, backwards, 2));
        let same = format!("{left:?}") == format!("{right:?}");
        prop_assert_eq!(sum(&left, false, 1) == sum(&right, false, 1), same);
    }
}

fn some_rows(count: u8) -> Rows {
    let row = |number: u8| {
        let properties = BTreeMap::from([("Number".to_owned(), Value::from(i32::from(number)))]);
        (("p".to_owned(), format!("{number:03}")), properties)
    };
    (0..count).map(row).collect()
}

#[test]
fn one_change_of_one_row_changes_the_checksum() {
    let store = holding(&some_rows(3));
    let table_of_rows = store.untyped("Airports").unwrap();
    let sum = || block_on(Checksum::of(&store, &table())).unwrap().to_string();
    let mut seen = BTreeSet::from([sum()]);
    let row = || TableEntity::new("p", "001").unwrap();
    for changed in [
        row(),
        row().with("Number", 1_i64),
        row().with("Number", 2),
        row().with("Numbers", 1),
        row().with("Number", 1).with("Other", ""),
    ] {
        block_on(table_of_rows.replace(&changed, IfMatch::Any)).unwrap();
        assert!(seen.insert(sum()), "{changed:?}");
    }
    block_on(table_of_rows.delete(Selection::point("p", "001"), IfMatch::Any)).unwrap();
    assert!(seen.insert(sum()));
    block_on(table_of_rows.insert(&row().with("Number", 1))).unwrap();
    assert!(!seen.insert(sum()), "as it was, with another Timestamp");
}

#[test]
fn dq_12_a_copy_reads_each_page_once_and_writes_a_hundred_rows_at_once() {
    let (source, target) = (holding(&some_rows(250)), FaultyStore::new(Engine::in_memory()));
    let mut copy = Migration::new(&source, &target, table());
    assert!(!block_on(copy.step()).unwrap());
    assert_eq!(source.calls(), [Call::Query]);
    assert_eq!(target.calls(), [Call::Create, Call::Submit, Call::Submit, Call::Submit]);
    // After the end, no request is sent.
    assert!(!block_on(copy.step()).unwrap());
    assert_eq!((source.calls().len(), copy.position().rows(), copy.position().is_end()), (1, 250, true));
}

#[test]
fn target_rows_stay_and_those_with_the_same_key_are_replaced() {
    let (source, target) = (holding(&some_rows(2)), holding(&Rows::new()));
    let old = target.untyped("Airports").unwrap();
    block_on(old.insert(&TableEntity::new("p", "001").unwrap().with("Old", true))).unwrap();
    block_on(old.insert(&TableEntity::new("q", "1").unwrap())).unwrap();
    copy(&source, &target, &mut start()).unwrap();
    let mut rows = some_rows(2);
    rows.insert(("q".to_owned(), "1".to_owned()), BTreeMap::new());
    assert_eq!(held(&target, "Airports"), expected(&rows));
    let (from, to) = block_on(Migration::new(&source, &target, table()).checksums()).unwrap();
    assert_eq!((from.rows(), to.rows()), (2, 3));
}

#[test]
fn a_table_is_copied_within_a_store_under_another_name() {
    let store = holding(&some_rows(5));
    let other = TableName::new("Copy").unwrap();
    let mut copy = Migration::new(&store, &store, table()).into_table(other).page(0).concurrency(0);
    let mut steps = 1;
    while block_on(copy.step()).unwrap() {
        steps += 1;
    }
    assert_eq!((steps, held(&store, "Copy")), (5, held(&store, "Airports")));
}

#[test]
fn page_9_a_position_in_another_table_is_refused() {
    let store = holding(&some_rows(1));
    for text in ["Other:3:end", "Other:0:start"] {
        let refused = Migration::new(&store, &store, table()).resume(text.parse().unwrap()).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidInput);
    }
    // The position is in this table, but its token is from another query.
    let query = Query::new(KeyRange::partition("p"));
    let position = table_core::query::Position { partition_key: "p".to_owned(), row_key: None };
    let token = Continuation::new(&table(), &query, position);
    let position = format!("Airports:1:{token}").parse().unwrap();
    let mut copy = Migration::new(&store, &store, table()).resume(position).unwrap();
    assert_eq!(block_on(copy.step()).unwrap_err().rule(), Some("PAGE-9"));
    for text in
        ["", "Airports", "Airports:1", "Airports:x:end", "Airports:1:", "Airports:1:nothing", "1:1:end"]
    {
        assert!(text.parse::<MigrationPosition>().is_err(), "{text}");
    }
}

#[test]
fn opt_6_a_missing_table_is_an_error() {
    let (source, target) = (FaultyStore::new(Engine::in_memory()), FaultyStore::new(Engine::in_memory()));
    assert!(copy(&source, &target, &mut start()).unwrap_err().is_table_not_found());
}

#[test]
fn pat_ec_8_a_copied_outbox_knows_which_change_was_later() {
    let (home, away) = (Engine::in_memory(), Engine::in_memory());
    let (company, directory) = (TableName::new("Company").unwrap(), TableName::new("Directory").unwrap());
    for table in [&company, &directory] {
        block_on(home.create_table(table)).unwrap();
    }
    let queue = QueueName::new("work").unwrap();
    // The outbox key is the same in both stores.
    let outbox =
        Outbox::new(home.clone(), home.clone(), queue.clone()).sealed_by(["a key that is long enough"]);
    let at = |source: u32| EntityKey::new("email", source.to_string()).unwrap();
    let age = |age: i32| {
        let mut writer = RowWriter::new();
        writer.property("Age", ValueRef::Int32(age));
        writer.finish()
    };
    // Each entity is changed twice. The keys of the two records are random, so about half of the pairs are in reverse
    // order.
    for source in 0..20 {
        for change in [36, 37] {
            let mut transaction =
                Transaction::new(PartitionKey::new("Sales").unwrap(), home.capabilities().limits).unwrap();
            let step = Step::insert_or_replace(directory.clone(), at(source), age(change));
            let intent = Intent::of(RowKey::new(source.to_string()).unwrap()).step(step);
            outbox.record(&mut transaction, &intent).unwrap();
            let transaction = block_on(outbox.seal(&company, transaction)).unwrap();
            block_on(home.submit(&company, transaction)).unwrap();
        }
    }
    for table in [&company, &directory] {
        let mut copy = Migration::new(&home, &away, table.clone());
        while block_on(copy.step()).unwrap() {}
        let (source, target) = block_on(copy.checksums()).unwrap();
        assert_eq!(source, target);
    }
    let outbox = Outbox::new(away.clone(), away.clone(), queue).sealed_by(["a key that is long enough"]);
    block_on(outbox.create_queues()).unwrap();
    // No message was sent, so a sweep must find the partition, which the copy has registered.
    let sweep = Sweep::new(outbox.clone()).min_age(Duration::ZERO);
    assert_eq!(block_on(sweep.sweep_registered()).unwrap().pending, 40);
    block_on(Worker::new(outbox).run_until_idle()).unwrap();
    for source in 0..20 {
        let found = block_on(away.get(&directory, &at(source), &Select::All)).unwrap().unwrap();
        assert_eq!(found.row.view().find("Age", &mut 0).unwrap(), Some(ValueRef::Int32(37)), "{source}");
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed)]
#[partition_key(tenant)]
#[row_key("call_", number)]
struct Phone {
    tenant: String,
    #[digits(6)]
    number: u32,
}

/// Issues the next number of a sequence, for a new ticket.
fn issue(store: &Engine) -> u64 {
    let tickets = block_on(store.entities::<Ticket>().create_if_missing()).unwrap();
    let insert = |number, unit: &mut UnitOfWork<_, _>| {
        unit.insert(&Ticket { tenant: "contoso".into(), number }).map(drop)
    };
    let number: u32 = block_on(
        GaplessSequence::new(&tickets, "ticket").unwrap().next(Ticket::partition("contoso"), insert),
    )
    .unwrap();
    number.into()
}

/// Inserts a phone call, which adds an entry to a feed.
fn record(store: &Engine, number: u32) {
    let calls = block_on(store.entities::<Phone>().create_if_missing()).unwrap();
    block_on(calls.insert(&Phone { tenant: "contoso".into(), number })).unwrap();
}

#[test]
fn a_second_copy_sets_neither_a_sequence_nor_a_feed_of_the_target_back() {
    let desk = TableName::new("Desk").unwrap();
    let copy = |home: &Engine, away: &Engine| {
        let mut copy = Migration::new(home, away, desk.clone()).page(1);
        while block_on(sendable(copy.step()))? {}
        Ok::<_, Error>(())
    };
    for is_feed in [false, true] {
        let (home, away) = (Engine::in_memory(), Engine::in_memory());
        let mut number = 0;
        let mut write = |store: &Engine| {
            number += 1;
            if is_feed {
                record(store, number);
            } else {
                issue(store);
            }
        };
        write(&home);
        copy(&home, &away).unwrap();
        // The copy is repeated, first unchanged, and then with later numbers.
        copy(&home, &away).unwrap();
        write(&home);
        copy(&home, &away).unwrap();
        write(&away);
        let refused = copy(&home, &away).unwrap_err();
        assert_eq!((refused.code(), refused.table()), (ErrorCode::InvalidInput, Some("Desk")), "{refused}");
        if !is_feed {
            assert_eq!(issue(&away), 4);
        }
        // A target that does not contain the table is not considered to be in use.
        block_on(away.delete_table(&desk)).unwrap();
        copy(&home, &away).unwrap();
    }
}
