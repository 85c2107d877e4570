//! Tests imports of exports written by programs with different schemas. The indexes of the target must be complete, and rows that the importing program cannot
//! read must be refused.

use pollster::block_on;
use table_core::ErrorCode;
use table_core::embedded::Engine;
use table_core::entity::Entity;
use table_core::selection::{Partition, Selection};
use table_core::store::TableStore;

use super::kit::{export, import};
use crate::EntityStore;
use crate::entities::Entities;
use crate::index::IndexState;
use crate::tenant::Tenant;

pub(super) mod v1 {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Docs")]
    #[partition_key(tenant)]
    #[row_key("doc_", number)]
    pub(in crate::tenant::tests) struct Doc {
        pub(in crate::tenant::tests) tenant: String,
        #[digits(6)]
        pub(in crate::tenant::tests) number: u32,
        pub(in crate::tenant::tests) title: String,
        pub(in crate::tenant::tests) pages: i32,
    }
}

pub(super) mod v2 {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Docs")]
    #[partition_key(tenant)]
    #[row_key("doc_", number)]
    #[index(ByTitle, unique, row_key("title_", escaped(title)))]
    #[index_entity(ByPages, at_most = 100, row_key("pages_", pages))]
    pub(in crate::tenant::tests) struct Doc {
        pub(in crate::tenant::tests) tenant: String,
        #[digits(6)]
        pub(in crate::tenant::tests) number: u32,
        pub(in crate::tenant::tests) title: String,
        pub(in crate::tenant::tests) pages: i32,
    }
}

mod wider {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Docs")]
    #[partition_key(tenant)]
    #[row_key("doc_", number)]
    pub(in crate::tenant::tests) struct Doc {
        pub(in crate::tenant::tests) tenant: String,
        #[digits(8)]
        pub(in crate::tenant::tests) number: u32,
        pub(in crate::tenant::tests) title: String,
        pub(in crate::tenant::tests) pages: i32,
    }
}

mod widened {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Docs")]
    #[partition_key(tenant)]
    #[row_key("doc_", number)]
    #[index(ByPages, row_key("pages_", pages, "_", number))]
    pub(in crate::tenant::tests) struct Doc {
        pub(in crate::tenant::tests) tenant: String,
        #[digits(6)]
        pub(in crate::tenant::tests) number: u32,
        pub(in crate::tenant::tests) title: String,
        pub(in crate::tenant::tests) pages: i64,
    }
}

fn old(tenant: &str, number: u32, title: &str) -> v1::Doc {
    v1::Doc { tenant: tenant.into(), number, title: title.into(), pages: 7 }
}

fn new(tenant: &str, number: u32, title: &str) -> v2::Doc {
    v2::Doc { tenant: tenant.into(), number, title: title.into(), pages: 7 }
}

pub(super) fn of<E, S>(docs: &Entities<E, S>, partition: Selection<E, Partition>) -> Tenant
where
    E: Entity + Send + Sync,
    S: TableStore + Clone + 'static,
{
    Tenant::new().with_entities(docs, partition).unwrap()
}

/// Returns a store with three documents of `contoso`, written by the older program.
pub(super) fn with_old_rows(titles: [&str; 3]) -> (Engine, Entities<v1::Doc, Engine>) {
    let store = Engine::in_memory();
    let docs = block_on(store.entities::<v1::Doc>().create_if_missing()).unwrap();
    for (number, title) in (1..).zip(titles) {
        block_on(docs.insert(&old("contoso", number, title))).unwrap();
    }
    (store, docs)
}

/// Checks that both indexes find the three documents of `contoso`, and that the titles are unique.
pub(super) fn assert_complete(docs: &Entities<v2::Doc, Engine>) {
    assert_eq!(
        block_on(docs.states()).unwrap(),
        [("ByTitle", IndexState::Ready), ("ByPages", IndexState::Ready)]
    );
    for title in ["a", "b", "c"] {
        let found = block_on(docs.get(v2::Doc::by_title("contoso", title))).unwrap();
        assert_eq!(found.map(|doc| doc.title.clone()).as_deref(), Some(title));
    }
    let found = block_on(docs.get_by_index(v2::Doc::by_pages("contoso", 7))).unwrap();
    assert_eq!(found.len(), 3);
    let error = block_on(docs.insert(&new("contoso", 9, "a"))).unwrap_err();
    assert_eq!(error.code(), ErrorCode::UniqueViolation);
    assert!(block_on(docs.check().run()).unwrap().is_clean());
}

#[test]
fn pat_intra_5_a_copy_from_a_table_whose_index_is_building_is_complete() {
    let (store, _) = with_old_rows(["a", "b", "c"]);
    let docs = block_on(store.entities::<v2::Doc>().create_if_missing()).unwrap();
    let to = block_on(Engine::in_memory().entities::<v2::Doc>().create_if_missing()).unwrap();
    let contoso = v2::Doc::partition("contoso");
    block_on(of(&docs, contoso.clone()).copy_to(&of(&to, contoso))).unwrap();
    assert_complete(&to);
}

