//! Tests index copies of the entire entity. They include properties without a field and chunked values.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use table_core::index::{FromCopy, Index};
use table_core::query::EntityRef;
use table_core::schema::IndexSchema;
use table_core::{
    Engine, Entity, EntityKey, ErrorCode, IndexEntry, Result, TableEntity, TableStoreExt, Value,
};
use table_patterns::EntityStore;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Documents")]
#[partition_key(project)]
#[row_key("doc_", id)]
#[index(ByPath, unique, row_key("path_", escaped(path)))]
#[index(ByPages, row_key("pages_", pages, "_", id), include(path))]
struct Document {
    project: String,
    #[digits(6)]
    #[property("DocumentId")]
    id: u32,
    #[property("Note", chunks)]
    note: Option<String>,
    path: String,
    #[property(chunks)]
    body: Vec<u8>,
    pages: u16,
    #[property(rest)]
    rest: BTreeMap<String, Value>,
}

/// A draft. It is copied to another table under a different key.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Drafts")]
#[partition_key(author)]
#[row_key(id)]
#[index(ByTitle, unique, table = "Titles", partition_key(title), row_key(""))]
struct Draft {
    author: String,
    id: u16,
    title: String,
    #[property(chunks)]
    text: Option<String>,
    #[property(rest)]
    rest: BTreeMap<String, Value>,
}

fn document() -> Document {
    Document {
        project: "atlas".to_owned(),
        id: 7,
        note: Some("x".repeat(40_000)),
        path: "maps/europe".to_owned(),
        body: vec![7; 200_000],
        pages: 12,
        rest: BTreeMap::from([
            ("Reviewed".to_owned(), Value::Boolean(true)),
            ("Size".to_owned(), Value::Int64(200_000)),
        ]),
    }
}

fn copy<I: Index>(entity: &I::Entity) -> IndexEntry {
    I::entry(entity).unwrap().unwrap()
}

fn names(entry: &IndexEntry) -> Vec<&str> {
    entry.row.view().properties().map(|property| property.unwrap().name).collect()
}

fn read<I: Index<Entity = E>, E: FromCopy<I>>(IndexEntry { key, row }: &IndexEntry) -> Result<E> {
    E::from_copy(EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view()))
}

#[test]
fn full_copies_contain_the_rest_and_chunks_and_partial_ones_do_not() {
    let document = document();
    let whole = copy::<DocumentByPath>(&document);
    let in_chunks = ["DocumentId", "Note", "Note1", "Body", "Body1", "Body2", "Body3", "Pages"];
    assert_eq!(names(&whole), [&in_chunks[..], &["Reviewed", "Size"]].concat());
    assert_eq!(names(&copy::<DocumentByPages>(&document)), ["Path"]);
}

#[test]
fn the_schema_of_copies_has_the_chunks_with_their_types() {
    let schema: &IndexSchema = DocumentByPath::SCHEMA;
    let count = |prefix: &str| schema.properties.iter().filter(|it| it.name.starts_with(prefix)).count();
    assert_eq!((count("Note"), count("Body")), (16, 16));
    let copy = copy::<DocumentByPath>(&document());
    for property in copy.row.view().properties() {
        let property = property.unwrap();
        let declared = schema.properties.iter().find(|it| it.name == property.name);
        let of_rest = ["Reviewed", "Size"].contains(&property.name);
        assert_eq!(
            declared.map(|it| it.edm),
            (!of_rest).then(|| property.value.edm_type()),
            "{}",
            property.name
        );
    }
}

#[test]
fn an_entity_read_from_a_copy_is_the_whole_entity() {
    block_on(async {
        let store = Engine::in_memory();
        let documents = store.entities::<Document>().create_if_missing().await.unwrap();
        let bags = store.untyped("Documents").unwrap();
        let mut inserted = Document { pages: 0, ..document() };
        documents.insert(&inserted).await.unwrap();
        let by_path = || Document::by_path("atlas", "maps/europe");
        assert_eq!(documents.get(by_path()).await.unwrap().unwrap().value(), &inserted);

        // The copy receives the change. No chunk of the earlier, longer value remains.
        let key = || Document::key("atlas", 7_u32);
        documents
            .update(key(), |document| {
                document.body.truncate(70_000);
                document.note = None;
                document.rest.remove("Size");
            })
            .await
            .unwrap();
        inserted.body.truncate(70_000);
        (inserted.note, inserted.rest) =
            (None, BTreeMap::from([("Reviewed".to_owned(), Value::Boolean(true))]));
        assert_eq!(documents.get(by_path()).await.unwrap().unwrap().value(), &inserted);
        let copy = bags.get(&copy::<DocumentByPath>(&inserted).key).await.unwrap().unwrap();
        assert_eq!((copy.get("Body2"), copy.get("Note"), copy.get("Size")), (None, None, None));

        // The next write copies properties that another program has added to the entity.
        let of_entity = EntityKey::new("atlas", "doc_000007").unwrap();
        let stored = bags.get(&of_entity).await.unwrap().unwrap();
        let added = TableEntity::new("atlas", "doc_000007").unwrap().with("Language", "en");
        bags.merge(&added, stored.etag().clone()).await.unwrap();
        documents.update(key(), |document| document.body.push(8)).await.unwrap();
        let found = documents.get(by_path()).await.unwrap().unwrap();
        assert_eq!(found.value().rest.get("Language"), Some(&Value::from("en")));
        assert_eq!(found.value().body.len(), 70_001);
    });
}

#[test]
fn prop_6_a_rest_with_the_name_of_a_key_field_in_copies_is_refused() {
    let mut document = document();
    document.rest.insert("DocumentId".to_owned(), Value::Int32(7));
    assert!(document.to_row().is_ok());
    let error = DocumentByPath::entry(&document).unwrap_err();
    assert_eq!(error.code(), ErrorCode::DuplicatePropertiesSpecified);
    let text = error.to_string();
    assert!(text.contains("property `DocumentId`") && text.contains("index `ByPath`"), "{text}");
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i32>().prop_map(Value::Int32),
        "[a-zé]{0,5}".prop_map(Value::from),
        any::<bool>().prop_map(Value::Boolean),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_full_copy_reads_as_its_entity(
        id in 0..1_000_000_u32,
        path in "[a-z!_/é]{1,12}",
        body in (any::<u8>(), 0..140_000_usize),
        note in prop::option::of(("[aé\u{1F600}]{1,3}", 0..40_000_usize)),
        rest in prop::collection::btree_map("Rest[A-Z]{1,4}", value(), 0..4),
    ) {
        let note = note.map(|(text, times)| text.repeat(times));
        let document = Document { id, path, body: vec![body.0; body.1], note, rest, ..document() };
        prop_assert_eq!(&read::<DocumentByPath, Document>(&copy::<DocumentByPath>(&document)).unwrap(), &document);
        let Document { path: title, note: text, rest, .. } = document;
        let draft = Draft { author: "ada".to_owned(), id: 7, title: title.replace('/', "_"), text, rest };
        prop_assert_eq!(&read::<DraftByTitle, Draft>(&copy::<DraftByTitle>(&draft)).unwrap(), &draft);
    }
}
