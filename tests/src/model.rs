//! The reference model: the table service as a plain map. It follows only the numbered rules in `docs/rules`, and is as simple as possible.
//!
//! It shares only interface types (names, rows, queries and errors) with the library. Order, limits, conditions and paging are implemented again, from the text
//! of each rule.

mod filter;
mod limits;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use table_core::etag::{ETag, IfMatch};
use table_core::limits::Limits;
use table_core::operation::RowState;
use table_core::query::{Continuation, KeyRange, Page, Position, Query, Select, TextRange};
use table_core::row::{Row, RowView, RowWriter};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::transaction::Transaction;
use table_core::{EntityKey, Error, ErrorCode, OperationKind, Result, TableName, Value, ticks};

/// The names and values of properties, in stored order.
pub type Properties = Vec<(String, Value)>;

/// A string as UTF-16 code units. They sort in the order of the service (ORD-6).
type Utf16 = Vec<u16>;

#[derive(Clone, Debug)]
struct Entity {
    partition_key: String,
    row_key: String,
    ticks: u64,
    properties: Properties,
}

#[derive(Debug)]
struct ModelTable {
    name: TableName,
    entities: BTreeMap<(Utf16, Utf16), Entity>,
}

#[derive(Debug, Default)]
struct State {
    /// The tables, keyed by lower-case name (TBL-2).
    tables: BTreeMap<String, ModelTable>,
    clock: u64,
}

/// The reference model, with the interface of a store.
#[derive(Debug)]
pub struct ModelStore {
    capabilities: Capabilities,
    state: Mutex<State>,
}

