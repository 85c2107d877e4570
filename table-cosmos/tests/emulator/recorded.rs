//! Tests with documented service responses that the emulator never sends or sends in a different form. `docs/cosmos.md` lists the sources.
//!
//! The client, its retries and its errors are real; only the response is injected by a rule.

use azure_core::http::StatusCode;
use azure_data_cosmos_driver::fault_injection::{
    CustomResponseBuilder, FaultInjectionErrorType, FaultInjectionResult, FaultInjectionResultBuilder,
    FaultOperationType,
};
use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::row::RowWriter;
use table_core::{
    EntityKey, Error, ErrorCode, IfMatch, Operation, OperationKind, PartitionKey, RowKey, TableName,
    TableStore, Transaction,
};
use table_cosmos::emulator::Emulator;
use table_cosmos::{CosmosTables, Options};

use crate::doubts::rule;
use crate::runtime;

const EVENTS: &str = "Events";

/// Opens a store with a table of two levels, and injects a response to requests of one kind.
async fn answering(
    on: FaultOperationType,
    answer: FaultInjectionResult,
    options: Options,
) -> (CosmosTables, TableName) {
    let emulator = Emulator::new(false).unwrap();
    let table = TableName::new(EVENTS).unwrap();
    emulator.create(&table, 2, 1, None).unwrap();
    let rule = rule(on, answer, u32::MAX);
    let store = emulator.open_with_faults(options, vec![rule.clone()]).await.unwrap();
    store.submit(&table, write(&store, "there", OperationKind::InsertOrReplace)).await.unwrap();
    rule.enable();
    (store, table)
}

pub(crate) fn custom(status: StatusCode, sub_status: u16, body: &str) -> FaultInjectionResult {
    let answer = CustomResponseBuilder::new(status).with_sub_status(sub_status).with_body(body).build();
    FaultInjectionResultBuilder::new().with_custom_response(answer).build()
}

fn write(
    store: &impl TableStore,
    row: &str,
    kind: impl FnOnce(table_core::Row) -> OperationKind,
) -> Transaction {
    let limits = store.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("contoso!ada!").unwrap(), limits).unwrap();
    let kind = kind(RowWriter::new().finish());
    transaction.push(Operation { row_key: RowKey::new(row).unwrap(), kind }).unwrap();
    transaction
}

fn key(row: &str) -> EntityKey {
    EntityKey::new("contoso!ada!", row).unwrap()
}

fn two_levels() -> Options {
    Options::new().levels(EVENTS, 2)
}

/// Tests the response in "Troubleshoot Azure Cosmos DB forbidden exceptions": writes to a partition key of 20 GB return 403 with sub-status 1014.
#[test]
fn hpk_17_a_key_at_its_size_limit_is_reported_with_a_remedy() {
    runtime().block_on(async {
        let full = custom(
            StatusCode::Forbidden,
            1014,
            r#"{"code":"Forbidden","message":"Partition key reached maximum size of 20 GB"}"#,
        );
        let (store, table) = answering(FaultOperationType::CreateItem, full, two_levels()).await;
        let error = store.submit(&table, write(&store, "new", OperationKind::Insert)).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
        assert!(!error.is_ambiguous() && error.to_string().contains("add a level"), "{error}");
    });
}

