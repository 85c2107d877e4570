//! Tests of lost responses. The client detects that a write was applied, or returns an ambiguous error because the outcome is unknown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use azure_data_cosmos_driver::fault_injection::{
    FaultInjectionConditionBuilder, FaultInjectionErrorType, FaultInjectionResult,
    FaultInjectionResultBuilder, FaultInjectionRule, FaultInjectionRuleBuilder, FaultOperationType,
};
use table_core::query::{KeyRange, Query, Select};
use table_core::row::{Row, RowWriter};
use table_core::{
    EntityKey, ErrorCode, IfMatch, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore,
    Transaction, ValueRef,
};
use table_cosmos::emulator::{Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Options};

use crate::runtime;

const OPERATIONS: [FaultOperationType; 5] = [
    FaultOperationType::CreateItem,
    FaultOperationType::UpsertItem,
    FaultOperationType::ReplaceItem,
    FaultOperationType::DeleteItem,
    FaultOperationType::BatchItem,
];

/// Returns a rule that injects a fault into one kind of request, up to `most` times. The rule is initially disabled.
pub(crate) fn rule(
    on: FaultOperationType,
    fault: FaultInjectionResult,
    most: u32,
) -> Arc<FaultInjectionRule> {
    let condition = FaultInjectionConditionBuilder::new().with_operation_type(on).build();
    let rule =
        FaultInjectionRuleBuilder::new(on.as_str(), fault).with_condition(condition).with_hit_limit(most);
    let rule = Arc::new(rule.build());
    rule.disable();
    rule
}

struct World {
    /// The store whose responses are lost.
    lossy: CosmosTables,
    /// A second store, which receives all responses and reads the stored state.
    sees: CosmosTables,
    table: TableName,
    rules: Vec<Arc<FaultInjectionRule>>,
}

async fn world(fault: FaultInjectionErrorType, most: u32) -> World {
    let emulator = Emulator::new(false).unwrap();
    let table = TableName::new("Accounts").unwrap();
    emulator.create(&table, 1, 4, None).unwrap();
    let fault = || FaultInjectionResultBuilder::new().with_error(fault).build();
    let rules: Vec<_> = OPERATIONS.into_iter().map(|on| rule(on, fault(), most)).collect();
    let lossy = emulator.open_with_faults(Options::new(), rules.clone()).await.unwrap();
    let sees = emulator.open(Options::new()).await.unwrap();
    // This query opens the table, so only the subsequent writes lose their responses.
    lossy.query(&table, &Query::new(KeyRange::partition("ada")), None).await.unwrap();
    World { lossy, sees, table, rules }
}

impl World {
    async fn value(&self, row: &str) -> Option<i32> {
        let key = EntityKey::new("ada", row).unwrap();
        let found = self.sees.get(&self.table, &key, &Select::All).await.unwrap()?;
        match found.row.view().find("Cents", &mut 0).unwrap() {
            Some(ValueRef::Int32(cents)) => Some(cents),
            other => panic!("{other:?}"),
        }
    }

    async fn put(&self, row: &str, cents: i32) {
        let write = transaction(&self.sees, [(row, OperationKind::InsertOrReplace(cents_of(cents)))]);
        self.sees.submit(&self.table, write).await.unwrap();
    }
}

fn cents_of(cents: i32) -> Row {
    let mut row = RowWriter::new();
    row.property("Cents", ValueRef::Int32(cents));
    row.finish()
}

fn transaction<const N: usize>(
    store: &impl TableStore,
    operations: [(&str, OperationKind); N],
) -> Transaction {
    let limits = store.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("ada").unwrap(), limits).unwrap();
    for (row, kind) in operations {
        transaction.push(Operation { row_key: RowKey::new(row).unwrap(), kind }).unwrap();
    }
    transaction
}

/// Returns every kind of write, each with its RowKey and with the stored value before and after it.
fn writes() -> Vec<(&'static str, Option<i32>, OperationKind, Option<i32>)> {
    let row = || cents_of(2);
    vec![
        ("insert", None, OperationKind::Insert(row()), Some(2)),
        ("upsert", Some(1), OperationKind::InsertOrReplace(row()), Some(2)),
        ("upsert_new", None, OperationKind::InsertOrReplace(row()), Some(2)),
        ("replace", Some(1), OperationKind::Replace(row(), IfMatch::Any), Some(2)),
        ("merge", Some(1), OperationKind::Merge(row(), IfMatch::Any), Some(2)),
        ("merge_new", None, OperationKind::InsertOrMerge(row()), Some(2)),
        ("merge_old", Some(1), OperationKind::InsertOrMerge(row()), Some(2)),
        ("delete", Some(1), OperationKind::Delete(IfMatch::Any), None),
    ]
}

