//! Tests of containers created by other programs with a unique key policy. The service rejects a repeated value with the same status as a repeated key.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use table_core::query::{KeyRange, Query, Select};
use table_core::row::{Row, RowWriter};
use table_core::{
    ETag, Entity, EntityKey, Error, ErrorCode, IfMatch, OperationKind, TableName, TableStore, ValueRef,
};
use table_cosmos::emulator::{Broken, Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Difference, Format, Mapping, Options};
use table_patterns::EntityStore;

use crate::operation::transaction;
use crate::runtime;

const HISTORIES: u64 = 8;
const STEPS: usize = 40;
const ROW_KEYS: [&str; 4] = ["a", "b", "c", "d"];
/// The values of the unique property. The service counts an absent property as a value.
const VALUES: [Option<&str>; 4] = [None, Some("x"), Some("y"), Some("z")];

/// Creates a container as another program would, with one level and the given unique keys.
async fn created(account: &Emulator, level: &str, keys: &[&[&str]]) -> TableName {
    let table = TableName::new("Things").unwrap();
    let keys: Vec<_> = keys.iter().map(|paths| json!({"paths": paths})).collect();
    let description = json!({
        "id": table.as_str(),
        "partitionKey": {"paths": [level], "kind": "Hash", "version": 2},
        "uniqueKeyPolicy": {"uniqueKeys": keys},
    });
    let target = "/dbs/tables/colls";
    let answer = account.exchange("POST", target, [], description.to_string().into_bytes()).await.unwrap();
    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
    table
}

/// Returns the options for the standard format and for a mapping, each with the level and the path of the property `Text`.
fn formats() -> [(Options, &'static str, &'static str); 3] {
    let mapping = Mapping::new(["/owner"]).property("Text", "/contact/text", Format::Text);
    let mapped = Options::new().mapping("Things", mapping).unwrap();
    [
        (Options::new(), "/l1", "/p/Text"),
        (Options::new().at_most_once_writes(false), "/l1", "/p/Text"),
        (mapped, "/owner", "/contact/text"),
    ]
}

fn row(text: Option<&str>, number: i32) -> Row {
    let mut row = RowWriter::new();
    if let Some(text) = text {
        row.property("Text", ValueRef::String(text));
    }
    row.property("Number", ValueRef::Int32(number));
    row.finish()
}

type Model = BTreeMap<&'static str, (Option<&'static str>, i32)>;

/// Applies operations to the model. Returns the code and the index of the first operation that the service would reject.
fn apply(
    model: &mut Model,
    operations: &[(&'static str, Change, Option<&'static str>, i32)],
) -> Result<(), (ErrorCode, usize)> {
    let mut after = model.clone();
    for (at, (row_key, change, text, number)) in operations.iter().enumerate() {
        let stored = after.get(row_key).copied();
        let text = match change {
            Change::Insert if stored.is_some() => return Err((ErrorCode::EntityAlreadyExists, at)),
            Change::Replace | Change::ReplaceVersion | Change::Merge | Change::Delete if stored.is_none() => {
                return Err((ErrorCode::ResourceNotFound, at));
            }
            Change::Delete => {
                after.remove(row_key);
                continue;
            }
            Change::Merge | Change::InsertOrMerge => text.or(stored.and_then(|(text, _)| text)),
            _ => *text,
        };
        if after.iter().any(|(other, (taken, _))| other != row_key && *taken == text) {
            return Err((ErrorCode::UniqueViolation, at));
        }
        after.insert(row_key, (text, *number));
    }
    *model = after;
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Insert,
    InsertOrReplace,
    InsertOrMerge,
    Replace,
    ReplaceVersion,
    Merge,
    Delete,
}

const CHANGES: [Change; 7] = [
    Change::Insert,
    Change::InsertOrReplace,
    Change::InsertOrMerge,
    Change::Replace,
    Change::ReplaceVersion,
    Change::Merge,
    Change::Delete,
];

impl Change {
    fn kind(self, row: Row, version: Option<ETag>) -> OperationKind {
        match self {
            Self::Insert => OperationKind::Insert(row),
            Self::InsertOrReplace => OperationKind::InsertOrReplace(row),
            Self::InsertOrMerge => OperationKind::InsertOrMerge(row),
            Self::Replace => OperationKind::Replace(row, IfMatch::Any),
            Self::ReplaceVersion => OperationKind::Replace(row, version.map_or(IfMatch::Any, IfMatch::ETag)),
            Self::Merge => OperationKind::Merge(row, IfMatch::Any),
            Self::Delete => OperationKind::Delete(IfMatch::Any),
        }
    }
}

