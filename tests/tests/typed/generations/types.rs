//! Tests tables with several entity types. A newer schema for one type blocks only the writes of older programs to this type.

use pollster::block_on;
use table_core::column::Column;
use table_core::embedded::Engine;
use table_core::query::KeyRange;
use table_core::retry::Retry;
use table_core::table::LEASE;
use table_core::{EntitySet, ErrorCode, IfMatch, Result, Selection, Table, TableEntity, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::periods::delete_in_batches;
use tests::faults::Control;
use tests::time::Time;

use super::visitors::{Visitor, VisitorByHost};
use super::{before, refused, table_at};

/// Visitors, as declared by a release without the index.
mod plain {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("visitor_", id)]
    pub(super) struct Visitor {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub host: u32,
    }
}

#[derive(EntitySet, Clone, Debug)]
enum VisitorsLast {
    Employee(before::Employee),
    Visitor(plain::Visitor),
    #[other]
    Other(TableEntity),
}

#[derive(EntitySet, Clone, Debug)]
enum VisitorsFirst {
    Visitor(plain::Visitor),
    Employee(before::Employee),
    #[other]
    Other(TableEntity),
}

fn visitor(id: u32) -> plain::Visitor {
    plain::Visitor { department: "Sales".into(), id, host: 7 }
}

/// A function that adds a write to a transaction for employees.
type Add<'a> = &'a dyn Fn(&mut table_core::table::EntityTransaction<before::Employee, Engine>);

async fn commit(table: &Table<before::Employee, Engine>, add: Add<'_>) -> Result<()> {
    let mut transaction = table.transaction(before::Employee::partition("Sales")).unwrap();
    add(&mut transaction);
    transaction.commit().await.map(drop)
}

macro_rules! refusals_of_set {
    ($set:ident, $time:expr, $store:expr, $begin:expr) => {{
        let retry = table_core::retry::Retry::default().with_runtime($time.runtime());
        let set = table_core::TableStoreExt::set::<$set>(&$store);
        let set = set.with_retry(retry).create_if_missing().await.unwrap();
        $begin.await;
        set.insert_or_merge(&$set::Employee(before::employee(11, "mail"))).await.unwrap();
        let mut employees = set.transaction(&$set::Employee(before::employee(1, "mail"))).unwrap();
        employees.insert(&before::employee(12, "mail")).unwrap();
        employees.commit().await.unwrap();
        let hired = [13, 14].map(|id| $set::Employee(before::employee(id, "mail")));
        set.bulk().insert_all(hired).await.unwrap();
        let mixed = [$set::Employee(before::employee(15, "mail")), $set::Visitor(visitor(15))];
        let key: Selection<_, _> = Selection::new(Ok(vec![KeyRange::point("Sales", "visitor_000001")]));
        let mut visitors = set.transaction(&$set::Employee(before::employee(1, "mail"))).unwrap();
        visitors.insert(&$set::Visitor(visitor(12))).unwrap();
        [
            refused(set.insert(&$set::Visitor(visitor(13))).await),
            refused(set.merge(&$set::Visitor(visitor(1)), IfMatch::Any).await),
            refused(visitors.commit().await),
            refused(set.bulk().insert_all([$set::Visitor(visitor(14))]).await.map_err(|error| error.source)),
            refused(set.bulk().insert_or_merge_all(mixed).await.map_err(|error| error.source)),
            refused(set.patch(key).set(Column::<$set, u32>::new("Host"), 8_u32).send().await),
        ]
    }};
}