impl Default for ModelStore {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelStore {
    /// Creates an empty store with the portable limits.
    #[must_use]
    pub fn new() -> Self {
        let mut capabilities = Capabilities::service(Limits::PORTABLE);
        capabilities.checks = true;
        Self { capabilities, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for ModelStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("model")
    }
}

fn utf16(text: &str) -> Utf16 {
    text.encode_utf16().collect()
}

fn place(partition_key: &str, row_key: &str) -> (Utf16, Utf16) {
    (utf16(partition_key), utf16(row_key))
}

impl State {
    fn table(&self, name: &TableName) -> Result<&ModelTable> {
        self.tables.get(&name.as_str().to_ascii_lowercase()).ok_or_else(|| no_table(name))
    }
}

fn no_table(name: &TableName) -> Error {
    Error::new(ErrorCode::TableNotFound, "no such table").with_rule("OPT-6").with_table(name.as_str())
}

fn properties(row: RowView<'_>) -> Result<Properties> {
    row.properties().map(|property| property.map(|p| (p.name.to_owned(), p.value.to_owned()))).collect()
}

/// Returns the row of an entity with only the selected properties (SEL-2, SEL-3).
fn row(entity: &Entity, select: &Select) -> Row {
    let mut writer = RowWriter::new();
    for (name, value) in entity.properties.iter().filter(|(name, _)| select.contains(name)) {
        writer.property(name, value.as_ref());
    }
    writer.finish().with_timestamp(entity.ticks)
}

fn contains(range: &TextRange, text: &str) -> bool {
    let text = utf16(text);
    let above = match &range.lower {
        Bound::Included(lower) => text >= utf16(lower),
        Bound::Excluded(lower) => text > utf16(lower),
        Bound::Unbounded => true,
    };
    let below = match &range.upper {
        Bound::Included(upper) => text <= utf16(upper),
        Bound::Excluded(upper) => text < utf16(upper),
        Bound::Unbounded => true,
    };
    above && below
}

fn in_range(keys: &KeyRange, entity: &Entity) -> bool {
    contains(&keys.partition_key, &entity.partition_key) && contains(&keys.row_key, &entity.row_key)
}

impl TableStore for ModelStore {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        table.require_creatable()?;
        let mut state = self.state();
        let folded = table.as_str().to_ascii_lowercase();
        if state.tables.contains_key(&folded) {
            let error = Error::new(ErrorCode::TableAlreadyExists, "the table exists already");
            return Err(error.with_rule("OPT-2").with_table(table.as_str()));
        }
        state.tables.insert(folded, ModelTable { name: table.clone(), entities: BTreeMap::new() });
        Ok(())
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        let removed = self.state().tables.remove(&table.as_str().to_ascii_lowercase());
        removed.map(|_| ()).ok_or_else(|| {
            Error::new(ErrorCode::ResourceNotFound, "no such table")
                .with_rule("OPT-3")
                .with_table(table.as_str())
        })
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        let state = self.state();
        let (prefix, from) = (prefix.to_ascii_lowercase(), from.map(str::to_ascii_lowercase));
        let mut names = state
            .tables
            .iter()
            .filter(|(folded, _)| {
                folded.starts_with(&prefix) && from.as_ref().is_none_or(|from| *folded >= from)
            })
            .map(|(_, table)| table.name.clone());
        let page = names.by_ref().take(top).collect();
        Ok(TablePage { names: page, next: names.next().map(|name| name.as_str().to_owned()) })
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let state = self.state();
        let key = place(key.partition_key.as_str(), key.row_key.as_str());
        let found = state.table(table)?.entities.get(&key);
        Ok(found.map(|entity| StoredRow { row: row(entity, select), etag: ETag::from_ticks(entity.ticks) }))
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let state = self.state();
        let entities = &state.table(table)?.entities;
        let top = query.top.unwrap_or(1_000);
        query.check(1_000)?; // limits that the types do not express
        let mut page = Page::default();
        let mut read = 0;
        if top == 0 {
            return Ok(page); // ENG-5
        }
        let begin = match from {
            Some(from) => {
                let position = from.position(table, query)?;
                place(&position.partition_key, position.row_key.as_deref().unwrap_or_default())
            }
            None => place("", ""),
        };
        for (_, entity) in entities.range(begin..).filter(|(_, entity)| in_range(&query.keys, entity)) {
            read += 1;
            if !query.filter.as_ref().is_none_or(|filter| filter::holds(filter, entity)) {
                continue;
            }
            if page.rows.len() == top {
                let position = Position {
                    partition_key: entity.partition_key.clone(),
                    row_key: Some(entity.row_key.clone()),
                };
                page.continuation = Some(Continuation::new(table, query, position)); // PAGE-6
                break;
            }
            page.rows.push(&entity.partition_key, &entity.row_key, row(entity, &query.select).view(), None);
        }
        page.rows_read = Some(read);
        Ok(page)
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let state = &mut *self.state();
        let limits = &self.capabilities.limits;
        limits::check_transaction(limits, &transaction).map_err(|error| error.with_table(table.as_str()))?;
        let stored =
            state.tables.get_mut(&table.as_str().to_ascii_lowercase()).ok_or_else(|| no_table(table))?;
        let now = ticks::from_datetime(ticks::now()).unwrap_or_default().max(state.clock + 1); // CON-10
        let (partition, operations) = transaction.into_parts();
        let mut changed = stored.entities.clone();
        let mut committed = Vec::new();
        for (index, operation) in operations.into_iter().enumerate() {
            let row_key = operation.row_key.as_str();
            let key = place(partition.as_str(), row_key);
            let is_check = matches!(operation.kind, OperationKind::Check(_));
            let after = apply(changed.get(&key), operation.kind).and_then(|after| {
                after.as_ref().map_or(Ok(()), |properties| {
                    limits::check_entity(limits, partition.as_str(), row_key, properties)
                })?;
                Ok(after)
            });
            let after = after.map_err(|error| {
                error.with_operation(index).with_table(table.as_str()).with_key(partition.as_str(), row_key)
            })?;
            if is_check {
                committed.push(None); // ENG-21
                continue;
            }
            committed.push(after.is_some().then(|| ETag::from_ticks(now)));
            match after {
                Some(properties) => {
                    let (partition_key, row_key) = (partition.as_str().to_owned(), row_key.to_owned());
                    changed.insert(key, Entity { partition_key, row_key, ticks: now, properties });
                }
                None => drop(changed.remove(&key)),
            }
        }
        // The changed copy replaces the map only after the last operation. Either all operations take effect or none does (EGT-9).
        stored.entities = changed;
        state.clock = now;
        Ok(committed)
    }
}

/// Returns the properties of an entity after an operation, or `None` if the operation deletes it.
fn apply(before: Option<&Entity>, kind: OperationKind) -> Result<Option<Properties>> {
    let refuse = |code, rule| Error::new(code, "refused by the model").with_rule(rule);
    let exists = |if_match: &IfMatch| match (before, if_match) {
        (None, _) => Err(refuse(ErrorCode::ResourceNotFound, "UPD-2")), // before the ETag: DEL-3
        (Some(entity), IfMatch::ETag(etag)) if *etag != ETag::from_ticks(entity.ticks) => {
            Err(refuse(ErrorCode::UpdateConditionNotSatisfied, "UPD-3"))
        }
        (Some(entity), _) => Ok(entity),
    };
    match kind {
        OperationKind::Insert(_) if before.is_some() => Err(refuse(ErrorCode::EntityAlreadyExists, "INS-1")),
        OperationKind::Insert(row) | OperationKind::InsertOrReplace(row) => properties(row.view()).map(Some),
        OperationKind::Replace(row, if_match) => {
            exists(&if_match)?;
            properties(row.view()).map(Some)
        }
        OperationKind::Merge(row, if_match) => {
            let entity = exists(&if_match)?;
            merged(entity.properties.clone(), row.view()).map(Some)
        }
        OperationKind::InsertOrMerge(row) => {
            merged(before.map(|entity| entity.properties.clone()).unwrap_or_default(), row.view()).map(Some)
        }
        OperationKind::Delete(if_match) => {
            exists(&if_match)?;
            Ok(None)
        }
        OperationKind::Check(RowState::Absent) if before.is_some() => {
            Err(refuse(ErrorCode::EntityAlreadyExists, "ENG-21"))
        }
        OperationKind::Check(RowState::Absent) => Ok(None),
        OperationKind::Check(RowState::Present(if_match)) => exists(&if_match).map(|_| None),
    }
}

/// Returns the properties after a merge. The properties in the patch are added or replaced, and all others are kept (MRG-1).
fn merged(mut kept: Properties, patch: RowView<'_>) -> Result<Properties> {
    for (name, value) in properties(patch)? {
        match kept.iter_mut().find(|(kept, _)| *kept == name) {
            Some(place) => place.1 = value,
            None => kept.push((name, value)),
        }
    }
    Ok(kept)
}
