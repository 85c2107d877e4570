//! A fixture for index tests: an entity, its expected and stored rows, and a clock that advances only while a caller sleeps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use futures_util::TryStreamExt;
use proptest::prelude::*;
use table_core::bag::TableEntity;
use table_core::embedded::Clock;
use table_core::index::IndexEntry;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::limits::Limits;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::TextRange;
use table_core::row::{Row, RowWriter};
use table_core::runtime::{Runtime, ticks_of};
use table_core::schema::IndexKind;
use table_core::selection::Selection;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::{Entity, Result, ToEntity, Value, ValueRef};

use crate::entities::StepRecorder;
use crate::index::RemoteChange;
use crate::index::list::{ListForm, Members};
use crate::outbox::{Intent, Step};

/// An entity with every kind of index in its own partition. Its lists have a low bound, so they fill up quickly.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company", crate = table_core)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
#[index(ByAge, row_key("age_", age, "_", id), include(note), when = Staff::is_grown)]
#[index_entity(ByLastName, at_most = 3, row_key("lastname_", escaped(last_name)))]
pub(super) struct Staff {
    pub(super) department: String,
    #[digits(6)]
    #[property("EmployeeId")]
    pub(super) id: u32,
    pub(super) last_name: String,
    #[digits(3)]
    pub(super) age: u8,
    pub(super) email: Option<String>,
    pub(super) note: Option<i32>,
}

impl Staff {
    /// Returns `true` if the entity belongs in the index `ByAge`. The note can change without a change of the index key, unlike the age.
    fn is_grown(&self) -> bool {
        self.age >= 18 && self.note != Some(0)
    }
}

pub(super) fn ada() -> Staff {
    Staff {
        department: "Sales".to_owned(),
        id: 1,
        last_name: "Lovelace".to_owned(),
        age: 36,
        email: Some("ada".to_owned()),
        note: Some(7),
    }
}

pub(super) fn staff() -> impl Strategy<Value = Staff> {
    let last_name = prop::sample::select(vec!["Jones", "O'Neil/Ab c"]);
    let email = prop::option::of(prop::sample::select(vec!["a", "b", "c"]));
    (0_u32..6, last_name, 17_u8..20, email, prop::option::of(0..3)).prop_map(
        |(id, last_name, age, email, note)| Staff {
            department: "Sales".to_owned(),
            id,
            last_name: last_name.to_owned(),
            age,
            email: email.map(str::to_owned),
            note,
        },
    )
}

/// Rows by table and key. Each value contains the row's properties as text.
pub(super) type Rows = BTreeMap<(String, EntityKey), String>;

fn text(row: &Row) -> String {
    let shown = |property: Result<table_core::row::Property<'_>>| {
        let property = property.unwrap();
        format!("{}={:?}", property.name, property.value)
    };
    row.view().properties().map(shown).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ")
}

/// Returns the rows that must exist for the given entities. They are computed from the definitions of the indexes alone.
pub(super) fn expected<'e, E: Entity>(entities: impl IntoIterator<Item = &'e E>) -> Rows {
    let mut rows = Rows::new();
    let mut lists: BTreeMap<_, (ListForm, Members)> = BTreeMap::new();
    for entity in entities {
        let table = E::SCHEMA.table.to_owned();
        rows.insert((table.clone(), entity.key_of().unwrap()), text(&entity.to_row().unwrap()));
        for index in E::INDEXES {
            let Some(IndexEntry { key, row }) = index.entry(entity).unwrap() else { continue };
            let place = (index.schema().table.map_or_else(|| table.clone(), str::to_owned), key);
            if index.schema().kind == IndexKind::List {
                let form = ListForm::new(E::SCHEMA, index.schema());
                let member = form.member(&row);
                let (_, members) = lists.entry(place).or_insert((form, Members::default()));
                members.join(entity.key_of().unwrap(), member);
            } else {
                rows.insert(place, text(&row));
            }
        }
    }
    for (place, (form, members)) in lists {
        let row = form.write(&place.1, &members, &Limits::PORTABLE).unwrap();
        rows.insert(place, text(&row));
    }
    rows
}

/// Returns the rows stored in `tables`, except the records of changes.
pub(super) async fn stored<S: TableStore + Clone>(store: &S, tables: &[&str]) -> Result<Rows> {
    let mut rows = Rows::new();
    for table in tables {
        let bags: Vec<_> =
            store.untyped(table)?.scan("to compare").max_rows(1_000_000).stream().try_collect().await?;
        for bag in bags {
            let bag: TableEntity = bag.into_value();
            let key = bag.entity_key()?;
            if key.row_key.as_str().starts_with(RECORD) {
                continue;
            }
            rows.insert(((*table).to_owned(), key), text(&bag.entity_row()?));
        }
    }
    Ok(rows)
}

const RECORD: &str = "~record_";

/// An outbox for tests. It stores records as rows in the partition, but has neither messages nor workers.
#[derive(Clone, Debug, Default)]
pub(super) struct Records(Arc<AtomicUsize>);

impl Records {
    /// Returns the number for the next record.
    pub(super) fn record_number(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

impl StepRecorder for Records {
    async fn prepare(&self, _: &TableName, _: &PartitionKey) -> Result<()> {
        Ok(())
    }

    fn intents(&self, intents: &[Intent]) -> Result<Vec<Operation>> {
        let record = |intent: &Intent| {
            let texts: Vec<_> = intent.steps().iter().map(change_text).collect();
            let number = self.record_number();
            let mut row = RowWriter::new();
            row.property("Changes", ValueRef::String(&texts.join("\n")));
            let row_key = RowKey::new(format!("{RECORD}{number:06}"))?;
            Ok(Operation { row_key, kind: OperationKind::Insert(row.finish()) })
        };
        intents.iter().map(record).collect()
    }

    async fn recorded(&self, _: &TableName, _: &PartitionKey) {}
}

/// Returns the text of a recorded change, without the hash of the index entry.
fn change_text(step: &Step) -> String {
    let Step::Call { payload, .. } = step else { panic!("{step:?}") };
    let mut items: Vec<serde_json::Value> = serde_json::from_str(payload).unwrap();
    items.pop_if(|last| last.is_object());
    serde_json::Value::Array(items).to_string()
}

/// Returns the stored records of a partition: their keys and their changes.
pub(super) async fn records<E: Entity, S: TableStore + Clone>(
    store: &S,
    partition: &str,
) -> Result<Vec<(EntityKey, Vec<RemoteChange>)>> {
    let rows = Selection::rows(partition, TextRange::prefix(RECORD));
    let bags = store.untyped(E::SCHEMA.table)?.query(rows).collect().await?;
    let read = |bag: TableEntity| {
        let Some(Value::String(text)) = bag.get("Changes") else { panic!("{bag:?}") };
        let changes: Result<_> = text.lines().map(RemoteChange::parse::<E>).collect();
        Ok((bag.entity_key()?, changes?))
    };
    bags.into_iter().map(read).collect()
}

/// Returns a runtime whose time advances only while a caller sleeps. Also returns the elapsed time in ticks.
pub(super) fn waiting() -> (Runtime, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(0));
    let (now, later) = (Arc::clone(&time), Arc::clone(&time));
    let pace = Runtime::new().clock(Clock::new(move || now.load(Ordering::Relaxed))).sleep_by(move |wait| {
        later.fetch_add(ticks_of(wait), Ordering::Relaxed);
        Box::pin(async {})
    });
    (pace, time)
}
