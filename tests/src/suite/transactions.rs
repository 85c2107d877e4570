//! Test scenarios for entity group transactions (EGT rules).

use table_core::limits::Limits;
use table_core::operation::RowState;
use table_core::query::KeyRange;
use table_core::{
    ETag, ErrorCode, IfMatch, Operation, OperationKind, PartitionKey, Query, RowKey, TableStore, Transaction,
    Value,
};

use super::scene::{Scene, a, is_a, refused, row, row_keys, stale};

fn key(number: usize) -> String {
    format!("{number:03}")
}

fn upserts(keys: &[String]) -> Vec<(&str, OperationKind)> {
    keys.iter().map(|key| (key.as_str(), OperationKind::InsertOrReplace(a(1)))).collect()
}

/// Returns a transaction built without checking the store's limits.
fn unchecked(operations: Vec<(String, OperationKind)>) -> Transaction {
    let partition_key = PartitionKey::new("p").unwrap();
    let mut transaction = Transaction::new(partition_key, Limits::UNLIMITED).unwrap();
    for (row_key, kind) in operations {
        transaction.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
    }
    transaction
}

pub async fn egt_1_and_6_all_six_kinds_in_one_transaction<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill([("p", "delete"), ("p", "merge"), ("p", "merge-or"), ("p", "replace"), ("q", "other")]).await;
    let b = || row([("B", 2.into())]);
    let operations = vec![
        ("insert", OperationKind::Insert(b())),
        ("replace", OperationKind::Replace(b(), IfMatch::Any)),
        ("merge", OperationKind::Merge(b(), IfMatch::Any)),
        ("replace-or", OperationKind::InsertOrReplace(b())),
        ("merge-or", OperationKind::InsertOrMerge(b())),
        ("delete", OperationKind::Delete(IfMatch::Any)),
    ];
    scene.submit("p", operations).await.unwrap();
    let keys = scene.keys(&Query::new(KeyRange::partition("p"))).await;
    assert_eq!(row_keys(&keys), ["insert", "merge", "merge-or", "replace", "replace-or"]);
    assert_eq!(scene.properties("p", "merge").await.len(), 2);
    assert_eq!(scene.properties("p", "merge-or").await.len(), 2);
    assert_eq!(scene.properties("p", "replace").await.len(), 1);
    assert_eq!(scene.properties("q", "other").await, is_a(1));
}

pub async fn egt_2_a_hundred_operations_are_accepted_and_one_more_is_not<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let keys: Vec<String> = (0..101).map(key).collect();
    refused(scene.submit("p", upserts(&keys)).await, ErrorCode::InvalidInput);
    assert!(scene.keys(&Query::new(KeyRange::ALL)).await.is_empty());
    assert_eq!(scene.submit("p", upserts(&keys[..100])).await.unwrap().len(), 100);
    assert_eq!(scene.keys(&Query::new(KeyRange::ALL)).await.len(), 100);
}

pub async fn egt_2_the_store_refuses_a_transaction_built_with_other_limits<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let many = (0..101).map(|number| (key(number), OperationKind::InsertOrReplace(a(1)))).collect();
    refused(store.submit(&scene.table, unchecked(many)).await, ErrorCode::InvalidInput);
    let large = vec![(key(0), OperationKind::Insert(a("x".repeat(32_769))))];
    refused(store.submit(&scene.table, unchecked(large)).await, ErrorCode::PropertyValueTooLarge);
    let long = vec![("k".repeat(513), OperationKind::Insert(a(1)))];
    refused(store.submit(&scene.table, unchecked(long)).await, ErrorCode::PropertyValueTooLarge);
    assert!(scene.keys(&Query::new(KeyRange::ALL)).await.is_empty());
}

pub async fn egt_3_a_transaction_has_at_most_four_mebibytes<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let blob = vec![7_u8; 65_000];
    let names: Vec<String> = (0..15).map(|number| format!("P{number}")).collect();
    let large = || {
        let mut writer = table_core::row::RowWriter::new();
        for name in &names {
            writer.property(name, table_core::ValueRef::Binary(&blob));
        }
        writer.finish()
    };
    // Each entity has 975,000 bytes. Four of them fit into a transaction.
    let keys: Vec<String> = (0..5).map(key).collect();
    let all = || keys.iter().map(|key| (key.as_str(), OperationKind::Insert(large())));
    refused(scene.submit("p", all().collect()).await, ErrorCode::RequestBodyTooLarge);
    assert_eq!(scene.read("p", &keys[0]).await, None);
    scene.submit("p", all().take(4).collect()).await.unwrap();
    assert_eq!(scene.properties("p", &keys[3]).await.get("P14"), Some(&Value::Binary(blob.clone())));
}

pub async fn egt_4_an_entity_occurs_once<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let operations = vec![
        ("1", OperationKind::Insert(a(1))),
        ("2", OperationKind::Insert(a(2))),
        ("1", OperationKind::Delete(IfMatch::Any)),
    ];
    let error = refused(scene.submit("p", operations).await, ErrorCode::InvalidDuplicateRow);
    assert_eq!(error.operation(), Some(2));
    assert_eq!(scene.read("p", "2").await, None);
}

