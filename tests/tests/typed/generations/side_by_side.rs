//! Tests each kind of schema change on real rows. The tests check whether the rules allow the change, how the newer release reads the rows of the older one,
//! and how both releases write at the same time.

use std::fmt::Debug;

use pollster::block_on;
use table_core::schema::{Compatibility, StoredSchema, compare_schemas};
use table_core::table::LEASE;
use table_core::{Engine, Entity, Result, Table, TableStoreExt};
use tests::time::Time;

use super::{refused, table_at};

/// The consequence for the older release once the newer release has opened the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Older {
    /// The older release can continue to write.
    Writes,
    /// The next write of the older release is rejected, as is its next start.
    Refused,
    /// The newer release is rejected, and the older release continues by itself.
    Alone,
}

/// Runs both releases. `rows` are the rows of the older release, and `reads` are the same entities in the newer release.
fn run<Old, New>(
    name: &str,
    expected: (Compatibility, Older),
    (rows, insert): (&[Old], impl AsyncFn(&Table<Old, Engine>, &Old) -> Result<()>),
    reads: &[New],
) where
    Old: Entity + Debug + Clone + PartialEq,
    New: Entity + Debug + Clone + PartialEq,
{
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let verdict = compare_schemas(&StoredSchema::of(Old::SCHEMA), &StoredSchema::of(New::SCHEMA));
        assert_eq!(verdict.compatibility(), expected.0, "{name}: {verdict}");
        let read = async || store.table::<New>().scan("a test").max_rows(100).collect().await;

        let old = table_at::<Old>(&time, &store).create_if_missing().await.unwrap();
        let (last, first) = rows.split_last().unwrap();
        for row in first {
            insert(&old, row).await.unwrap();
        }
        // A release must be rejected exactly if it would fail to read a row, or would read a value that was not written.
        let is_allowed = verdict.compatibility().is_allowed();
        let is_read = read().await.is_ok_and(|found| found == reads[..first.len()]);
        assert_eq!(is_read, verdict.compatibility() <= Compatibility::NeedsAcceptance, "{name}");
        let new = table_at::<New>(&time, &store).create_if_missing().await;
        assert_eq!(new.is_ok(), is_allowed, "{name}");
        let stored = store.table::<New>().schema_record().await.unwrap().unwrap();
        let schema = if is_allowed { New::SCHEMA } else { Old::SCHEMA };
        assert_eq!(stored.schema, StoredSchema::of(schema), "{name}");

        time.pass(LEASE * 2);
        let outcome = insert(&old, last).await;
        let restarted = table_at::<Old>(&time, &store).create_if_missing().await;
        let older = match (new.is_ok(), refused(outcome)) {
            (true, false) => Older::Writes,
            (true, true) => Older::Refused,
            (false, _) => Older::Alone,
        };
        assert_eq!((older, restarted.is_ok()), (expected.1, older != Older::Refused), "{name}");
        if older == Older::Writes {
            assert_eq!(read().await.unwrap(), reads, "{name}");
        }
    });
}

/// Declares a test for one change. It contains the expected verdict, the older release and its rows, and the newer release with the same entities.
macro_rules! change {
    (
        $(#[$doc:meta])*
        $name:ident: $verdict:ident, $older:ident;
        old { $($old:tt)* } $rows:expr;
        new { $($new:tt)* } $reads:expr;
    ) => {
        mod $name {
            mod old {
                #[derive(table_core::Entity, Clone, Debug, PartialEq)]
                #[entity(table = "Rows")]
                $($old)*
            }
            mod new {
                #[derive(table_core::Entity, Clone, Debug, PartialEq)]
                #[entity(table = "Rows")]
                $($new)*
            }

            $(#[$doc])*
            #[test]
            fn both_releases() {
                let rows = { use old::Row; let row: fn(u32) -> Row = $rows; [row(1), row(2), row(3)] };
                let reads = { use new::Row; let row: fn(u32) -> Row = $reads; [row(1), row(2), row(3)] };
                let expected = (super::Compatibility::$verdict, super::Older::$older);
                let insert = async |table: &super::Table<old::Row, super::Engine>, row: &old::Row| {
                    table.insert(row).await.map(drop)
                };
                super::run(stringify!($name), expected, (&rows, insert), &reads);
            }
        }
    };
}

fn team() -> String {
    "a".to_owned()
}

change! {
    an_optional_property_is_added: Compatible, Writes;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: Option<i32> } }
    |id| Row { team: super::team(), id, age: None };
}

change! {
    a_required_property_is_added: NeedsRewrite, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i32 } }
    |id| Row { team: super::team(), id, age: 0 };
}

change! {
    an_optional_property_is_removed: Compatible, Writes;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: Option<i32> } }
    |id| Row { team: super::team(), id, age: Some(36) };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
}

change! {
    a_required_property_is_removed: Compatible, Writes;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i32 } }
    |id| Row { team: super::team(), id, age: 36 };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
}

change! {
    a_required_property_becomes_optional: Compatible, Writes;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i32 } }
    |id| Row { team: super::team(), id, age: 36 };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: Option<i32> } }
    |id| Row { team: super::team(), id, age: Some(36) };
}

change! {
    an_optional_property_becomes_required: NeedsRewrite, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: Option<i32> } }
    |id| Row { team: super::team(), id, age: None };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i32 } }
    |id| Row { team: super::team(), id, age: 36 };
}

change! {
    a_number_is_widened: NeedsBackfill, Refused;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i32 } }
    |id| Row { team: super::team(), id, age: 36 };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i64 } }
    |id| Row { team: super::team(), id, age: 36 };
}

change! {
    a_number_is_narrowed: NeedsRewrite, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i64 } }
    |id| Row { team: super::team(), id, age: 36 };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i32 } }
    |id| Row { team: super::team(), id, age: 36 };
}