#[test]
fn pat_intra_5_an_export_of_an_older_release_gets_its_index_rows() {
    let (_, docs) = with_old_rows(["a", "b", "c"]);
    let text = export(&of(&docs, v1::Doc::partition("contoso")));
    // An export contains no schema of a type if the exporting program did not store one.
    let (header, rows) = text.split_once('\n').unwrap();
    let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
    header["Tenant"]["Schemas"] = serde_json::json!([]);
    for text in [text.clone(), format!("{header}\n{rows}")] {
        let to = block_on(Engine::in_memory().entities::<v2::Doc>().create_if_missing()).unwrap();
        block_on(to.insert(&new("adatum", 1, "a"))).unwrap();
        import(&of(&to, v2::Doc::partition("contoso")), &text).unwrap();
        assert_complete(&to);
        assert!(block_on(to.get(v2::Doc::by_title("adatum", "a"))).unwrap().is_some());
    }
}

#[test]
fn pat_intra_5_an_import_reports_entities_with_the_same_unique_value() {
    let (_, docs) = with_old_rows(["a", "b", "a"]);
    let text = export(&of(&docs, v1::Doc::partition("contoso")));
    let to = block_on(Engine::in_memory().entities::<v2::Doc>().create_if_missing()).unwrap();
    let tenant = of(&to, v2::Doc::partition("contoso"));
    let mut import = tenant.import();
    block_on(import.push(&text)).unwrap();
    let error = block_on(import.finish()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::UniqueViolation);
    assert!(error.to_string().contains("doc_000003"), "{error}");
    block_on(to.update(v2::Doc::key("contoso", 3), |doc| doc.title = "c".into())).unwrap();
    block_on(import.finish()).unwrap();
    assert_complete(&to);
}

/// Checks that a program with wider numbers in its keys refuses the export of the older program, because it could not read the rows.
pub(super) fn assert_refused(text: &str) {
    let to = block_on(Engine::in_memory().entities::<wider::Doc>().create_if_missing()).unwrap();
    let tenant = of(&to, wider::Doc::partition("contoso"));
    let error = import(&tenant, text).unwrap_err();
    assert_eq!(error.code(), ErrorCode::SchemaMismatch);
    assert!(error.message().contains("digits(6)"), "{error}");
    assert_eq!(block_on(tenant.count()).unwrap().rows(), 0);
}

/// Checks that a program with a widened property records that imported rows of the older program may contain values with the earlier type, and that it finds
/// these rows by an index.
pub(super) fn assert_widened(text: &str) {
    let to = block_on(Engine::in_memory().entities::<widened::Doc>().create_if_missing()).unwrap();
    import(&of(&to, widened::Doc::partition("contoso")), text).unwrap();
    let record = block_on(to.table().schema_record()).unwrap().unwrap();
    assert_eq!(record.pending, ["property Pages"]);
    let found = block_on(to.query(widened::Doc::by_pages("contoso", 7)).collect()).unwrap();
    assert_eq!(found.len(), 3);
}

#[test]
fn evo_11_rows_that_the_importing_program_cannot_read_are_refused() {
    let (_, docs) = with_old_rows(["a", "b", "c"]);
    assert_refused(&export(&of(&docs, v1::Doc::partition("contoso"))));
}

#[test]
fn evo_6_imported_values_of_a_widened_property_are_recorded_as_pending() {
    let (_, docs) = with_old_rows(["a", "b", "c"]);
    assert_widened(&export(&of(&docs, v1::Doc::partition("contoso"))));
}

/// Tests that an archive can be imported after a later release has removed an index.
#[test]
fn evo_21_an_export_with_rows_of_a_removed_index_is_imported() {
    let docs = block_on(Engine::in_memory().entities::<v2::Doc>().create_if_missing()).unwrap();
    block_on(docs.insert(&new("contoso", 1, "a"))).unwrap();
    let to = block_on(Engine::in_memory().entities::<v1::Doc>().create_if_missing()).unwrap();
    block_on(of(&docs, v2::Doc::partition("contoso")).copy_to(&of(&to, v1::Doc::partition("contoso"))))
        .unwrap();
    assert_eq!(block_on(to.query(v1::Doc::rows("contoso")).collect()).unwrap(), [old("contoso", 1, "a")]);
}

#[test]
fn evo_3_an_older_program_stops_an_import_once_a_newer_program_builds_an_index() {
    let (_, docs) = with_old_rows(["a", "b", "c"]);
    let text = export(&of(&docs, v1::Doc::partition("contoso")));
    let lines: Vec<&str> = text.lines().collect();
    let store = Engine::in_memory();
    let to = block_on(store.entities::<v1::Doc>().create_if_missing()).unwrap();
    block_on(to.insert(&old("adatum", 1, "a"))).unwrap();
    // A handle that has not been opened is opened by the import.
    for to in [to, store.entities::<v1::Doc>()] {
        let store = store.clone();
        let tenant = of(&to, v1::Doc::partition("contoso"));
        let mut import = tenant.import().resume();
        let pushed = block_on(import.push(&lines[..2].join("\n")));
        if let Err(error) = pushed {
            // The second handle is opened after the backfill.
            assert_eq!(error.code(), ErrorCode::SchemaMismatch);
            continue;
        }
        let newer = block_on(store.entities::<v2::Doc>().create_if_missing()).unwrap();
        block_on(newer.backfill::<v2::DocByTitle>().assume_no_older_programs().run()).unwrap();
        let error = block_on(import.push(lines[2])).unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch, "{error}");
        assert!(block_on(newer.get(v2::Doc::key("contoso", 2))).unwrap().is_none());
        assert!(block_on(newer.check().only::<v2::DocByTitle>().run()).unwrap().is_clean());
    }
}