pub async fn egt_9_nothing_is_applied_if_one_operation_fails<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill([("p", "1"), ("p", "2"), ("p", "3")]).await;
    let failing = [
        (OperationKind::Insert(a(9)), ErrorCode::EntityAlreadyExists),
        (OperationKind::Replace(a(9), stale().into()), ErrorCode::UpdateConditionNotSatisfied),
        (OperationKind::Merge(a(9), stale().into()), ErrorCode::UpdateConditionNotSatisfied),
        (OperationKind::Delete(stale().into()), ErrorCode::UpdateConditionNotSatisfied),
    ];
    for (kind, code) in failing {
        let before = [scene.read("p", "1").await, scene.read("p", "2").await, scene.read("p", "3").await];
        let operations = vec![
            ("0", OperationKind::Insert(a(0))),
            ("1", OperationKind::Replace(a(1), IfMatch::Any)),
            ("2", OperationKind::Delete(IfMatch::Any)),
            ("3", kind),
            ("4", OperationKind::InsertOrMerge(a(4))),
        ];
        let error = refused(scene.submit("p", operations).await, code);
        assert_eq!(error.operation(), Some(3), "EGT-34, IMP-3");
        let after = [scene.read("p", "1").await, scene.read("p", "2").await, scene.read("p", "3").await];
        assert_eq!(before, after);
        assert_eq!(scene.keys(&Query::new(KeyRange::ALL)).await.len(), 3);
    }
}

pub async fn egt_10_the_first_failing_operation_is_the_one_named<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill([("p", "1")]).await;
    let operations = vec![
        ("0", OperationKind::InsertOrReplace(a(0))),
        ("2", OperationKind::Delete(IfMatch::Any)),
        ("1", OperationKind::Insert(a(1))),
    ];
    let error = refused(scene.submit("p", operations).await, ErrorCode::ResourceNotFound);
    assert_eq!(error.operation(), Some(1));
    assert_eq!(error.key(), Some(("p", "2")));
}

/// Tests that errors in the transaction itself come before errors that depend on stored data, whatever the order of the operations.
///
/// Here, the first operation would fail too, but the store must report the duplicate entity. The error always contains the index of the failed operation.
pub async fn eng_7_structural_errors_come_before_those_of_execution<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill([("p", "1")]).await;
    let operations = vec![
        ("1", OperationKind::Insert(a(1))),
        ("2", OperationKind::InsertOrReplace(a(2))),
        ("2", OperationKind::InsertOrMerge(a(3))),
    ];
    let error = refused(scene.submit("p", operations).await, ErrorCode::InvalidDuplicateRow);
    assert_eq!(error.operation(), Some(2));
    let error = refused(scene.insert("p", "1", a(1)).await, ErrorCode::EntityAlreadyExists);
    assert_eq!(error.operation(), Some(0));
}

pub async fn egt_12_a_transaction_without_operations_is_refused<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    refused(scene.submit("p", Vec::new()).await, ErrorCode::InvalidInput);
}

pub async fn egt_14_all_writes_of_a_transaction_get_an_etag<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let keys: Vec<String> = (0..10).map(key).collect();
    let etags: Vec<ETag> = scene.submit("p", upserts(&keys)).await.unwrap().into_iter().flatten().collect();
    for (key, etag) in keys.iter().zip(&etags) {
        assert_eq!(scene.read("p", key).await.unwrap().etag, *etag);
    }
    let updates =
        keys.iter().zip(etags).map(|(key, etag)| (key.as_str(), OperationKind::Delete(etag.into())));
    scene.submit("p", updates.collect()).await.unwrap();
    assert!(scene.keys(&Query::new(KeyRange::ALL)).await.is_empty());
}

/// Tests that a store either evaluates a check without writing to the row, or rejects the transaction. If the store ignored the check, the condition would be
/// lost.
pub async fn eng_21_a_check_holds_at_the_commit_and_writes_nothing_or_is_refused<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill([("p", "there")]).await;
    let version = scene.read("p", "there").await.unwrap().etag;
    let present = |if_match: IfMatch| OperationKind::Check(RowState::Present(if_match));
    let cases = [
        ("there", RowState::Absent, Some(ErrorCode::EntityAlreadyExists)),
        ("there", RowState::Present(IfMatch::Any), None),
        ("there", RowState::Present(version.clone().into()), None),
        ("there", RowState::Present(stale().into()), Some(ErrorCode::UpdateConditionNotSatisfied)),
        ("not", RowState::Absent, None),
        ("not", RowState::Present(IfMatch::Any), Some(ErrorCode::ResourceNotFound)),
        ("not", RowState::Present(version.clone().into()), Some(ErrorCode::ResourceNotFound)),
    ];
    let has_checks = store.capabilities().checks;
    for (number, (row_key, state, refusal)) in cases.into_iter().enumerate() {
        let new = format!("new{number}");
        let operations =
            vec![(new.as_str(), OperationKind::Insert(a(1))), (row_key, OperationKind::Check(state))];
        let submitted = scene.submit("p", operations).await;
        match refusal.or((!has_checks).then_some(ErrorCode::Unsupported)) {
            None => assert!(matches!(&submitted.unwrap()[..], [Some(_), None])),
            Some(_) if !has_checks => drop(refused(submitted, ErrorCode::Unsupported)),
            Some(code) => {
                let error = refused(submitted, code);
                assert_eq!((error.operation(), error.key()), (Some(1), Some(("p", row_key))));
            }
        }
        assert_eq!(scene.read("p", &new).await.is_some(), has_checks && refusal.is_none());
    }
    let alone = scene.submit("p", vec![("there", present(version.clone().into()))]).await;
    if has_checks {
        assert_eq!(alone.unwrap(), [None]);
        let twice = vec![("there", present(IfMatch::Any)), ("there", OperationKind::Delete(IfMatch::Any))];
        refused(scene.submit("p", twice).await, ErrorCode::InvalidDuplicateRow);
    } else {
        refused(alone, ErrorCode::Unsupported);
    }
    assert_eq!(scene.read("p", "there").await.unwrap().etag, version, "the entity keeps its version");
    assert_eq!(scene.read("p", "not").await, None);
}
