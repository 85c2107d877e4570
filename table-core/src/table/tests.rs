//! Tests of the functions of a typed table: keys reserved for patterns, page sizes, patches, groups, and schemas that share a name.

use chrono::{DateTime, Utc};
use futures_util::TryStreamExt;
use pollster::block_on;
use table_store::{Error, ErrorCode, Result};

use crate::embedded::Engine;
use crate::entity::Declared;
use crate::etag::IfMatch;
use crate::group::One;
use crate::key::{EntityKey, PartitionKey, RowKey};
use crate::name::TableName;
use crate::operation::{Operation, OperationKind};
use crate::query::{KeyRange, Query};
use crate::schema::EntitySchema;
use crate::selection::Selection;
use crate::store::TableStore;
use crate::table::{Table, TableStoreExt, request};
use crate::transaction::Transaction;
use crate::untyped::UntypedTable;
use crate::{Entity, EntityGroup, TableEntity};

#[derive(Entity, Clone, Debug, PartialEq)]
#[partition_key(tenant)]
#[row_key(id)]
struct Note {
    tenant: String,
    id: String,
    next: Option<i64>,
}

fn note(id: &str) -> Note {
    Note { tenant: "contoso".into(), id: id.into(), next: None }
}

/// Returns a table of notes with one reserved row of each kind that patterns store, and the keys of these rows.
fn with_reserved_rows() -> (Table<Note, Engine>, Vec<String>) {
    let engine = Engine::in_memory();
    let notes = block_on(engine.table::<Note>().create_if_missing()).unwrap();
    let kinds =
        ["sequence_ticket", "outbox_1", "guard_1", "feed_head", "reservation_1", "copy_1", "view_1", ""];
    let keys: Vec<String> = kinds.map(|kind| format!("\u{FFFC}{kind}")).into();
    let table = TableName::new("Note").unwrap();
    let mut rows =
        Transaction::new(PartitionKey::new("contoso").unwrap(), engine.capabilities().limits).unwrap();
    for key in &keys {
        let kind = OperationKind::Insert(note(key).to_row().unwrap());
        rows.push(Operation { row_key: RowKey::new(key).unwrap(), kind }).unwrap();
    }
    block_on(engine.submit(&table, rows)).unwrap();
    (notes, keys)
}

/// Returns every row of the table, with its properties and version.
fn stored(notes: &Table<Note, Engine>) -> Vec<String> {
    let table = TableName::new("Note").unwrap();
    let page = block_on(notes.store().query(&table, &Query::new(KeyRange::ALL), None)).unwrap();
    page.rows.iter().map(|entity| format!("{entity:?}")).collect()
}

/// Calls every function of a handle that takes a key or an entity. Returns the name of each function, with its error if it failed.
async fn every_verb(notes: &Table<Note, Engine>, id: &str) -> Vec<(&'static str, Option<Error>)> {
    let key = || Note::key("contoso", id);
    let change = |note: &mut Note| note.next = Some(1);
    let bulk = |result: Result<(), crate::table::BulkError>| result.err().map(|error| error.source);
    let deletion =
        notes.transaction(Note::partition("contoso")).unwrap().delete::<Note>(key(), IfMatch::Any).err();
    let untyped: UntypedTable<Engine> = notes.store().untyped("Note").unwrap();
    let point = || Selection::point("contoso", id);
    vec![
        ("insert", notes.insert(&note(id)).await.err()),
        ("replace", notes.replace(&note(id), IfMatch::Any).await.err()),
        ("insert_or_replace", notes.insert_or_replace(&note(id)).await.err()),
        ("update", notes.update(key(), change).await.err()),
        ("delete", notes.delete(key(), IfMatch::Any).await.err()),
        ("get", notes.get(key()).await.err()),
        ("patch", notes.patch(key()).set(Note::NEXT, 1).send().await.err()),
        ("patch that removes", notes.patch(key()).set(Note::NEXT, None).send().await.err()),
        ("insert_all", bulk(notes.bulk().insert_all([note(id)]).await.map(drop))),
        ("insert_or_replace_all", bulk(notes.bulk().insert_or_replace_all([note(id)]).await.map(drop))),
        ("insert_or_merge_all", bulk(notes.bulk().insert_or_merge_all([note(id)]).await.map(drop))),
        ("delete_all", bulk(notes.bulk().delete_all([key()]).await.map(drop))),
        ("exists", notes.exists(key()).await.err()),
        ("get_many", notes.get_many([key()]).await.err()),
        ("merge", notes.merge(&note(id), IfMatch::Any).await.err()),
        ("insert_or_merge", notes.insert_or_merge(&note(id)).await.err()),
        ("delete in a transaction", deletion),
        ("get by strings", untyped.get(point()).await.err()),
        ("get by key", untyped.get(&EntityKey::new("contoso", id).unwrap()).await.err()),
        ("delete by strings", untyped.delete(point(), IfMatch::Any).await.err()),
    ]
}

// PAT-EC-8: the keys of patterns belong to the library, not to the program.
#[test]
fn no_function_reads_or_changes_a_reserved_row() {
    let (notes, keys) = with_reserved_rows();
    let before = stored(&notes);
    let mut accepted = Vec::new();
    for key in &keys {
        accepted.extend(
            block_on(every_verb(&notes, key))
                .into_iter()
                .filter(|(_, error)| error.as_ref().and_then(Error::rule) != Some("PAT-EC-8"))
                .map(|(verb, _)| (verb, key)),
        );
    }
    assert_eq!(accepted, []);
    assert_eq!(stored(&notes), before);
    assert_eq!(before.len(), keys.len());
}