/// Reads all rows in the container.
async fn stored(store: &CosmosTables, table: &TableName) -> BTreeMap<String, (Option<String>, i32)> {
    let page = store.query(table, &Query::new(KeyRange::partition("p")), None).await.unwrap();
    let entities = page.rows.iter().map(|entity| {
        let text = match entity.row.find("Text", &mut 0).unwrap() {
            Some(ValueRef::String(text)) => Some(text.to_owned()),
            _ => None,
        };
        let Some(ValueRef::Int32(number)) = entity.row.find("Number", &mut 0).unwrap() else {
            panic!("{text:?}")
        };
        (entity.row_key.to_owned(), (text, number))
    });
    entities.collect()
}

async fn version(store: &CosmosTables, table: &TableName, row_key: &str) -> Option<ETag> {
    let key = EntityKey::new("p", row_key).unwrap();
    Some(store.get(table, &key, &Select::All).await.unwrap()?.etag)
}

#[test]
fn lim_16_a_repeated_value_is_never_taken_for_a_repeated_key() {
    for (options, level, path) in formats() {
        for seed in 0..HISTORIES {
            runtime().block_on(async {
                let random = &mut StdRng::seed_from_u64(seed);
                let account = Emulator::new(false).unwrap();
                let table = created(&account, level, &[&[path]]).await;
                let store = account.open(options.clone()).await.unwrap();
                let mut model = Model::new();
                for number in 0..STEPS {
                    let mut row_keys = ROW_KEYS.to_vec();
                    let mut operations = Vec::new();
                    for _ in 0..random.random_range(1..3_u32) {
                        let row_key = row_keys.swap_remove(random.random_range(0..row_keys.len()));
                        let change = CHANGES[random.random_range(0..CHANGES.len())];
                        let text = VALUES[random.random_range(0..VALUES.len())];
                        operations.push((row_key, change, text, i32::try_from(number).unwrap()));
                    }
                    let mut sent = Vec::new();
                    for (row_key, change, text, number) in &operations {
                        let version = version(&store, &table, row_key).await;
                        sent.push(((*row_key).to_owned(), change.kind(row(*text, *number), version)));
                    }
                    let expected = apply(&mut model, &operations);
                    let _ = account.sent();
                    let found = store.submit(&table, transaction(&store, sent)).await;
                    let case = format!("seed {seed}, {path}, {operations:?}: {found:?}");
                    let writes =
                        account.sent().iter().filter(|sent| !sent.is_query && sent.method != "GET").count();
                    // Only a rejected insert is retried.
                    let is_creation = |(_, change, ..): &(_, Change, _, _)| {
                        matches!(change, Change::Insert | Change::InsertOrReplace | Change::InsertOrMerge)
                    };
                    let most = if operations.iter().any(is_creation) { 2 } else { 1 };
                    assert!(writes <= most, "{writes} writes for {case}");
                    let refused = |error: &Error| (error.code(), error.operation().unwrap());
                    assert_eq!(found.as_ref().map(drop).map_err(refused), expected, "{case}");
                    if let Err(error) = found
                        && error.code() == ErrorCode::UniqueViolation
                    {
                        assert!(!error.is_conflict() && !error.is_already_exists() && !error.is_ambiguous());
                        assert!(error.to_string().contains(&format!("`{path}`")), "{error}");
                        let row_key = operations[error.operation().unwrap()].0;
                        assert_eq!(
                            (error.rule(), error.key()),
                            (Some("LIM-16"), Some(("p", row_key))),
                            "{error}"
                        );
                    }
                    let expected: BTreeMap<String, (Option<String>, i32)> = model
                        .iter()
                        .map(|(key, (text, number))| ((*key).to_owned(), (text.map(str::to_owned), *number)))
                        .collect();
                    assert_eq!(stored(&store, &table).await, expected, "{case}");
                }
            });
        }
    }
}

/// A mock network that rejects the next insert of an item as if its key existed. The key does not exist, as if another writer had deleted the item in the
/// meantime.
struct Deleted {
    account: Emulator,
    is_armed: AtomicBool,
}

impl Network for Deleted {
    fn deliver(&self, request: Request) -> Delivery {
        let account = self.account.clone();
        let is_creation = request.is_write() && request.method == "POST";
        let is_refused = is_creation && self.is_armed.swap(false, Ordering::SeqCst);
        Box::pin(async move {
            if !is_refused {
                return account.receive(&request).await;
            }
            let item = account.receive(&request).await?;
            let mut refused = account.receive(&request).await?;
            assert_eq!((item.status, refused.status), (201, 409));
            let key =
                request.headers.iter().find(|(name, _)| name == "x-ms-documentdb-partitionkey").cloned();
            let deleted =
                account.exchange("DELETE", "/dbs/tables/colls/Things/docs/a", key, Vec::new()).await;
            assert_eq!(deleted.unwrap().status, 204);
            refused.headers.retain(|(name, _)| name != "content-length");
            Ok(refused)
        })
    }
}

