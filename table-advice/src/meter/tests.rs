//! Tests of the meter: query classes, totals, fan-outs and recordings.

use proptest::prelude::*;
use table_core::query::{KeyRange, Query, QueryClass, TextRange};
use table_core::{Engine, Entity, TableName, TableStore, TableStoreExt};

use super::{Counts, Meter};

#[derive(Entity, Clone)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    age: i32,
}

fn employee(department: &str, id: u32) -> Employee {
    Employee { department: department.to_owned(), id, age: 20 + i32::try_from(id % 40).unwrap() }
}

/// Inserts ten employees into each of three departments. Then resets the counts.
async fn prepared(meter: &Meter<Engine>) -> table_core::Table<Employee, Meter<Engine>> {
    let table = meter.table::<Employee>().create_if_missing().await.unwrap();
    for department in ["Legal", "Sales", "Staff"] {
        for id in 0..10 {
            table.insert(&employee(department, id)).await.unwrap();
        }
    }
    meter.take();
    let _ = meter.take_recorded();
    table
}

#[test]
fn cls_1_each_request_is_counted_under_its_class() {
    pollster::block_on(async {
        let meter = Meter::new(Engine::in_memory());
        let table = prepared(&meter).await;
        table.get(Employee::key("Sales", 3)).await.unwrap();
        table.get(Employee::key("Sales", 300)).await.unwrap();
        table.query(Employee::rows("Sales").id(2..=4)).collect().await.unwrap();
        table.query(Employee::partition("Sales")).filter(Employee::AGE.ge(25)).collect().await.unwrap();
        table.scan("a count").max_rows(100).for_each(|_| {}).await.unwrap();
        let reading = meter.take();
        insta::assert_snapshot!(reading, @r"
        requests 5, points 2, ranges 1, partition scans 1, table scans 1, rows read 44, rows returned 39, bytes returned 1716
          Employee: requests 5, points 2, ranges 1, partition scans 1, table scans 1, rows read 44, rows returned 39, bytes returned 1716
        ");
        assert_eq!(reading.of_partition("Employee", "Sales").requests, 4);
        assert_eq!(reading.of_partition("Employee", "Legal"), Counts::default());
        assert_eq!(meter.take().requests, 0);
    });
}

#[test]
fn names_of_a_table_in_any_case_are_counted_together() {
    pollster::block_on(async {
        let meter = Meter::new(Engine::in_memory());
        let table = prepared(&meter).await;
        table.get(Employee::key("Sales", 3)).await.unwrap();
        let key = table_core::EntityKey::new("Sales", "000003").unwrap();
        assert!(meter.untyped("EMPLOYEE").unwrap().get(&key).await.unwrap().is_some());
        let reading = meter.take();
        let tables: Vec<_> = reading.tables().map(|(name, counts)| (name, counts.points)).collect();
        assert_eq!(tables, [("Employee", 2)]);
        assert_eq!(reading.of_table("employee").points, 2);
        assert_eq!(reading.of_partition("EmPloyee", "Sales").points, 2);
    });
}

/// Tests that a transaction is counted as one request, and each operation in it as one operation (SCL-2).
#[test]
fn egt_9_a_transaction_is_one_request_of_many_operations() {
    pollster::block_on(async {
        let meter = Meter::new(Engine::in_memory());
        let table = prepared(&meter).await;
        let mut sales = table.transaction(Employee::partition("Sales")).unwrap();
        for id in 100..120 {
            sales.insert(&employee("Sales", id)).unwrap();
        }
        sales.commit().await.unwrap();
        let reading = meter.take();
        assert_eq!((reading.requests, reading.transactions, reading.operations), (1, 1, 20));
        // The size of 20 entities according to SIZE-2. The two keys of an entity have 11 characters in total, and the only property is `Age`, an Int32.
        let bytes = 20 * (4 + 2 * 11 + 8 + 2 * 3 + 4);
        assert_eq!(reading.bytes_written, bytes, "department and id are keys alone");
    });
}

#[test]
fn a_failed_request_is_a_request() {
    pollster::block_on(async {
        let meter = Meter::new(Engine::in_memory());
        let table = prepared(&meter).await;
        assert!(table.insert(&employee("Sales", 1)).await.is_err());
        assert_eq!((meter.reading().requests, meter.take().transactions), (1, 1));
    });
}

fn of_partition(key: &str) -> Query {
    Query::new(KeyRange::rows(key, TextRange::prefix("0")))
}

#[test]
fn further_pages_and_fan_outs_are_counted_once() {
    pollster::block_on(async {
        let meter = Meter::recording(Engine::in_memory());
        prepared(&meter).await;
        let name = TableName::new("Employee").unwrap();
        let first = Query { top: Some(6), ..of_partition("Legal") };
        let page = meter.query(&name, &first, None).await.unwrap();
        for key in ["Sales", "Staff"] {
            let query = Query { top: Some(6), ..of_partition(key) };
            meter.query(&name, &query, None).await.unwrap();
        }
        meter.query(&name, &first, page.continuation.as_ref()).await.unwrap();
        let reading = meter.reading();
        assert_eq!((reading.fan_outs, reading.ranges, reading.further_pages), (1, 4, 1));

        // Another query on the first partition starts a second fan-out. A different query on a later partition is not part of that fan-out.
        for key in ["Legal", "Sales"] {
            meter.query(&name, &of_partition(key), None).await.unwrap();
        }
        let other = Query { top: Some(1), ..of_partition("Staff") };
        meter.query(&name, &other, None).await.unwrap();
        assert_eq!(meter.take().fan_outs, 2);

        let recorded = meter.take_recorded();
        let of_legal: Vec<_> = recorded
            .iter()
            .filter(|call| call.partition_key.as_deref() == Some("Legal"))
            .map(|call| (call.class, call.further_page, call.entities))
            .collect();
        let range = Some(QueryClass::Range);
        assert_eq!(of_legal, [(range, false, 6), (range, true, 4), (range, false, 10)]);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Tests that the counts of all tables add up to the total, and that the counts of all partitions do too.
    #[test]
    fn counts_of_tables_and_partitions_add_up_to_the_total(ids in prop::collection::vec((0_usize..3, 0_u32..20), 0..20)) {
        pollster::block_on(async {
            let meter = Meter::new(Engine::in_memory());
            let table = prepared(&meter).await;
            for (department, id) in &ids {
                table.get(Employee::key(["Legal", "Sales", "Staff"][*department], *id)).await.unwrap();
            }
            let reading = meter.take();
            let (mut tables, mut partitions) = (Counts::default(), Counts::default());
            reading.tables().for_each(|(_, counts)| tables += *counts);
            reading.partitions().for_each(|(_, counts)| partitions += *counts);
            assert_eq!((*reading, tables), (partitions, *reading));
            assert_eq!(reading.requests, ids.len() as u64);
            assert_eq!(reading.rows_returned, ids.iter().filter(|(_, id)| *id < 10).count() as u64);
        });
    }
}