/// Returns a table with 30 notes.
fn thirty_notes() -> Table<Note, Engine> {
    let notes = block_on(Engine::in_memory().table::<Note>().create_if_missing()).unwrap();
    block_on(notes.bulk().insert_all((0..30).map(|id| note(&format!("{id:02}"))))).unwrap();
    notes
}

// TOP-2, TOP-3
#[test]
fn the_page_size_does_not_change_results() {
    let notes = thirty_notes();
    for size in (0..=32).chain([1_000]) {
        let sized = || notes.query(Note::partition("contoso")).page_size(size);
        let counts = block_on(async {
            Ok::<_, Error>([
                sized().collect().await?.len() as u64,
                sized().collect_versioned().await?.len() as u64,
                sized().collect_with(|_| Ok(())).await?.len() as u64,
                sized().stream().try_collect::<Vec<_>>().await?.len() as u64,
                sized().count().await?,
                sized().for_each(|_| {}).await?,
                u64::from(sized().first().await?.is_some()) * 30,
                u64::from(!sized().page().await?.items.is_empty()) * 30,
            ])
        });
        match counts {
            Ok(counts) => assert_eq!(counts, [30; 8], "{size}"),
            Err(error) => assert_eq!((size, error.code()), (0, ErrorCode::InvalidInput)),
        }
    }
}

// TOP-1
#[test]
fn a_limit_does_not_change_a_single_page() {
    let notes = thirty_notes();
    for size in [None, Some(1), Some(7), Some(40)] {
        let query = || {
            let query = notes.query(Note::partition("contoso"));
            size.map_or(query.clone(), |size| query.page_size(size))
        };
        let first = block_on(query().page()).unwrap();
        for limit in [1, 5, 7, 30, 100] {
            let limited = block_on(query().limit(limit).page()).unwrap();
            assert_eq!(limited, first, "{size:?} {limit}");
            let Some(from) = &first.continuation else { continue };
            let limited = block_on(query().limit(limit).page_from(from)).unwrap();
            assert_eq!(limited, block_on(query().page_from(from)).unwrap(), "{size:?} {limit}");
        }
    }
}

/// A note scheduled for a time.
#[derive(Entity, Clone, Debug, PartialEq)]
#[partition_key(tenant)]
#[row_key("")]
struct Reminder {
    tenant: String,
    at: DateTime<Utc>,
}

#[derive(EntityGroup)]
#[entity_group(under = Reminder)]
struct Reminders {
    reminder: One<Reminder>,
    #[other]
    rest: Vec<TableEntity>,
}

// TYPE-6
#[test]
fn the_error_of_a_patch_names_the_property() {
    let reminders = Engine::in_memory().table::<Reminder>();
    let patch = reminders.patch(Reminder::key("contoso")).set(Reminder::AT, DateTime::<Utc>::MIN_UTC);
    let error = block_on(patch.send()).unwrap_err();
    assert_eq!((error.code(), error.table()), (ErrorCode::OutOfRangeInput, Some("Reminder")));
    assert!(error.to_string().contains("property `At`"), "{error}");
}

// PAT-CK-1
#[test]
fn a_group_under_an_empty_row_key_contains_all_rows_except_reserved_ones() {
    block_on(async {
        let reminders = Engine::in_memory().table::<Reminder>().create_if_missing().await.unwrap();
        reminders.insert(&Reminder { tenant: "contoso".into(), at: DateTime::UNIX_EPOCH }).await.unwrap();
        let bags = reminders.store().untyped("Reminder").unwrap();
        let all = ["a", "\u{FFFB}", "\u{FFFB}z", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}z"];
        for key in all {
            bags.insert(&TableEntity::new("contoso", key).unwrap()).await.unwrap();
        }
        for reserved in ["\u{FFFC}", "\u{FFFC}outbox_1", "\u{FFFC}\u{FFFF}"] {
            let kind = OperationKind::Insert(note("").to_row().unwrap());
            let key = EntityKey::new("contoso", reserved).unwrap();
            request::write(reminders.store(), &TableName::new("Reminder").unwrap(), key, kind).await.unwrap();
        }
        let group: Reminders = reminders.read_group(Reminder::key("contoso")).await.unwrap();
        assert_eq!(group.reminder.at, DateTime::UNIX_EPOCH);
        let keys: Vec<_> = group.rest.iter().map(|row| row.key().row_key.as_str()).collect();
        assert_eq!(keys, all);
        // No query reads the reserved rows.
        let plan = reminders.plan_group::<Reminders>(Reminder::key("contoso")).unwrap().to_string();
        assert!(plan.contains("RowKey lt '\u{FFFC}'") && plan.contains("RowKey ge '\u{FFFD}'"), "{plan}");
    });
}

/// Two types in one table, declared by hand, whose schemas have the same name.
struct Both;

impl Declared for Both {
    const SCHEMAS: &'static [&'static EntitySchema] = &[Reminder::SCHEMA, Note::SCHEMA, Note::SCHEMA];
}

#[test]
fn two_schemas_of_one_name_are_refused_before_the_table_is_created() {
    let engine = Engine::in_memory();
    let both: Table<Both, Engine> = Table::new(engine.clone(), TableName::new("Note").unwrap());
    let error = block_on(both.create_if_missing()).map(drop).unwrap_err();
    assert_eq!((error.code(), error.table()), (ErrorCode::InvalidInput, Some("Note")));
    assert!(error.to_string().contains("two types have the schema name `Note`"), "{error}");
    assert!(block_on(engine.list_tables("", None, 10)).unwrap().names.is_empty());
}