#[test]
fn a_transaction_or_a_set_of_an_older_program_writes_only_types_that_no_newer_schema_forbids() {
    for case in 0..3 {
        block_on(async {
            let time = Time::default();
            let store = time.engine();
            let old = table_at::<before::Employee>(&time, &store).create_if_missing().await.unwrap();
            let visitors = table_at::<plain::Visitor>(&time, &store).create_if_missing().await.unwrap();
            visitors.insert(&visitor(1)).await.unwrap();
            let begin = async {
                let new = store.entities::<Visitor>().with_runtime(time.runtime());
                let new = new.create_if_missing().await.unwrap();
                new.backfill::<VisitorByHost>().assume_no_older_programs().run().await.unwrap();
                time.pass(LEASE * 2);
            };
            match case {
                0 => {
                    commit(&old, &|unit| {
                        unit.insert(&visitor(2)).unwrap();
                    })
                    .await
                    .unwrap();
                    begin.await;
                    commit(&old, &|unit| {
                        unit.insert(&before::employee(1, "mail")).unwrap();
                    })
                    .await
                    .unwrap();
                    let adds: [Add<'_>; 4] = [
                        &|unit| {
                            unit.insert(&visitor(3)).unwrap();
                        },
                        &|unit| {
                            unit.merge(&visitor(1), IfMatch::Any).unwrap();
                        },
                        &|unit| {
                            unit.delete(plain::Visitor::key("Sales", 1), IfMatch::Any).unwrap();
                        },
                        &|unit| {
                            unit.insert(&before::employee(2, "mail")).unwrap();
                            unit.insert_or_merge(&visitor(4)).unwrap();
                        },
                    ];
                    for (at, add) in adds.into_iter().enumerate() {
                        assert!(refused(commit(&old, add).await), "transaction {at}");
                    }
                }
                1 => assert_eq!(refusals_of_set!(VisitorsFirst, time, store, begin), [true; 6]),
                _ => assert_eq!(refusals_of_set!(VisitorsLast, time, store, begin), [true; 6]),
            }
            let new = store.entities::<Visitor>().with_runtime(time.runtime());
            assert!(new.create_if_missing().await.unwrap().check().run().await.unwrap().is_clean());
        });
    }
}

#[test]
fn a_batched_delete_of_an_older_program_is_refused_before_each_transaction() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let old = table_at::<plain::Visitor>(&time, &store).create_if_missing().await.unwrap();
        let visitors: Vec<_> = (0..250).map(visitor).collect();
        old.bulk().insert_all(&visitors).await.unwrap();
        let (newer, after) = (store.clone(), time.clone());
        let mut transactions = 0;
        // A newer program completes an index after the first of the transactions.
        let delete = delete_in_batches(&old, plain::Visitor::partition("Sales")).on_progress(|_| {
            transactions += 1;
            block_on(async {
                let new = newer.entities::<Visitor>().with_runtime(after.runtime());
                let new = new.create_if_missing().await.unwrap();
                new.backfill::<VisitorByHost>().assume_no_older_programs().run().await.unwrap();
                after.pass(LEASE * 2);
            });
        });
        let stopped = delete.run().await.unwrap_err();
        assert_eq!((stopped.error.code(), stopped.progress.deleted), (ErrorCode::SchemaMismatch, 100));
        assert_eq!(transactions, 1);
        let new = store.entities::<Visitor>().with_runtime(time.runtime()).create_if_missing().await.unwrap();
        assert!(new.check().run().await.unwrap().is_clean());
    });
}

#[test]
fn a_refused_bulk_write_checks_and_writes_no_further_partition() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let control = Control::default();
        let old = control.over(store.clone()).table::<plain::Visitor>();
        let old =
            old.with_retry(Retry::default().with_runtime(time.runtime())).create_if_missing().await.unwrap();
        old.insert(&visitor(1)).await.unwrap();
        let new = store.entities::<Visitor>().with_runtime(time.runtime()).create_if_missing().await.unwrap();
        new.backfill::<VisitorByHost>().assume_no_older_programs().run().await.unwrap();
        time.pass(LEASE * 2);
        let before = control.calls();
        let visitors = (0..50).map(|n| plain::Visitor { department: format!("{n}"), ..visitor(n) });
        let refusal = old.bulk().concurrency(1).insert_all(visitors).await.unwrap_err();
        assert_eq!((refusal.source.code(), refusal.written.len()), (ErrorCode::SchemaMismatch, 0));
        let sent = control.calls() - before;
        assert!(sent < 5, "{sent} requests");
    });
}
