//! Tests that units of work leave the same rows when they are committed as a group and when they run one by one, whatever they read and write. The versions of
//! their recorded steps must increase.

mod members;
mod waiters;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind, RowState};
use table_core::query::{KeyRange, Query, Select};
use table_core::row::{Row, RowWriter};
use table_core::runtime::Runtime;
use table_core::store::{StoredRow, TableStore, WriteLease};
use table_core::{Error, ErrorCode, Result, ValueRef};

use super::group::{Admission, Group, GroupRead, GroupTimer};
use crate::entities::AdmitWrites;
use crate::entities::plan::touch;
use crate::outbox::rows::{self, together};
use crate::outbox::{Intent, OUTBOX_PREFIX, Step};

/// The write of a unit of work to one row. Most writes depend on the row's content, which the unit reads first.
#[derive(Clone, Copy, Debug)]
enum Write {
    Replace,
    Merge,
    Delete,
    Put,
    PutMerged,
    /// A check that the row still has the version that was read, or still does not exist.
    Check,
    /// A check that the row exists.
    CheckAny,
    /// An empty merge that requires the version that was read.
    Touch,
    /// A merge without a read.
    MergeBlindly,
}

/// The writes of a unit of work, by row, and the rows for which the unit records a step.
type Unit = (BTreeMap<u8, (Write, u8, i64)>, BTreeSet<u8>);

fn units() -> impl Strategy<Value = Vec<Unit>> {
    use Write::{Check, CheckAny, Delete, Merge, MergeBlindly, Put, PutMerged, Replace, Touch};
    let write = prop::sample::select(vec![
        Replace,
        Merge,
        Delete,
        Put,
        PutMerged,
        Check,
        Check,
        CheckAny,
        Touch,
        MergeBlindly,
        Merge,
        Replace,
    ]);
    let writes = prop::collection::btree_map(0_u8..4, (write, 0_u8..3, any::<i64>()), 1..4);
    let unit = (writes, prop::collection::btree_set(0_u8..3, 0..3));
    prop::collection::vec(unit, 1..12)
}

fn row(property: u8, value: i64) -> Row {
    let mut writer = RowWriter::new();
    writer.property(&format!("P{property}"), ValueRef::Int64(value));
    writer.finish()
}

fn row_key(at: u8) -> RowKey {
    RowKey::new(format!("row{at}")).unwrap()
}

/// Returns the operation of a write. It succeeds if the row has not changed since it was read.
fn operation(
    at: u8,
    (write, property, value): (Write, u8, i64),
    found: Option<&StoredRow>,
) -> Option<Operation> {
    let new = row(property, value);
    let version = found.map(|found| IfMatch::ETag(found.etag.clone()));
    let kind = match (write, version) {
        (Write::Put, _) => OperationKind::InsertOrReplace(new),
        (Write::PutMerged, _) => OperationKind::InsertOrMerge(new),
        (Write::Replace, Some(version)) => OperationKind::Replace(new, version),
        (Write::Merge, Some(version)) => OperationKind::Merge(new, version),
        (Write::MergeBlindly, Some(_)) => OperationKind::Merge(new, IfMatch::Any),
        (Write::Delete, Some(version)) => OperationKind::Delete(version),
        (Write::Check, Some(version)) => OperationKind::Check(RowState::Present(version)),
        (Write::Check, None) => OperationKind::Check(RowState::Absent),
        (Write::CheckAny, Some(_)) => OperationKind::Check(RowState::Present(IfMatch::Any)),
        (Write::Touch, Some(version)) => touch(version),
        (Write::Replace | Write::Merge, None) => OperationKind::Insert(new),
        _ => return None,
    };
    Some(Operation { row_key: row_key(at), kind })
}

/// Returns the operations that record one step for each source of a unit of work.
fn records((at, (_, sources)): (usize, &Unit)) -> impl Iterator<Item = Operation> {
    let target = EntityKey::new("elsewhere", "copy").unwrap();
    let step = Step::delete_if_exists(TableName::new("Copies").unwrap(), target);
    let record = move |source: &u8| {
        let intent = Intent::of(row_key(*source)).step(step.clone());
        rows::insert(&intent, u64::try_from(at).unwrap()).unwrap()
    };
    sources.iter().map(record)
}

struct Store {
    engine: Engine,
    table: TableName,
    partition_key: PartitionKey,
}

impl Store {
    fn new() -> Self {
        let (engine, table) = (Engine::in_memory(), TableName::new("Rows").unwrap());
        block_on(engine.create_table(&table)).unwrap();
        Self { engine, table, partition_key: PartitionKey::new("p").unwrap() }
    }

    fn get(&self, at: u8) -> Option<StoredRow> {
        let key = EntityKey { partition_key: self.partition_key.clone(), row_key: row_key(at) };
        block_on(self.engine.get(&self.table, &key, &Select::All)).unwrap()
    }