impl fmt::Debug for Deleted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Deleted")
    }
}

#[test]
fn lim_16_a_key_that_was_deleted_after_the_refusal_is_not_taken_for_a_repeated_value() {
    runtime().block_on(async {
        for (options, level, path) in formats() {
            let account = Emulator::new(false).unwrap();
            let table = created(&account, level, &[&[path]]).await;
            let network = Arc::new(Deleted { account: account.clone(), is_armed: false.into() });
            let store = account.open_over(options, network.clone()).await.unwrap();
            let insert = |text| [("a".to_owned(), OperationKind::Insert(row(Some(text), 1)))];
            store.submit(&table, transaction(&store, insert("x"))).await.unwrap();
            let delete = [("a".to_owned(), OperationKind::Delete(IfMatch::Any))];
            store.submit(&table, transaction(&store, delete)).await.unwrap();
            network.is_armed.store(true, Ordering::SeqCst);
            store.submit(&table, transaction(&store, insert("y"))).await.unwrap();
            assert_eq!(stored(&store, &table).await["a"].0.as_deref(), Some("y"), "{path}");
        }
    });
}

/// A mock network that loses the response to the next write.
struct Loses {
    account: Emulator,
    is_armed: AtomicBool,
}

impl Network for Loses {
    fn deliver(&self, request: Request) -> Delivery {
        let account = self.account.clone();
        let is_lost = request.is_write() && self.is_armed.swap(false, Ordering::SeqCst);
        Box::pin(async move {
            let answer = account.receive(&request).await;
            if is_lost { Err(Broken::AfterSending) } else { answer }
        })
    }
}

impl fmt::Debug for Loses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Loses")
    }
}

#[test]
fn lim_16_a_repeated_value_is_not_taken_for_a_repeated_key_after_a_lost_response() {
    runtime().block_on(async {
        for (options, level, path) in formats() {
            for change in CHANGES {
                let account = Emulator::new(false).unwrap();
                let table = created(&account, level, &[&[path]]).await;
                let network = Arc::new(Loses { account: account.clone(), is_armed: false.into() });
                let store = account.open_over(options.clone(), network.clone()).await.unwrap();
                let insert = |key: &str, text| [(key.to_owned(), OperationKind::Insert(row(Some(text), 1)))];
                store.submit(&table, transaction(&store, insert("a", "x"))).await.unwrap();
                if !matches!(change, Change::Insert) {
                    store.submit(&table, transaction(&store, insert("b", "y"))).await.unwrap();
                }
                let version = version(&store, &table, "b").await;
                network.is_armed.store(true, Ordering::SeqCst);
                let write = [("b".to_owned(), change.kind(row(Some("x"), 2), version))];
                let outcome = store.submit(&table, transaction(&store, write)).await;
                if matches!(change, Change::Delete) {
                    continue;
                }
                let error = format!("{:?}", outcome.unwrap_err());
                assert!(!error.contains("an entity with this key already exists"), "{change:?}: {error}");
            }
        }
    });
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Things")]
#[partition_key(owner)]
#[row_key("m_", name)]
#[index(ByTown, row_key("t_", town, "_", name))]
struct Member {
    owner: String,
    name: String,
    #[without('_')]
    town: String,
    email: Option<String>,
}

/// Tests a documented limit of patterns. An index row either repeats its entity's unique value or lacks it, and only one row per partition key may lack the
/// value.
#[test]
fn lim_16_rows_of_patterns_are_refused_with_the_reason() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let table = created(&account, "/owner", &[&["/email"], &["/email", "/town"]]).await;
        let mapping = Mapping::new(["/owner"]).property("Email", "/email", Format::Text);
        let store = account.open(Options::new().mapping_of::<Member>(mapping).unwrap()).await.unwrap();
        let differences = store.differences(&table).await.unwrap();
        let keys: Vec<_> = differences
            .iter()
            .filter_map(|difference| match difference {
                Difference::UniqueKey { paths } => Some(paths.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(keys, [vec!["/email"], vec!["/email", "/town"]], "{differences:?}");
        let member = |name: &str| Member {
            owner: "p".to_owned(),
            name: name.to_owned(),
            town: "Paris".to_owned(),
            email: Some(format!("{name}@contoso.com")),
        };
        let members = store.entities::<Member>();
        let mut without_email = member("bob");
        without_email.email = None;
        for member in [member("ada"), without_email] {
            let error = members.insert(&member).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::UniqueViolation, "{error}");
            assert!(error.to_string().contains("`/email`, or at `/email` and `/town`"), "{error}");
            assert!(!error.is_conflict() && !error.is_already_exists(), "{error}");
        }
        let found = members.query(Member::partition("p")).collect().await.unwrap();
        assert!(found.is_empty(), "nothing was written");
    });
}