#[test]
fn con_11_a_write_with_a_lost_response_is_applied_once_even_if_ambiguous() {
    runtime().block_on(async {
        for lost in [1, u32::MAX] {
            let world = world(FaultInjectionErrorType::ResponseTimeoutAfterService, lost).await;
            for (row, before, kind, after) in writes() {
                if let Some(cents) = before {
                    world.put(row, cents).await;
                }
                world.rules.iter().for_each(|rule| rule.enable());
                let is_delete = matches!(kind, OperationKind::Delete(_));
                let answer = world.lossy.submit(&world.table, transaction(&world.lossy, [(row, kind)])).await;
                world.rules.iter().for_each(|rule| rule.disable());
                match answer {
                    Ok(etags) => {
                        let key = EntityKey::new("ada", row).unwrap();
                        let stored = world.sees.get(&world.table, &key, &Select::All).await.unwrap();
                        assert_eq!(etags, [stored.map(|stored| stored.etag)], "{row}");
                    }
                    // Unlike all other writes, a delete leaves no evidence of its writer.
                    Err(error) => assert!(error.is_ambiguous() && is_delete, "{row}, {lost} lost: {error}"),
                }
                assert_eq!(world.value(row).await, after, "{row}: it was done, whatever the answer");
            }
        }
    });
}

#[test]
fn con_11_a_batch_with_a_lost_response_is_acknowledged_with_its_etags() {
    runtime().block_on(async {
        for lost in [1, u32::MAX] {
            let world = world(FaultInjectionErrorType::ResponseTimeoutAfterService, lost).await;
            world.put("b", 1).await;
            world.put("c", 1).await;
            world.rules.iter().for_each(|rule| rule.enable());
            let batch = transaction(
                &world.lossy,
                [
                    ("a", OperationKind::Insert(cents_of(2))),
                    ("b", OperationKind::Merge(cents_of(2), IfMatch::Any)),
                    ("c", OperationKind::Delete(IfMatch::Any)),
                ],
            );
            let etags = world.lossy.submit(&world.table, batch).await.unwrap();
            assert!(etags[0].is_some() && etags[1].is_some() && etags[2].is_none());
            assert_eq!(
                (world.value("a").await, world.value("b").await, world.value("c").await),
                (Some(2), Some(2), None)
            );
        }
    });
}

#[test]
fn con_11_another_writers_entity_is_never_mistaken_for_the_own_write() {
    runtime().block_on(async {
        // The request is lost before it arrives, and another program inserts the same entity. The insert must fail or be ambiguous, but never
        // succeed.
        let world = world(FaultInjectionErrorType::ResponseTimeout, u32::MAX).await;
        world.put("a", 1).await;
        world.rules.iter().for_each(|rule| rule.enable());
        let insert = transaction(&world.lossy, [("a", OperationKind::Insert(cents_of(2)))]);
        let error = world.lossy.submit(&world.table, insert).await.unwrap_err();
        assert!(error.is_ambiguous() || error.code() == ErrorCode::EntityAlreadyExists, "{error}");
        assert_eq!(world.value("a").await, Some(1));
    });
}

#[test]
fn con_11_an_unsent_request_is_retried_or_ambiguous_and_done_at_most_once() {
    runtime().block_on(async {
        let world = world(FaultInjectionErrorType::ConnectionError, 1).await;
        for (row, before, kind, after) in writes() {
            if let Some(cents) = before {
                world.put(row, cents).await;
            }
            world.rules.iter().for_each(|rule| rule.enable());
            let answer = world.lossy.submit(&world.table, transaction(&world.lossy, [(row, kind)])).await;
            world.rules.iter().for_each(|rule| rule.disable());
            let now = world.value(row).await;
            match answer {
                Ok(_) => assert_eq!(now, after, "{row}"),
                Err(error) => assert!(error.is_ambiguous() || now == before, "{row}: {error}"),
            }
        }
    });
}

/// A mock network that panics after the account has received a change. The panic ends the request's task.
#[derive(Debug)]
struct Stopping(Emulator, AtomicBool);

impl Network for Stopping {
    fn deliver(&self, request: Request) -> Delivery {
        let (account, stops) = (self.0.clone(), self.1.load(Ordering::SeqCst));
        Box::pin(async move {
            let answer = account.receive(&request).await;
            assert!(!stops, "the task stops");
            answer
        })
    }
}

#[test]
fn con_11_a_change_whose_task_ends_early_is_ambiguous() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let table = TableName::new("Accounts").unwrap();
        let network = Arc::new(Stopping(account.clone(), false.into()));
        let store = account.open_over(Options::new(), network.clone()).await.unwrap();
        store.create_table(&table).await.unwrap();
        let key = EntityKey::new("ada", "a").unwrap();
        assert_eq!(store.get(&table, &key, &Select::All).await.unwrap(), None);
        network.1.store(true, Ordering::SeqCst);
        let insert = transaction(&store, [("a", OperationKind::Insert(cents_of(1)))]);
        assert!(store.submit(&table, insert).await.unwrap_err().is_ambiguous());
        assert!(!store.get(&table, &key, &Select::All).await.unwrap_err().is_ambiguous());
        let other = TableName::new("Others").unwrap();
        assert!(store.create_table(&other).await.unwrap_err().is_ambiguous());
        assert!(store.delete_table(&table).await.unwrap_err().is_ambiguous());
    });
}
