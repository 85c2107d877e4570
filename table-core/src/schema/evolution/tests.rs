mod meaning;

use std::collections::BTreeSet;

use proptest::prelude::*;
use table_store::EdmType;

use super::*;
use crate::key::codec::{Alphabet, Form};
use crate::schema::IndexKind;
use crate::schema::stored::{Source, StoredIndex, StoredPiece, StoredProperty};

/// Expands to the schema lines for all chunks of a property except the first.
macro_rules! more_chunks {
    ($name:literal, $edm:literal) => {
        more_chunks!($name, $edm, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($name:literal, $edm:literal, $($at:literal)+) => {
        concat!($("property ", $name, $at, " ", $edm, " optional\n"),+)
    };
}

const BASE: &str = concat!(
    r#"schema 1
entity Employee
table Company
PartitionKey department without(_) 0..512 ordered legal
RowKey "empid_"
RowKey id digits(6) 6 ordered [0-9]
RowKey "_"
RowKey stage one_of(draft|final) 5 ordered [a-z]
property Age Edm.Int32
property Email Edm.String
property Level Edm.Int64
property Nickname Edm.String optional
property Photo Edm.Binary
"#,
    more_chunks!("Photo", "Edm.Binary"),
    r#"keeps copies_from Manager
index ByAge copies
index ByAge RowKey .Age padded 10 ordered [0-9]
index ByAge keeps Age
index ByAge keeps Email
index ByAge property Email Edm.String
index ByAge property Id Edm.String
index ByEmail copies unique
index ByEmail RowKey "email_"
index ByEmail RowKey .Email text 0..512 ordered legal
index ByEmail keeps *
"#
);

/// Applies text replacements to a schema. Returns the evolution from the original schema to the changed schema, and the numbers of its rules.
fn judged(base: &str, edits: &[(&str, &str)]) -> (Evolution, Vec<&'static str>) {
    let mut text = base.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let evolution = compare_schemas(&base.parse().unwrap(), &text.parse().unwrap());
    let ids = evolution.changes.iter().map(|change| change.rule.id).collect();
    (evolution, ids)
}

const DEPARTMENT: &str = "PartitionKey department without(_) 0..512 ordered legal\n";
const ID: &str = "RowKey id digits(6) 6 ordered [0-9]\n";
const STAGE: &str = "RowKey \"_\"\nRowKey stage one_of(draft|final) 5 ordered [a-z]\n";
const BY_AGE: &str = "index ByAge copies\nindex ByAge RowKey .Age padded 10 ordered [0-9]\nindex ByAge keeps Age\nindex ByAge keeps Email\nindex ByAge property Email Edm.String\nindex ByAge property Id Edm.String\n";

const WHOLE: &str = "index ByEmail copies unique\nindex ByEmail RowKey \"email_\"\nindex ByEmail RowKey .Email text 0..512 ordered legal\nindex ByEmail keeps *\n";

/// The number of a rule, and the text replacements that turn the base schema into one changed according to that rule.
type Case = (&'static str, &'static [(&'static str, &'static str)]);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("EVO-1", &[("property Level", "property Badge Edm.Guid optional\nproperty Level")]),
    ("EVO-2", &[("property Level", "property Badge Edm.Guid\nproperty Level")]),
    ("EVO-2", &[("RowKey stage ", "RowKey .Stage "), ("property Photo E", "property Stage Edm.String\nproperty Photo E")]),
    ("EVO-3", &[("property Level Edm.Int64\n", "")]),
    ("EVO-4", &[("Level Edm.Int64", "Level Edm.Int64 optional")]),
    ("EVO-5", &[("Nickname Edm.String optional", "Nickname Edm.String")]),
    ("EVO-6", &[("Age Edm.Int32", "Age Edm.Int64")]),
    ("EVO-6", &[("Age Edm.Int32", "Age Edm.Double")]),
    ("EVO-7", &[("Level Edm.Int64", "Level Edm.Int32")]),
    ("EVO-7", &[("Level Edm.Int64", "Level Edm.Double")]),
    ("EVO-8", &[("Level Edm.Int64", "Level Edm.String")]),
    ("EVO-9", &[("table Company", "table Company\nkind Employee")]),
    ("EVO-10", &[("\"empid_\"", "\"id_\"")]),
    ("EVO-10", &[("RowKey \"empid_\"\n", "")]),
    ("EVO-10", &[(DEPARTMENT, "PartitionKey \"department_\"\nPartitionKey department without(_) 0..512 ordered legal\n")]),
    ("EVO-11", &[("digits(6) 6", "digits(8) 8")]),
    ("EVO-11", &[("digits(6) 6", "digits(4) 4")]),
    ("EVO-11", &[("digits(6) 6", "padded 10")]),
    ("EVO-11", &[("digits(6) 6", "desc(digits(6)) 6")]),
    ("EVO-11", &[("digits(6) 6 ordered [0-9]", "digits(6) 7 ordered [-0-9]")]),
    ("EVO-11", &[("without(_)", "escaped")]),
    ("EVO-11", &[("without(_)", "without(-)")]),
    ("EVO-11", &[("one_of(draft|final)", "one_of(draft|open)")]),
    ("EVO-11", &[("one_of(draft|final) 5 ordered [a-z]", "one_of(draft|final) 11 ordered [a-z|]")]),
    ("EVO-12", &[("without(_)", "text")]),
    ("EVO-12", &[("one_of(draft|final) 5", "one_of(draft|final|open) 4..5")]),
    ("EVO-13", &[("digits(6) 6", "ticks 19")]),
    ("EVO-13", &[("digits(6) 6", "text 0..512")]),
    ("EVO-14", &[(ID, "ID"), (STAGE, ID), ("ID", "RowKey stage one_of(draft|final) 5 ordered [a-z]\nRowKey \"_\"\n")]),
    ("EVO-14", &[(STAGE, ""), (DEPARTMENT, "PartitionKey department without(_) 0..512 ordered legal\nPartitionKey \"_\"\nPartitionKey stage one_of(draft|final) 5 ordered [a-z]\n")]),
    ("EVO-15", &[(STAGE, "RowKey \"_\"\nRowKey stage one_of(draft|final) 5 ordered [a-z]\nRowKey .Level padded 20 ordered [0-9]\n")]),
    ("EVO-16", &[(STAGE, "RowKey \"_\"\nRowKey stage one_of(draft|final) 5 ordered [a-z]\nRowKey at ticks 19 ordered [0-9]\n")]),
    ("EVO-16", &[(STAGE, "RowKey \"_\"\nRowKey stage one_of(draft|final) 5 ordered [a-z]\nRowKey .Nickname text 0..512 ordered legal\n")]),
    ("EVO-17", &[(STAGE, "")]),
    ("EVO-18", &[(DEPARTMENT, "PartitionKey id bucket(digits(6):6,16) 2 unordered [0-9]\nPartitionKey \"_\"\nPartitionKey department without(_) 0..512 ordered legal\n")]),
    ("EVO-19", &[("table Company", "table Staff")]),
    ("EVO-20", &[("index ByEmail copies unique", "index ByLevel copies\nindex ByLevel RowKey .Level padded 20 ordered [0-9]\nindex ByLevel keeps *\nindex ByEmail copies unique")]),
    ("EVO-21", &[(BY_AGE, "")]),
    ("EVO-22", &[("ByAge RowKey .Age padded 10", "ByAge RowKey .Age digits(3) 3")]),
    ("EVO-22", &[("ByAge RowKey .Age", "ByAge RowKey .Level")]),
    ("EVO-22", &[("index ByAge copies", "index ByAge list")]),
    ("EVO-22", &[("index ByAge RowKey", "index ByAge PartitionKey \"age\"\nindex ByAge RowKey")]),
    ("EVO-22", &[("index ByAge RowKey", "index ByAge table Ages\nindex ByAge RowKey")]),
    ("EVO-22", &[("\"email_\"", "\"mail_\"")]),
    ("EVO-23", &[("index ByAge keeps Age", "index ByAge keeps Age\nindex ByAge keeps Level")]),
    ("EVO-23", &[("index ByAge keeps Age\nindex ByAge keeps Email", "index ByAge keeps *")]),
    ("EVO-24", &[("index ByAge keeps Email\n", "")]),
    ("EVO-24", &[("index ByEmail keeps *", "index ByEmail keeps Email")]),
    ("EVO-25", &[("index ByAge copies", "index ByAge copies unique")]),
    ("EVO-26", &[("index ByEmail copies unique", "index ByEmail copies")]),
    ("EVO-27", &[("index ByAge copies", "index ByAge copies sparse\nindex ByAge when is_active")]),
    ("EVO-28", &[("index ByAge copies", "index ByAge copies sparse")]),
    ("EVO-29", &[("index ByAge property Id", "index ByAge property Number")]),
    ("EVO-29", &[("index ByAge property Id Edm.String", "index ByAge property Id Edm.Int32")]),
    ("EVO-30", &[("keeps copies_from Manager\n", "keeps copies_from Manager\nkeeps feed\n")]),
    ("EVO-30", &[("keeps copies_from Manager\n", "keeps copies_from Deputy\nkeeps copies_from Manager\n")]),
    ("EVO-30", &[("keeps copies_from Manager\n", "keeps copied_by Manager\nkeeps copies_from Manager\n")]),
    ("EVO-31", &[("keeps copies_from Manager\n", "")]),
    ("EVO-32", &[("entity Employee", "entity Staff")]),
    ("EVO-33", &[(more_chunks!("Photo", "Edm.Binary"), "")]),
    ("EVO-34", &[("property Level", concat!(more_chunks!("Email", "Edm.String"), "property Level"))]),
    ("EVO-34", &[("property Level", concat!(more_chunks!("Nickname", "Edm.String"), "property Level"))]),
    ("EVO-3", &[("property Photo Edm.Binary\n", ""), (more_chunks!("Photo", "Edm.Binary"), "")]),
    ("EVO-2", &[("property Level", concat!("property Text Edm.String\n", more_chunks!("Text", "Edm.String"), "property Level"))]),
    ("EVO-8", &[("Photo Edm.Binary", "Photo Edm.String"), ("Edm.Binary optional", "Edm.String optional")]),
];

#[test]
fn evo_1_to_34_each_change_is_judged_only_by_its_rule() {
    for (rule, edits) in CASES {
        let (evolution, ids) = judged(BASE, edits);
        assert_eq!(ids, [*rule], "{edits:?}: {evolution}");
        let listed = EVOLUTION_RULES.iter().find(|listed| listed.id == *rule).unwrap();
        assert_eq!(evolution.compatibility(), listed.compatibility);
    }
}

#[test]
fn an_index_that_includes_another_property_instead_of_one_needs_a_backfill_and_acceptance() {
    let (evolution, ids) = judged(BASE, &[("index ByAge keeps Email", "index ByAge keeps Level")]);
    assert_eq!(ids, ["EVO-23", "EVO-24"]);
    assert_eq!(evolution.compatibility(), Compatibility::NeedsAcceptance);
}

#[test]
fn every_rule_has_a_case_and_a_row_in_the_document() {
    let cases: BTreeSet<_> = CASES.iter().map(|(rule, _)| *rule).collect();
    let document = include_str!("../../../../docs/schema-evolution.md");
    let rows: Vec<_> = document.lines().filter(|line| line.starts_with("| EVO-")).collect();
    assert_eq!(rows.len(), EVOLUTION_RULES.len());
    for (rule, row) in EVOLUTION_RULES.iter().zip(rows) {
        assert!(cases.contains(rule.id), "{}", rule.id);
        let Rule { id, change, compatibility, then, advice } = rule;
        assert_eq!(row, format!("| {id} | {change} | {compatibility} | {then} | {advice} |"));
    }
}

#[test]
fn changes_that_need_a_backfill_are_named() {
    let pending = |edits: &[(&str, &str)]| {
        let (evolution, _) = judged(BASE, edits);
        evolution.changes.into_iter().filter_map(|change| change.pending).collect::<Vec<_>>()
    };
    assert_eq!(pending(&[("Age Edm.Int32", "Age Edm.Int64")]), ["property Age"]);
    assert_eq!(pending(&[("index ByAge copies", "index ByAge copies unique")]), ["index ByAge"]);
    for (rule, edits) in CASES {
        let compatibility = EVOLUTION_RULES.iter().find(|listed| listed.id == *rule).unwrap().compatibility;
        assert_eq!(!pending(edits).is_empty(), compatibility == Compatibility::NeedsBackfill, "{rule}");
    }
}

#[test]
fn an_older_program_writes_next_to_an_optional_property_and_not_next_to_a_required_one() {
    let writes = |index: &str, property: &str| {
        let older: StoredSchema = BASE.replace(WHOLE, index).parse().unwrap();
        let newer = BASE
            .replace(WHOLE, index)
            .replace("property Level", &format!("property Badge Edm.Guid{property}\nproperty Level"));
        let newer: StoredSchema = newer.parse().unwrap();
        compare_schemas(&older, &newer).can_write_concurrently((&newer, &older), |_| false)
    };
    let chunks = concat!(" optional\n", more_chunks!("Badge", "Edm.Guid"));
    assert!(writes("", chunks.trim_end()), "a new property in chunks");
    for index in ["", "index ByLevel list\nindex ByLevel RowKey \"level_\"\n", WHOLE] {
        assert!(writes(index, " optional"), "{index}");
        assert!(!writes(index, ""), "{index}");
    }
}

/// The newer program can read everything the older one writes, because it requires fewer properties.
#[test]
fn an_older_program_writes_next_to_a_program_that_requires_fewer_properties() {
    let older: StoredSchema = BASE.parse().unwrap();
    for (property, now) in
        [("property Level Edm.Int64\n", ""), ("Level Edm.Int64", "Level Edm.Int64 optional")]
    {
        let newer: StoredSchema = BASE.replace(property, now).parse().unwrap();
        let evolution = compare_schemas(&newer, &older);
        assert!(evolution.can_write_concurrently((&newer, &older), |_| false), "{evolution}");
        let evolution = compare_schemas(&older, &newer);
        assert!(!evolution.can_write_concurrently((&older, &newer), |_| false), "{evolution}");
    }
}

/// An older program would overwrite only the first chunk and leave the others in place, or read only the first one.
#[test]
fn a_program_without_chunks_does_not_write_next_to_a_program_with_chunks() {
    let chunked: StoredSchema = BASE.parse().unwrap();
    let plain: StoredSchema = BASE.replace(more_chunks!("Photo", "Edm.Binary"), "").parse().unwrap();
    for (newer, older) in [(&chunked, &plain), (&plain, &chunked)] {
        let evolution = compare_schemas(newer, older);
        assert!(!evolution.can_write_concurrently((newer, older), |_| true), "{evolution}");
    }
}

/// The rules for changes that make stored values of a property unreadable, or cause them to be misread.
const MISREAD: [&str; 4] = ["EVO-6", "EVO-7", "EVO-8", "EVO-33"];

/// Compares `between` with `new`. The comparison includes the properties removed between `old` and `between`.
fn judged_after(old: &StoredSchema, between: &StoredSchema, new: &StoredSchema) -> Evolution {
    let removed = RemovedProperties::default().after(old, between);
    compare_with_removed(between, &removed, new)
}

#[test]
fn a_change_of_a_property_is_found_although_a_schema_without_properties_was_stored_in_between() {
    let old: StoredSchema = BASE.parse().unwrap();
    let between = StoredSchema { properties: Vec::new(), ..old.clone() };
    for (rule, edits) in CASES {
        let text = edits.iter().fold(BASE.to_owned(), |text, (from, to)| text.replace(from, to));
        let evolution = judged_after(&old, &between, &text.parse().unwrap());
        let ids: Vec<_> = evolution.changes.iter().map(|change| change.rule.id).collect();
        let misread: Vec<_> = ids.iter().filter(|id| MISREAD.contains(id)).collect();
        assert_eq!(
            misread,
            if MISREAD.contains(rule) { vec![rule] } else { Vec::new() },
            "{edits:?}: {evolution}"
        );
    }
}

#[test]
fn a_removed_property_is_declared_again_only_with_its_type() {
    let old: StoredSchema = BASE.parse().unwrap();
    let between: StoredSchema = BASE.replace("property Nickname Edm.String optional\n", "").parse().unwrap();
    let again = |property: &str| {
        let new = BASE.replace("Nickname Edm.String optional", property).parse().unwrap();
        let evolution = judged_after(&old, &between, &new);
        (
            evolution.compatibility(),
            evolution.changes.into_iter().map(|change| change.what).collect::<Vec<_>>(),
        )
    };
    let what = "property `Nickname` was removed and is declared again: Edm.String, may be absent";
    assert_eq!(again("Nickname Edm.String optional"), (Compatibility::Compatible, vec![what.to_owned()]));
    let (compatibility, changes) = again("Nickname Edm.Guid optional");
    assert_eq!(compatibility, Compatibility::Refused);
    let what = "property `Nickname` was removed and is declared again: Edm.String becomes Edm.Guid";
    assert_eq!(changes.last().unwrap(), what);
}

/// Chunks that remain from a longer value would be read as part of a later value.
#[test]
fn a_removed_property_does_not_become_a_chunk() {
    let chunked: StoredSchema = BASE.parse().unwrap();
    let plain: StoredSchema = BASE.replace(more_chunks!("Photo", "Edm.Binary"), "").parse().unwrap();
    let evolution = judged_after(&chunked, &plain, &chunked);
    assert_eq!(evolution.compatibility(), Compatibility::Refused, "{evolution}");
    let without: StoredSchema = plain.to_string().replace("property Photo Edm.Binary\n", "").parse().unwrap();
    let evolution = judged_after(&chunked, &without, &chunked);
    assert_eq!(evolution.compatibility(), Compatibility::NeedsRewrite, "{evolution}");
    let ids: Vec<_> = evolution.changes.iter().map(|change| change.rule.id).collect();
    assert_eq!(ids, ["EVO-2"], "the value is required: {evolution}");
    let other =
        without.to_string().replace("property Nick", "property Photo3 Edm.String optional\nproperty Nick");
    let evolution = judged_after(&chunked, &without, &other.parse().unwrap());
    assert_eq!(evolution.compatibility(), Compatibility::Refused, "{evolution}");
}

#[test]
fn another_name_of_a_key_field_is_not_a_change() {
    let (evolution, _) = judged(BASE, &[("RowKey id ", "RowKey number ")]);
    assert_eq!(evolution.compatibility(), Compatibility::Same);
}

/// Returns the rules that apply when `#[property(also)]` is added to a key field, and when it is removed.
fn judged_also(edits: &[(&str, &str)]) -> [Vec<&'static str>; 2] {
    let also = edits.iter().fold(BASE.to_owned(), |text, (from, to)| text.replace(from, to));
    let (without, also): (StoredSchema, StoredSchema) = (BASE.parse().unwrap(), also.parse().unwrap());
    [(&without, &also), (&also, &without)].map(|(old, new)| {
        let evolution = compare_schemas(old, new);
        evolution.changes.iter().map(|change| change.rule.id).collect()
    })
}

/// Tests that the single variant `draft|final` is not mistaken for the variants `draft` and `final`.
#[test]
fn a_variant_with_a_bar_is_not_two_variants() {
    let base = BASE.replace("one_of(draft|final) 5 ordered [a-z]", "one_of(draft|final) 11 ordered [a-z|]");
    let (evolution, ids) = judged(
        &base,
        &[("one_of(draft|final) 11 ordered [a-z|]", "one_of(draft|final|open) 4..5 ordered [a-z]")],
    );
    assert_eq!(ids, ["EVO-11"], "{evolution}");
}

#[test]
fn a_key_field_that_is_also_a_property_has_the_same_key() {
    let stage = ("property Photo E", "property Stage Edm.String\nproperty Photo E");
    assert_eq!(judged_also(&[("RowKey stage ", "RowKey .Stage "), stage]), [["EVO-2"], ["EVO-3"]]);
    let optional = ("property Photo E", "property Stage Edm.String optional\nproperty Photo E");
    assert_eq!(judged_also(&[("RowKey stage ", "RowKey .Stage "), optional]), [["EVO-1"], ["EVO-3"]]);
    // Copies in `ByAge` contain the key field as text before the change, and the property after it.
    let id = [("RowKey id ", "RowKey .Id "), ("property Level", "property Id Edm.Int64\nproperty Level")];
    let copies = ("ByAge property Id Edm.String", "ByAge property Id Edm.Int64");
    assert_eq!(judged_also(&[id[0], id[1], copies]), [vec!["EVO-2", "EVO-29"], vec!["EVO-3", "EVO-29"]]);
    // In this case, the codec changes as well.
    let wider = ("RowKey id digits(6) 6", "RowKey .Id digits(8) 8");
    assert_eq!(judged_also(&[wider, id[1], copies])[0][0], "EVO-17");
}

/// The rules for changes to an entity type's kind, or to the literals or values in its keys.
const OTHER_FORM: [&str; 8] = ["EVO-9", "EVO-10", "EVO-13", "EVO-14", "EVO-15", "EVO-16", "EVO-17", "EVO-18"];

#[test]
fn evo_32_types_with_keys_of_one_form_may_be_one_type() {
    for (rule, edits) in CASES.iter().filter(|(rule, _)| *rule != "EVO-32") {
        let (evolution, _) = judged(BASE, &[*edits, &[("entity Employee", "entity Staff")]].concat());
        assert_eq!(evolution.keeps_form_of_keys(), !OTHER_FORM.contains(rule), "{edits:?}: {evolution}");
    }
}

#[test]
fn a_renamed_property_counts_as_removed_and_required() {
    let (evolution, ids) = judged(BASE, &[("property Level", "property Grade")]);
    assert_eq!(ids, ["EVO-3", "EVO-2"]);
    assert!(evolution.to_string().contains("keep its stored name with `#[property(\"…\")]`"));
}

#[test]
fn swapped_parts_of_one_codec_are_found_despite_equal_fingerprints() {
    let base = BASE.replace(STAGE, "RowKey manager digits(6) 6 ordered [0-9]\n");
    let (evolution, ids) = judged(
        &base,
        &[("RowKey id", "RowKey X"), ("RowKey manager", "RowKey id"), ("RowKey X", "RowKey manager")],
    );
    assert_eq!(ids, ["EVO-14"]);
    assert_eq!(
        evolution.changes[0].what,
        "key (department | id, manager) becomes (department | manager, id)"
    );
}

fn text() -> impl Strategy<Value = String> {
    "[a-c_ \"]{0,3}"
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof!["[a-d]".prop_map(Source::Key), "[A-D]".prop_map(Source::Property)]
}

fn piece() -> impl Strategy<Value = StoredPiece> {
    let codec = prop_oneof![
        Just("digits(6)"),
        Just("text"),
        Just("without( )"),
        Just("bucket(text,16)"),
        Just("one_of(a|b c)"),
        Just("one_of(a)"),
        Just("padded")
    ];
    let form =
        (0..3usize, 0..3usize, any::<bool>(), "[a-c0-9 -]{0,4}").prop_map(|(min, more, ordered, of)| Form {
            min,
            max: min + more,
            ordered,
            alphabet: Alphabet::of(&of),
        });
    prop_oneof![
        text().prop_map(StoredPiece::Literal),
        (source(), codec, form).prop_map(|(source, codec, form)| StoredPiece::Part {
            source,
            codec: codec.to_owned(),
            form
        })
    ]
}

fn key() -> impl Strategy<Value = Vec<StoredPiece>> {
    prop::collection::vec(piece(), 0..4)
}

fn index() -> impl Strategy<Value = StoredIndex> {
    let keep = prop::option::of(
        prop::collection::btree_set("[A-D]", 0..3).prop_map(|names| names.into_iter().collect()),
    );
    let place = (prop::option::of("[a-bA]b"), prop::option::of(prop::collection::vec(piece(), 0..3)));
    let properties = prop::collection::btree_map("[A-E]", (0..8usize, any::<bool>()), 0..3);
    (any::<[bool; 3]>(), prop::option::of(text()), place, key(), keep, properties).prop_map(
        |([list, unique, sparse], when, (table, partition_key), row_key, keep, properties)| StoredIndex {
            name: String::new(),
            kind: if list { IndexKind::List } else { IndexKind::Copies },
            unique,
            sparse,
            when,
            table,
            partition_key,
            row_key,
            include: keep,
            properties: properties.into_iter().map(property).collect(),
        },
    )
}

fn property((name, (edm, optional)): (String, (usize, bool))) -> StoredProperty {
    StoredProperty { name, edm: EdmType::ALL[edm], optional }
}

prop_compose! {
    fn schema()(
        table in "[A-Ba]b",
        kind in prop::option::of(text()),
        partition_key in key(),
        row_key in key(),
        properties in prop::collection::btree_map("[A-D]", (0..8usize, any::<bool>()), 0..4),
        indexes in prop::collection::btree_map("[X-Z]", index(), 0..3),
        keeps in prop::sample::subsequence(vec!["copied_by Manager", "copies_from Manager", "feed", "copied_by  ", ""], 0..=5),
    ) -> StoredSchema {
        let labels: BTreeSet<_> = partition_key.iter().chain(&row_key).filter_map(label).map(str::to_owned).collect();
        let mut indexes = indexes;
        for index in indexes.values_mut() {
            // A field outside the entity's key must be a property.
            for piece in index.row_key.iter_mut().chain(index.partition_key.iter_mut().flatten()) {
                if let StoredPiece::Part { source, .. } = piece
                    && let Source::Key(name) = source
                    && !labels.contains(name)
                {
                    *source = Source::Property(name.to_uppercase());
                }
            }
        }
        StoredSchema {
            entity: "Employee".to_owned(),
            table,
            kind,
            partition_key,
            row_key,
            properties: properties.into_iter().map(property).collect(),
            indexes: indexes.into_iter().map(|(name, index)| StoredIndex { name, ..index }).collect(),
            keeps: keeps.into_iter().map(str::to_owned).collect(),
        }
        .normal()
    }
}

/// Generates two schemas that often differ in only one detail.
fn pair() -> impl Strategy<Value = (StoredSchema, StoredSchema)> {
    (schema(), schema(), 0..64u8).prop_map(|(old, other, edits)| {
        let mut new = old.clone();
        if edits & 1 != 0 {
            new.table = other.table;
        }
        if edits & 2 != 0 {
            new.partition_key = other.partition_key;
        }
        if edits & 4 != 0 {
            new.row_key = other.row_key;
        }
        if edits & 8 != 0 {
            new.properties = other.properties;
        }
        if edits & 16 != 0 {
            new.indexes = other.indexes;
        }
        if edits & 32 != 0 {
            new.kind = other.kind;
        }
        (old, new)
    })
}

fn label(piece: &StoredPiece) -> Option<&str> {
    match piece {
        StoredPiece::Part { source: Source::Key(label), .. } => Some(label),
        _ => None,
    }
}

/// Returns the Rust names of fields stored only in the keys, in key order.
fn labels(schema: &StoredSchema) -> Vec<&str> {
    let pieces = schema.partition_key.iter().chain(&schema.row_key);
    pieces.filter_map(label).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_schema_compared_with_itself_is_the_same(schema in schema()) {
        prop_assert_eq!(compare_schemas(&schema, &schema), Evolution::default());
    }

    #[test]
    fn any_schema_is_read_back_from_its_text(schema in schema()) {
        prop_assert_eq!(schema.to_string().parse::<StoredSchema>().unwrap(), schema);
    }

    #[test]
    fn same_schemas_have_equal_fingerprints((old, new) in pair()) {
        let evolution = compare_schemas(&old, &new);
        let is_one = old.fingerprint() == new.fingerprint();
        if evolution.is_same() {
            prop_assert!(is_one, "{old}{new}");
        }
        if is_one && labels(&old) == labels(&new) {
            prop_assert!(evolution.is_same(), "{old}{new}{evolution}");
        }
    }

    /// Tests that if a direct change would make a property unreadable, the change is also reported if it goes through intermediate schemas.
    #[test]
    fn a_schema_in_between_hides_no_change_of_a_property((old, new) in pair(), between in schema(), last in schema()) {
        let one_step = compare_schemas(&old, &new);
        let removed = RemovedProperties::default().after(&old, &between).after(&between, &last);
        let three_steps = [
            compare_schemas(&old, &between),
            judged_after(&old, &between, &last),
            compare_with_removed(&last, &removed, &new),
        ];
        let names = |evolution: &Evolution| -> BTreeSet<String> {
            let misread = evolution.changes.iter().filter(|change| MISREAD.contains(&change.rule.id));
            misread.filter_map(|change| change.what.split('`').nth(1)).map(str::to_owned).collect()
        };
        let found: BTreeSet<_> = three_steps.iter().flat_map(names).collect();
        prop_assert!(found.is_superset(&names(&one_step)), "{old}{between}{last}{new}");
    }

    #[test]
    fn renamed_fields_are_the_same(schema in schema()) {
        let renamed = schema.to_string()
            .replace("Key a ", "Key aa ").replace("Key b ", "Key bb ").replace("Key c ", "Key cc ");
        let renamed: StoredSchema = renamed.parse().unwrap();
        prop_assert_eq!(renamed.fingerprint(), schema.fingerprint());
        prop_assert_eq!(compare_schemas(&schema, &renamed), Evolution::default());
    }
}
