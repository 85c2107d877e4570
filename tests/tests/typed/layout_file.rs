//! Tests the layout file. The tests check its contents, the changes that fail the check, and the conditions under which it is written again.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;

use table_core::ErrorCode;
use table_core::layout_file::{Layout, UpdateMode, check};

mod v1 {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub age: i32,
    }
}

mod v2 {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub age: i32,
        pub nickname: Option<String>,
    }
}

mod v3 {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(8)]
        pub id: u32,
        pub age: i32,
    }
}

/// The first schema, but without the `age` property.
mod ageless {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
    }
}

/// A type with the same name, but in another table.
mod in_stock {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Stock")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub count: i32,
    }
}

/// The first schema, but with a different type for the age.
mod words {
    #[derive(table_core::Entity, Debug)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub age: Option<String>,
    }
}

/// The expected layout file for `Employee`. It is compared byte for byte.
const GOLDEN: &str = r#"# The layout of stored entities, checked by `assert_layout!`: review the changes before you commit them.

layout Employee 2f0c8ced834ea206
schema 1
entity Employee
table Company
PartitionKey department text 0..512 ordered legal
RowKey "empid_"
RowKey id digits(6) 6 ordered [0-9]
property Age Edm.Int32
sample Sales empid_000223
row 01 00 01 00 02 03 00 00 41 67 65 00 00 00 00 00 00 00 00 04 00 00 00 24 00 00 00
json {
json   "PartitionKey": "Sales",
json   "RowKey": "empid_000223",
json   "Age": 36
json }
"#;

fn first() -> [Layout; 1] {
    [Layout::of(&[v1::Employee { department: "Sales".into(), id: 223, age: 36 }]).unwrap()]
}

fn second() -> [Layout; 1] {
    let ada = v2::Employee { department: "Sales".into(), id: 223, age: 36, nickname: Some("A".into()) };
    [Layout::of(&[ada]).unwrap()]
}

fn third() -> [Layout; 1] {
    [Layout::of(&[v3::Employee { department: "Sales".into(), id: 223, age: 36 }]).unwrap()]
}

