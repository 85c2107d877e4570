//! Tests that generic code accepts both kinds of handle: `Table` and `Entities`.

mod bulk;
mod participants;
mod slow_reads;

use pollster::block_on;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::limits::{Limits, TransactionMeasure};
use table_core::operation::{Operation, OperationKind};
use table_core::row::RowWriter;
use table_core::table::Repository;
use table_core::{Engine, Entity, ErrorCode, IfMatch, Result, TableStoreExt, ValueRef};

use crate::EntityStore;
use crate::entities::{Batch, Contribution, EntityPlan};
use crate::tests::faults::sendable;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(4)]
    id: u32,
    age: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("temp_", id)]
#[index(ByAge, row_key("tempage_", age, "_", id))]
struct Temp {
    department: String,
    #[digits(4)]
    id: u32,
    #[digits(3)]
    age: u8,
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, age: 36 }
}

/// Calls every read and write method of a handle.
async fn run(staff: impl Repository<Employee>) -> Result<Vec<Employee>> {
    let key = |id| Employee::key("Sales", id);
    let etag = staff.insert(&employee(1)).await?;
    assert_eq!(staff.insert(&employee(1)).await.unwrap_err().code(), ErrorCode::EntityAlreadyExists);
    staff.replace(&Employee { age: 37, ..employee(1) }, etag.into()).await?;
    let read = staff.get(key(1)).await?.expect("inserted above");
    assert_eq!(staff.update(read, |employee| employee.age += 1).await?.age, 38);
    assert_eq!(staff.update(key(1), |employee| employee.age += 1).await?.age, 39);
    staff.insert_or_replace(&employee(2)).await?;
    staff.bulk().insert_all([employee(3), employee(4)]).await.map_err(|error| error.source)?;
    staff.delete(key(2), IfMatch::Any).await?;
    staff.query(Employee::rows("Sales")).collect().await
}

/// Inserts an entity through any handle for its type.
async fn insert<E: Entity + Send + Sync>(staff: &impl Repository<E>, entity: &E) -> Result<()> {
    staff.insert(entity).await.map(drop)
}

#[test]
fn generic_code_works_with_a_table_and_with_a_handle() {
    let expected = [Employee { age: 39, ..employee(1) }, employee(3), employee(4)];
    let engine = || Engine::in_memory();
    let table = block_on(engine().table::<Employee>().create_if_missing()).unwrap();
    assert_eq!(block_on(sendable(run(table))).unwrap(), expected);
    let entities = block_on(engine().entities::<Employee>().create_if_missing()).unwrap();
    assert_eq!(block_on(sendable(run(entities))).unwrap(), expected);

    let temps = block_on(engine().entities::<Temp>().create_if_missing()).unwrap();
    block_on(insert(&temps, &Temp { department: "Sales".into(), id: 7, age: 20 })).unwrap();
    assert_eq!(block_on(temps.query(Temp::by_age("Sales", 20)).collect()).unwrap().len(), 1);
}

/// Returns a plan that inserts a row with a string property of the given length.
fn insert_of(row_key: &str, length: usize) -> EntityPlan {
    let (partition_key, row_key) = (PartitionKey::new("Sales").unwrap(), RowKey::new(row_key).unwrap());
    let mut row = RowWriter::new();
    row.property("Text", ValueRef::String(&"a".repeat(length)));
    EntityPlan::alone(EntityKey { partition_key, row_key }, OperationKind::Insert(row.finish()))
}

#[test]
fn egt_3_a_refused_write_does_not_count_towards_the_size_of_its_transaction() {
    for measure in
        [TransactionMeasure::Entities, TransactionMeasure::Body { per_operation: 100, ascii: false }]
    {
        let mut limits = Limits::PORTABLE;
        (limits.transaction_bytes, limits.measure) = (4_000, measure);
        let mut batch = Batch::new(PartitionKey::new("Sales").unwrap());
        for (row_key, length, is_accepted) in [
            ("1", 100, true),
            ("2", 9_000, false),
            ("3", 100, true),
            ("4", 9_000, false),
            ("5", 100, true),
            ("6", 9_000, false),
        ] {
            let pushed = batch.push_within(insert_of(row_key, length), Some(&limits));
            assert_eq!(pushed.is_ok(), is_accepted, "{measure:?}, write {row_key}");
            assert!(pushed.is_ok() || pushed.unwrap_err().code() == ErrorCode::RequestBodyTooLarge);
        }
        assert_eq!(batch.entities().len(), 3);
    }
}

#[test]
fn the_last_replace_of_a_participants_row_remains_and_a_refused_one_changes_nothing() {
    let written_by = |row_key: &str, participant, length| {
        let OperationKind::Insert(row) = insert_of(row_key, length).kind else { unreachable!() };
        let (latest, mut out) = (RowKey::new("latest").unwrap(), Contribution::default());
        out.write(participant, Operation { row_key: latest, kind: OperationKind::InsertOrReplace(row) });
        let EntityPlan { key, kind, .. } = insert_of(row_key, 10);
        out.into_plan(key, kind)
    };
    let mut limits = Limits::PORTABLE;
    limits.transaction_bytes = 4_000;
    let mut batch = Batch::new(PartitionKey::new("Sales").unwrap());
    batch.push_within(written_by("1", "latest", 100), Some(&limits)).unwrap();
    let latest = RowKey::new("latest").unwrap();
    let (bytes, kind) = (batch.bytes(), batch.kind_of(&latest).cloned());
    for (participant, length, code) in
        [("latest", 9_000, ErrorCode::RequestBodyTooLarge), ("other", 50, ErrorCode::InvalidDuplicateRow)]
    {
        let refused = batch.push_within(written_by("2", participant, length), Some(&limits)).unwrap_err();
        assert_eq!(refused.code(), code);
        assert_eq!(batch.bytes(), bytes);
        assert_eq!(batch.kind_of(&latest), kind.as_ref());
    }
    batch.push_within(written_by("3", "latest", 50), Some(&limits)).unwrap();
    let mut alone = Batch::of(insert_of("1", 10)).unwrap();
    alone.push(written_by("3", "latest", 50)).unwrap();
    assert_eq!((batch.bytes(), batch.operations()), (alone.bytes(), 3));
    assert_eq!(batch.entity_of(&latest), Some(1));

    // It is an error if one entity writes the same row twice.
    let mut twice = written_by("4", "other", 10);
    twice.rows.extend(twice.rows.clone());
    let refused = Batch::of(twice).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidDuplicateRow);
}