/// Tests the response in "Troubleshoot bad request exceptions in Azure Cosmos DB": if the key in the header differs from the item's key, the service returns
/// 400 with sub-status 1001. So does a point read with a prefix, for which the emulator returns 404. This client never sends either request, and never
/// interprets a 400 as a missing item.
#[test]
fn wire_5_a_mismatched_key_is_an_error_and_never_a_missing_item() {
    runtime().block_on(async {
        let mismatch = || {
            custom(StatusCode::BadRequest, 1001, r#"{"code":"BadRequest","message":"PartitionKey mismatch"}"#)
        };
        let (store, table) = answering(FaultOperationType::ReadItem, mismatch(), two_levels()).await;
        let error = store.get(&table, &key("there"), &Select::All).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
        assert!(
            error.to_string().contains("400/1001") && error.key() == Some(("contoso!ada!", "there")),
            "{error}"
        );
        let (store, table) = answering(FaultOperationType::CreateItem, mismatch(), two_levels()).await;
        let error = store.submit(&table, write(&store, "new", OperationKind::Insert)).await.unwrap_err();
        assert!(error.code() == ErrorCode::InvalidInput && !error.is_ambiguous(), "{error}");
    });
}

/// Tests the response in "Troubleshoot Azure Cosmos DB not found exceptions": 404 with sub-status 1002 means that a replica has not caught up with the
/// session, and not that the item is missing.
#[test]
fn con_2_a_lagging_replica_is_an_error_and_never_a_missing_item() {
    runtime().block_on(async {
        let behind = FaultInjectionResultBuilder::new()
            .with_error(FaultInjectionErrorType::ReadSessionNotAvailable)
            .build();
        let (store, table) = answering(FaultOperationType::ReadItem, behind, two_levels()).await;
        let error = store.get(&table, &key("there"), &Select::All).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ServerBusy, "{error}");
        assert!(!error.is_not_found(), "{error}");
        // An insert-or-merge reads the entity first, and must not insert an entity that already exists.
        let merge = write(&store, "there", OperationKind::InsertOrMerge);
        assert_eq!(store.submit(&table, merge).await.unwrap_err().code(), ErrorCode::ServerBusy);
    });
}

/// Tests the response in "Azure Cosmos DB status codes": 449 means that the write was not applied because of a concurrent write to the same item.
#[test]
fn con_3_a_write_that_met_a_concurrent_one_is_not_ambiguous() {
    runtime().block_on(async {
        let met = FaultInjectionResultBuilder::new().with_error(FaultInjectionErrorType::RetryWith).build();
        let (store, table) = answering(FaultOperationType::ReplaceItem, met, two_levels()).await;
        let replace = write(&store, "there", |row| OperationKind::Replace(row, IfMatch::Any));
        let error = store.submit(&table, replace).await.unwrap_err();
        assert!(error.code() == ErrorCode::ServerBusy && !error.is_ambiguous(), "{error}");
    });
}