change! {
    a_text_becomes_a_number: Refused, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: String } }
    |id| Row { team: super::team(), id, age: "36".to_owned() };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i32 } }
    |id| Row { team: super::team(), id, age: 36 };
}

change! {
    a_property_is_renamed: NeedsRewrite, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i32 } }
    |id| Row { team: super::team(), id, age: 36 };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub years: i32 } }
    |id| Row { team: super::team(), id, years: 36 };
}

change! {
    a_property_is_renamed_and_keeps_its_stored_name: Same, Writes;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i32 } }
    |id| Row { team: super::team(), id, age: 36 };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[property("Age")] pub years: i32 } }
    |id| Row { team: super::team(), id, years: 36 };
}

change! {
    a_value_is_stored_in_chunks: Compatible, Refused;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub data: Vec<u8> } }
    |id| Row { team: super::team(), id, data: vec![7; 60_000] };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[property(chunks)] pub data: Vec<u8> } }
    |id| Row { team: super::team(), id, data: vec![7; 60_000] };
}

change! {
    a_value_is_no_longer_stored_in_chunks: NeedsRewrite, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[property(chunks)] pub data: Vec<u8> } }
    |id| Row { team: super::team(), id, data: vec![7; 70_000] };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub data: Vec<u8> } }
    |id| Row { team: super::team(), id, data: vec![7; 70_000] };
}

change! {
    /// The second chunk of the old value has the same name as the new property.
    evo_8_a_chunk_becomes_a_property: Refused, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[property(chunks)] pub data: Vec<u8> } }
    |id| Row { team: super::team(), id, data: vec![7; 70_000] };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub data1: Option<Vec<u8>> } }
    |id| Row { team: super::team(), id, data1: None };
}

change! {
    /// The old property has the same name as the second chunk of the new value.
    evo_8_a_property_becomes_a_chunk: Refused, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub data: Vec<u8>, pub data1: Option<i32> } }
    |id| Row { team: super::team(), id, data: vec![7], data1: Some(1) };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[property(chunks)] pub data: Vec<u8> } }
    |id| Row { team: super::team(), id, data: vec![7] };
}

change! {
    an_optional_value_in_json_is_added: Compatible, Writes;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[property(json)] pub tags: Option<Vec<String>> } }
    |id| Row { team: super::team(), id, tags: None };
}

change! {
    an_optional_value_in_a_json_wrapper_is_added: Compatible, Writes;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub tags: table_core::Json<Option<Vec<String>>> } }
    |id| Row { team: super::team(), id, tags: table_core::Json(None) };
}

change! {
    a_required_value_in_json_is_added: NeedsRewrite, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[property(json)] pub tags: Vec<String> } }
    |id| Row { team: super::team(), id, tags: Vec::new() };
}

change! {
    a_value_in_json_becomes_optional: Compatible, Writes;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[property(json)] pub tags: Vec<String> } }
    |id| Row { team: super::team(), id, tags: Vec::new() };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[property(json)] pub tags: Option<Vec<String>> } }
    |id| Row { team: super::team(), id, tags: Some(Vec::new()) };
}

change! {
    an_optional_value_in_json_becomes_required: NeedsRewrite, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[property(json)] pub tags: Option<Vec<String>> } }
    |id| Row { team: super::team(), id, tags: None };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[property(json)] pub tags: Vec<String> } }
    |id| Row { team: super::team(), id, tags: Vec::new() };
}

change! {
    parts_of_one_codec_change_their_places: NeedsRewrite, Alone;
    old { #[partition_key(team)] #[row_key(id, "_", chief)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[digits(3)] pub chief: u32 } }
    |id| Row { team: super::team(), id, chief: 9 };
    new { #[partition_key(team)] #[row_key(chief, "_", id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[digits(3)] pub chief: u32 } }
    |id| Row { team: super::team(), id, chief: 9 };
}

change! {
    a_key_field_is_renamed: Same, Writes;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[partition_key(team)] #[row_key(number)] pub(super) struct Row { pub team: String, #[digits(3)] pub number: u32 } }
    |number| Row { team: super::team(), number };
}

change! {
    a_key_field_is_also_a_property: NeedsRewrite, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] #[property(also)] pub id: u32 } }
    |id| Row { team: super::team(), id };
}

change! {
    a_key_field_is_no_longer_a_property: Compatible, Writes;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] #[property(also)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
}

change! {
    a_key_has_more_digits: NeedsRewrite, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(4)] pub id: u32 } }
    |id| Row { team: super::team(), id };
}

change! {
    a_key_accepts_more_texts: Compatible, Refused;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { #[without('_')] pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
}

change! {
    a_key_loses_a_part: Refused, Alone;
    old { #[partition_key(team)] #[row_key(id, "_", year)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, #[digits(4)] pub year: u16 } }
    |id| Row { team: super::team(), id, year: 2026 };
    new { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
}

change! {
    a_kind_is_added: NeedsRewrite, Alone;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[entity(kind = "Row")] #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
}

change! {
    an_index_is_added: NeedsBackfill, Writes;
    old { #[partition_key(team)] #[row_key("row_", id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i32 } }
    |id| Row { team: super::team(), id, age: 36 };
    new { #[partition_key(team)] #[row_key("row_", id)] #[index(ByAge, row_key("age_", age, "_", id))] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32, pub age: i32 } }
    |id| Row { team: super::team(), id, age: 36 };
}

change! {
    a_feed_is_added: NeedsBackfill, Writes;
    old { #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
    new { #[entity(feed)] #[partition_key(team)] #[row_key(id)] pub(super) struct Row { pub team: String, #[digits(3)] pub id: u32 } }
    |id| Row { team: super::team(), id };
}