struct File {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn file(text: Option<&str>) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("layouts").join("company.lock");
    if let Some(text) = text {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    File { _folder: folder, path }
}

#[test]
fn the_text_never_changes() {
    let file = file(None);
    let error = check(&file.path, &first(), UpdateMode::Never).unwrap_err();
    assert!(error.to_string().contains("does not exist"), "{error}");
    check(&file.path, &first(), UpdateMode::Allowed).unwrap();
    assert_eq!(fs::read_to_string(&file.path).unwrap(), GOLDEN);
    check(&file.path, &first(), UpdateMode::Never).unwrap();
}

#[test]
fn the_line_ends_of_a_checkout_do_not_matter() {
    check(&file(Some(&GOLDEN.replace('\n', "\r\n"))).path, &first(), UpdateMode::Never).unwrap();
}

/// Tests that the layout file shows the effect of a schema change before the change is deployed (DQ-1).
#[test]
fn a_compatible_change_fails_until_the_file_is_rewritten() {
    let file = file(Some(GOLDEN));
    let error = check(&file.path, &second(), UpdateMode::Never).unwrap_err();
    assert_eq!(error.code(), ErrorCode::SchemaMismatch);
    let text = error.to_string();
    for part in [
        "Employee: compatible\n  EVO-1 compatible: property `Nickname`: Edm.String, may be absent",
        "\n  + property Nickname Edm.String optional\n",
        "\n  - layout Employee 2f0c8ced834ea206\n",
        "`TABLES_UPDATE=1 cargo test`",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(fs::read_to_string(&file.path).unwrap(), GOLDEN);
    check(&file.path, &second(), UpdateMode::Allowed).unwrap();
    check(&file.path, &second(), UpdateMode::Never).unwrap();
}

#[test]
fn a_rewrite_is_written_only_by_force() {
    let file = file(Some(GOLDEN));
    let error = check(&file.path, &third(), UpdateMode::Allowed).unwrap_err().to_string();
    for part in [
        "Employee: needs rewrite\n  EVO-11",
        "the golden row 'Sales' / 'empid_000223' cannot be read: EntityMismatch",
        "`TABLES_UPDATE=force cargo test`",
    ] {
        assert!(error.contains(part), "{part} in {error}");
    }
    check(&file.path, &third(), UpdateMode::Force).unwrap();
    check(&file.path, &third(), UpdateMode::Never).unwrap();
}

#[test]
fn a_removed_property_stays_in_the_file_until_it_is_declared_again() {
    let ageless = [Layout::of(&[ageless::Employee { department: "Sales".into(), id: 223 }]).unwrap()];
    let words = words::Employee { department: "Sales".into(), id: 223, age: Some("old".into()) };
    let words = [Layout::of(&[words]).unwrap()];
    let file = file(Some(GOLDEN));
    check(&file.path, &ageless, UpdateMode::Allowed).unwrap();
    check(&file.path, &ageless, UpdateMode::Never).unwrap();
    let text = fs::read_to_string(&file.path).unwrap();
    assert!(text.contains("ordered [0-9]\nremoved Age Edm.Int32\nsample"), "{text}");
    let error = check(&file.path, &words, UpdateMode::Allowed).unwrap_err().to_string();
    let part =
        "EVO-8 refused: property `Age` was removed and is declared again: Edm.Int32 becomes Edm.String";
    assert!(error.contains(part), "{error}");
    check(&file.path, &words, UpdateMode::Force).unwrap();
    check(&file.path, &words, UpdateMode::Never).unwrap();
    assert!(!fs::read_to_string(&file.path).unwrap().contains("\nremoved "));
}

#[test]
fn a_codec_with_changed_texts_is_found_by_the_golden_row() {
    // An earlier codec that wrote different digits would have this effect. The schemas are equal, but the golden rows differ.
    let text = GOLDEN.replace("sample Sales empid_000223", "sample Sales empid_0002230");
    let error = check(&file(Some(&text)).path, &first(), UpdateMode::Allowed).unwrap_err().to_string();
    assert!(
        error.contains("Employee: needs rewrite\n  the golden row 'Sales' / 'empid_0002230' cannot be read"),
        "{error}"
    );
}

#[test]
fn another_sample_is_not_a_change_of_the_schema() {
    let file = file(Some(GOLDEN));
    let bob = v1::Employee { department: "Sales".into(), id: 7, age: 36 };
    let error = check(&file.path, &[Layout::of(&[bob]).unwrap()], UpdateMode::Never).unwrap_err().to_string();
    assert!(error.contains("Employee: same\n  the schema is the same"), "{error}");
}

#[test]
fn an_added_or_removed_entity_is_reported() {
    let other = GOLDEN.replace("Employee", "Person").replace("empid_", "person_");
    let error = check(&file(Some(&other)).path, &first(), UpdateMode::Never).unwrap_err().to_string();
    assert!(error.contains("Employee: compatible\n  is not in the file"), "{error}");
    assert!(error.contains("Person: compatible\n  is only in the file"), "{error}");
}

/// Tests that a renamed entity is compared with the section under its earlier name. A store compares schemas in the same way.
#[test]
fn evo_32_a_renamed_entity_is_compared_with_its_earlier_section() {
    let renamed = file(Some(&GOLDEN.replace("Employee", "Person")));
    for update in [UpdateMode::Never, UpdateMode::Allowed] {
        let error = check(&renamed.path, &first(), update).unwrap_err().to_string();
        let part = "Employee: needs acceptance\n  EVO-32 needs acceptance: type `Person` becomes `Employee`";
        assert!(error.contains(part), "{error}");
    }
    let error = check(&renamed.path, &third(), UpdateMode::Allowed).unwrap_err().to_string();
    assert!(error.contains("Employee: needs rewrite\n  EVO-32") && error.contains("EVO-11"), "{error}");
    let ageless = [Layout::of(&[ageless::Employee { department: "Sales".into(), id: 223 }]).unwrap()];
    check(&renamed.path, &ageless, UpdateMode::Force).unwrap();
    let text = fs::read_to_string(&renamed.path).unwrap();
    assert!(text.contains("removed Age Edm.Int32\n"), "{text}");
}

/// Tests types of the same name. Two are in different tables. Two are versions of one declaration in the same table.
#[test]
fn two_entities_of_one_name_keep_their_own_sections() {
    let layouts = || {
        [
            Layout::of::<v1::Employee>(&[]).unwrap(),
            Layout::of::<in_stock::Employee>(&[]).unwrap(),
            Layout::of::<ageless::Employee>(&[]).unwrap(),
        ]
    };
    let file = file(None);
    check(&file.path, &layouts(), UpdateMode::Allowed).unwrap();
    check(&file.path, &layouts(), UpdateMode::Never).unwrap();
    let text = fs::read_to_string(&file.path).unwrap();
    assert!(!text.contains("removed"), "{text}");
    // Each type must be compared with its own section. The order must not matter, nor whether another type has been changed or removed.
    let [one, two, three] = layouts();
    check(&file.path, &[three, two, one], UpdateMode::Allowed).unwrap();
    let [_, two, three] = layouts();
    check(&file.path, &[two, three], UpdateMode::Allowed).unwrap();
    let changed = [Layout::of::<in_stock::Employee>(&[]).unwrap(), Layout::of::<v2::Employee>(&[]).unwrap()];
    let error = check(&file.path, &changed, UpdateMode::Never).unwrap_err().to_string();
    assert!(error.contains("EVO-2") && !error.contains("Count"), "{error}");
}

#[test]
fn a_merge_conflict_is_resolved_by_the_file_of_one_branch() {
    let conflict = GOLDEN.replace(
        "layout Employee 2f0c8ced834ea206\n",
        "<<<<<<< HEAD\nlayout Employee 2f0c8ced834ea206\n=======\nlayout Employee 89d7c4421a3085ae\n>>>>>>> other\n",
    );
    for update in [UpdateMode::Never, UpdateMode::Allowed, UpdateMode::Force] {
        let error = check(&file(Some(&conflict)).path, &first(), update).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Corrupted);
        assert!(error.to_string().contains("git checkout --ours"), "{error}");
    }
}

#[test]
fn a_file_that_is_not_a_lock_file_is_not_overwritten() {
    let file = file(Some("hello\n"));
    for update in [UpdateMode::Never, UpdateMode::Allowed, UpdateMode::Force] {
        assert_eq!(check(&file.path, &first(), update).unwrap_err().code(), ErrorCode::Corrupted);
    }
}