/// Returns the response to a rolled-back batch: a 207 with the status of the cause in one part, and 424 in the other.
pub(crate) fn rolled_back(status: u16, sub_status: u16) -> FaultInjectionResult {
    let cause =
        format!(r#"{{"statusCode":{status},"substatusCode":{sub_status},"retryAfterMilliseconds":1}}"#);
    let answer = CustomResponseBuilder::new(StatusCode::MultiStatus)
        .with_header("x-ms-activity-id", "00000000-0000-0000-0000-000000000001")
        .with_body(format!(r#"[{{"statusCode":424}},{cause}]"#));
    FaultInjectionResultBuilder::new().with_custom_response(answer.build()).build()
}

/// Tests that a status in one part of a batch response is treated like the same status of a whole response.
#[test]
fn con_3_con_11_and_map_12_a_part_of_a_batch_is_treated_like_a_whole_response() {
    runtime().block_on(async {
        for (status, sub) in
            [(429, 3200), (449, 0), (410, 1007), (408, 0), (500, 0), (503, 0), (403, 1014), (403, 0)]
        {
            for (is_guarded, most) in [(true, 2), (true, u32::MAX), (false, 2)] {
                let emulator = Emulator::new(false).unwrap();
                let table = TableName::new(EVENTS).unwrap();
                emulator.create(&table, 2, 1, None).unwrap();
                let rule = rule(FaultOperationType::BatchItem, rolled_back(status, sub), most);
                let short = table_core::runtime::Backoff {
                    initial: std::time::Duration::from_millis(1),
                    max: std::time::Duration::from_millis(1),
                };
                let options = two_levels().retry_during_splits(4, short);
                let store = emulator.open_with_faults(options, vec![rule.clone()]).await.unwrap();
                store.submit(&table, write(&store, "there", OperationKind::InsertOrReplace)).await.unwrap();
                rule.enable();
                let limits = store.capabilities().limits;
                let row = || RowWriter::new().finish();
                let change = if is_guarded {
                    OperationKind::Replace(row(), IfMatch::Any)
                } else {
                    OperationKind::Insert(row())
                };
                let mut batch = Transaction::new(PartitionKey::new("contoso!ada!").unwrap(), limits).unwrap();
                let second = if is_guarded { "there" } else { "second" };
                for (row_key, kind) in [("first", OperationKind::Insert(row())), (second, change)] {
                    batch.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
                }
                let answer = store.submit(&table, batch).await;
                let case = format!("{status}/{sub}, guarded {is_guarded}, {most} times: {answer:?}");
                let (is_busy, is_refused) = (matches!(status, 410 | 429 | 449), status == 403);
                match answer {
                    Ok(_) => assert!(most == 2 && (is_busy || is_guarded && !is_refused), "{case}"),
                    Err(error) if is_busy => {
                        let is_told = error.code() == ErrorCode::ServerBusy && !error.is_ambiguous();
                        assert!(most > 2 && is_told, "{case}");
                    }
                    Err(error) if is_refused => {
                        let code =
                            if sub == 1014 { ErrorCode::DiskFull } else { ErrorCode::AuthorizationFailure };
                        assert!(error.code() == code && error.operation() == Some(1), "{case}");
                    }
                    Err(error) => assert!(error.is_ambiguous() && (most > 2 || !is_guarded), "{case}"),
                }
                assert!(is_refused == (rule.hit_count() == 1) || !is_guarded, "{case}");
            }
        }
    });
}

/// Tests the response in "Hierarchical partition keys": after a 410 with sub-status 1002, the client resolves the partition again. The emulator returns this
/// response only during a split.
#[test]
fn map_12_a_partition_that_stays_gone_is_reported_as_such() {
    runtime().block_on(async {
        let gone =
            FaultInjectionResultBuilder::new().with_error(FaultInjectionErrorType::PartitionIsGone).build();
        let short = table_core::runtime::Backoff {
            initial: std::time::Duration::from_millis(1),
            max: std::time::Duration::from_millis(1),
        };
        let options = two_levels().retry_during_splits(2, short);
        let (store, table) = answering(FaultOperationType::QueryItem, gone, options).await;
        let query = Query::new(KeyRange::partition("contoso!ada!"));
        let error = store.query(&table, &query, None).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ServerBusy, "{error}");
    });
}

/// Tests that a prefix query fails if its response contains a row of another tenant. Some clients have returned such rows.
#[test]
fn rt_5_and_rt_6_a_row_of_another_tenant_is_an_error_and_never_returned() {
    runtime().block_on(async {
        let item =
            r#"{"id":"there","l1":"fabrikam","l2":"ada","p":{},"o":"x","_etag":"\"1\"","_ts":1700000000}"#;
        let refused = |error: Error| {
            assert_eq!((error.code(), error.rule()), (ErrorCode::InternalError, Some("RT-5")), "{error}");
        };
        let page = custom(StatusCode::Ok, 0, &format!(r#"{{"_rid":"r","Documents":[{item}],"_count":1}}"#));
        let (store, table) = answering(FaultOperationType::QueryItem, page, two_levels()).await;
        let prefix = KeyRange { partition_key: TextRange::prefix("contoso!"), row_key: TextRange::ALL };
        for keys in [KeyRange::partition("contoso!ada!"), prefix] {
            refused(store.query(&table, &Query::new(keys), None).await.unwrap_err());
        }
        let one = custom(StatusCode::Ok, 0, item);
        let (store, table) = answering(FaultOperationType::ReadItem, one, two_levels()).await;
        refused(store.get(&table, &key("there"), &Select::All).await.unwrap_err());
        // A merge reads the entity first, and must not copy the properties of another tenant's row.
        let merge = write(&store, "there", |row| OperationKind::Merge(row, IfMatch::Any));
        refused(store.submit(&table, merge).await.unwrap_err());
    });
}

/// Opens a container with `levels` levels, after modifying its properties in the emulator's response. The emulator itself does not store a time to live, and
/// cannot create a container with version 1 of the hash.
async fn opening(levels: usize, partition_key: &str, more: Option<i32>) -> Error {
    let emulator = Emulator::new(false).unwrap();
    let table = TableName::new(EVENTS).unwrap();
    emulator.create(&table, levels, 1, None).unwrap();
    let mut described: serde_json::Value =
        serde_json::from_str(&emulator.described(&table).await.unwrap()).unwrap();
    described["partitionKey"] = serde_json::from_str(partition_key).unwrap();
    if let Some(seconds) = more {
        described["defaultTtl"] = seconds.into();
    }
    let answer = custom(StatusCode::Ok, 0, &described.to_string());
    let rule = rule(FaultOperationType::MetadataReadContainer, answer, u32::MAX);
    let options = Options::new().levels(EVENTS, levels);
    let store = emulator.open_with_faults(options, vec![rule.clone()]).await.unwrap();
    rule.enable();
    store.get(&table, &key("there"), &Select::All).await.unwrap_err()
}

/// Tests that a container is rejected if its items may expire. With a `defaultTtl` of -1, only items with their own time to live expire.
#[test]
fn hpk_43_a_container_with_expiring_items_or_other_paths_is_refused() {
    runtime().block_on(async {
        let levels = r#"{"paths":["/l1","/l2"],"kind":"MultiHash","version":2}"#;
        let turned = r#"{"paths":["/l2","/l1"],"kind":"MultiHash","version":2}"#;
        for (partition_key, more, what) in
            [(levels, Some(3600), "expire"), (levels, Some(-1), "expire"), (turned, None, "/l2, /l1")]
        {
            let error = opening(2, partition_key, more).await;
            let refusal = (ErrorCode::SchemaMismatch, Some("HPK-43"));
            assert_eq!((error.code(), error.rule()), refusal, "{partition_key}: {error}");
            assert!(error.to_string().contains(what) && error.table() == Some(EVENTS), "{error}");
        }
    });
}

/// Tests that a container with version 1 of the hash is rejected. Such a container was created before May 2019, or by a client that did not request a version.
/// A missing version means version 1 (WIRE-7).
#[test]
fn epk_9_and_wire_7_a_container_of_another_hash_is_refused() {
    runtime().block_on(async {
        for (levels, partition_key) in [
            (1, r#"{"paths":["/l1"],"kind":"Hash","version":1}"#),
            (1, r#"{"paths":["/l1"],"kind":"Hash"}"#),
            (1, r#"{"paths":["/l1"],"kind":"MultiHash","version":2}"#),
            (2, r#"{"paths":["/l1","/l2"],"kind":"Hash","version":2}"#),
            // If the version is missing, the client assumes the kind `Hash` and version 1, regardless of the specified kind.
            (2, r#"{"paths":["/l1","/l2"],"kind":"MultiHash"}"#),
        ] {
            let error = opening(levels, partition_key, None).await;
            let refusal = (ErrorCode::SchemaMismatch, Some("EPK-9"));
            assert_eq!((error.code(), error.rule()), refusal, "{partition_key}: {error}");
            assert!(error.to_string().contains("V2 is required"), "{error}");
        }
        // The client itself fails to parse this definition.
        let error = opening(2, r#"{"paths":["/l1","/l2"],"kind":"MultiHash","version":1}"#, None).await;
        assert!(!error.is_not_found(), "{error}");
    });
}