    fn submit(&self, operations: Vec<Operation>) {
        if !operations.is_empty() {
            let limits = self.engine.capabilities().limits;
            let transaction = together(&self.partition_key, operations, limits).unwrap();
            block_on(self.engine.submit(&self.table, transaction)).unwrap();
        }
    }

    /// Returns the properties of all rows.
    fn rows(&self) -> Vec<(String, Vec<(String, String)>)> {
        let page = block_on(self.engine.query(&self.table, &Query::new(KeyRange::ALL), None)).unwrap();
        let properties = |row: table_core::query::EntityRef<'_>| {
            let mut all: Vec<_> = row
                .row
                .properties()
                .map(|property| property.map(|it| (it.name.to_owned(), format!("{:?}", it.value))).unwrap())
                .collect();
            all.sort();
            (row.row_key.to_owned(), all)
        };
        page.rows.iter().map(properties).collect()
    }

    /// Returns the versions of the recorded steps of each source entity, in the order of the units.
    fn versions(&self) -> BTreeMap<String, Vec<u64>> {
        let range = rows::range(&self.partition_key);
        let page = block_on(self.engine.query(&self.table, &Query::new(range), None)).unwrap();
        let mut versions = BTreeMap::<_, Vec<_>>::new();
        for row in page.rows.iter() {
            let source = row.row_key[..OUTBOX_PREFIX.len() + 16].to_owned();
            versions.entry(source).or_default().push(row.row.timestamp());
        }
        versions
    }

    /// Opens a group that commits to the test's engine.
    fn group(&self) -> Arc<Group> {
        let (engine, table, partition_key) =
            (self.engine.clone(), self.table.clone(), self.partition_key.clone());
        let limits = self.engine.capabilities().limits;
        let commit = move |operations: Vec<Operation>, _: Vec<_>, _: Option<_>| {
            let transaction = together(&partition_key, operations, limits);
            async move { engine.submit(&table, transaction?).await }.boxed()
        };
        Arc::new(Group::new(self.partition_key.clone(), limits, timer(&Runtime::new()), Box::new(commit)))
    }
}

/// An admission check that always has the same result.
struct Fixed(bool);

impl AdmitWrites for Fixed {
    fn admit_writes(&self, _: bool) -> BoxFuture<'_, Result<Option<WriteLease>>> {
        let result = if self.0 { Ok(None) } else { Err(Error::new(ErrorCode::SchemaMismatch, "newer")) };
        std::future::ready(result).boxed()
    }
}

fn admission(is_admitted: bool) -> Admission {
    (Arc::new(Fixed(is_admitted)), false)
}

fn timer(runtime: &Runtime) -> GroupTimer {
    (Arc::default(), runtime.clone())
}

fn commit(group: &Arc<Group>) {
    group.seal(None);
    assert!(block_on(group.outcome()).is_ok(), "the composed operations are refused");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_group_leaves_the_same_rows_as_its_units_in_sequence_and_its_steps_have_increasing_versions(units in units()) {
        let (serial, grouped, began) = (Store::new(), Store::new(), Runtime::new().now());
        let mut group = grouped.group();
        let mut is_open = false;
        for numbered in units.iter().enumerate() {
            let (_, unit @ (writes, _)) = numbered;
            let one_by_one = writes.iter().filter_map(|(at, write)| operation(*at, *write, serial.get(*at).as_ref()));
            serial.submit(one_by_one.chain(records(numbered)).collect());
            // If the group refuses a unit of work, or if the unit reads a row whose content is unknown, the unit begins the next group.
            let mut is_alone = false;
            loop {
                let mut operations = Vec::new();
                let mut is_unknown = false;
                for (at, write) in writes {
                    let found = match group.read(&row_key(*at)) {
                        GroupRead::Found(found) => {
                            let timestamp = found.as_ref().map(|found| found.row.view().timestamp());
                            prop_assert!(timestamp.is_none_or(|timestamp| timestamp >= began), "{timestamp:?}");
                            found
                        }
                        GroupRead::Stored => {
                            let found = grouped.get(*at);
                            group.remember(&row_key(*at), found.as_ref());
                            found
                        }
                        GroupRead::Unknown => {
                            is_unknown = true;
                            break;
                        }
                    };
                    operations.extend(operation(*at, *write, found.as_ref()));
                }
                operations.extend(records(numbered));
                if !is_unknown && (operations.is_empty() || group.join(&operations, None, admission(true)).is_some()) {
                    is_open |= !operations.is_empty();
                    break;
                }
                prop_assert!(!is_alone, "an empty group refuses {unit:?}");
                is_alone = true;
                if is_open {
                    commit(&group);
                }
                (group, is_open) = (grouped.group(), false);
            }
        }
        if is_open {
            commit(&group);
        }
        prop_assert_eq!(grouped.rows(), serial.rows());
        for (source, versions) in grouped.versions() {
            prop_assert!(versions.is_sorted_by(|one, next| one < next), "the versions {versions:?} of {source}");
        }
    }
}
