//! Tests of the format of lists in entities.

use proptest::prelude::*;
use table_core::entity::Entity;

use table_core::ErrorCode;

use super::*;
use crate::index::fixture::Employee;

fn form(name: &str) -> ListForm {
    let index = Employee::SCHEMA.indexes.iter().find(|index| index.name == name).unwrap();
    ListForm::new(Employee::SCHEMA, index)
}

fn jones() -> EntityKey {
    EntityKey::new("Sales", "lastname_Jones").unwrap()
}

fn text(row: &Row, name: &str) -> String {
    match row.view().find(name, &mut 0).unwrap() {
        Some(ValueRef::String(text)) => text.to_owned(),
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn pat_ix_the_properties_are_named_and_filled_as_in_the_catalogue() {
    let ids = BTreeSet::from([vec!["000223".to_owned()], vec!["000152".to_owned()]]);
    let row = form("ByLastName").write_parts(&jones(), &ids, &Limits::PORTABLE).unwrap();
    assert_eq!(text(&row, "EmployeeIDs"), r#"["000152","000223"]"#);
    let details = BTreeSet::from([vec!["000152".to_owned(), "Sales".to_owned()]]);
    let row = form("Namesakes").write_parts(&jones(), &details, &Limits::PORTABLE).unwrap();
    assert_eq!(text(&row, "EmployeeDetails"), r#"[["000152","Sales"]]"#);
}

#[test]
fn pat_ix_4_a_list_spreads_over_properties_and_is_never_truncated() {
    let form = form("ByLastName");
    let members: BTreeSet<Member> = (0..9_000).map(|id| vec![format!("{id:06}")]).collect();
    let error = form.check_bound(members.len()).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::IndexListFull, Some("PAT-IX-4")));
    let row = form.write_parts(&jones(), &members, &Limits::PORTABLE).unwrap();
    assert_eq!(row.view().len(), 3, "9,000 members of 9 units each");
    for property in row.view().properties() {
        let ValueRef::String(text) = property.unwrap().value else { panic!("a text") };
        assert!(text.len() <= 32_768);
    }
    assert_eq!(form.read(&jones(), row.view()).unwrap(), StoredMembers::Parts(members));
    // By the published formula, the members take 1 MiB, with two bytes per UTF-16 code unit.
    let members: BTreeSet<Member> = (0..60_000).map(|id| vec![format!("{id:06}")]).collect();
    let error = form.write_parts(&jones(), &members, &Limits::PORTABLE).unwrap_err();
    assert_eq!(error.code(), ErrorCode::IndexListFull);
    assert!(error.to_string().contains("with_list_blobs"), "{error}");
}

#[test]
fn pat_ix_4_an_entity_names_the_blob_of_its_list() {
    let form = form("Namesakes");
    let blob: BlobRef = "x/lists/names/jones/all/0635338512000000000_5f0c 47 1b2e4c6d".parse().unwrap();
    let row = form.pointer(&blob);
    assert_eq!(text(&row, "EmployeeDetailsBlob"), blob.to_string());
    assert_eq!(form.blob(row.view()).unwrap(), Some(blob));
    assert_eq!(
        form.read(&jones(), row.view()).unwrap_err().code(),
        ErrorCode::EntityMismatch,
        "a pointer to a blob is not a list"
    );
    let ids = form
        .write_parts(&jones(), &BTreeSet::from([vec!["1".to_owned(), "2".to_owned()]]), &Limits::PORTABLE)
        .unwrap();
    assert_eq!(form.blob(ids.view()).unwrap(), None);
    let mut both = RowWriter::new();
    both.property("EmployeeDetailsBlob", ValueRef::String("somewhere"));
    assert_eq!(form.blob(both.finish().view()).unwrap_err().code(), ErrorCode::EntityMismatch);
}

#[test]
fn an_invalid_list_is_an_error() {
    let form = form("Namesakes");
    for text in ["", "[", "{}", "[1]", r#"["000152"]"#, r#"[["000152"]]"#] {
        let mut row = RowWriter::new();
        row.property("EmployeeDetails", ValueRef::String(text));
        assert_eq!(
            form.read(&jones(), row.finish().view()).unwrap_err().code(),
            ErrorCode::EntityMismatch,
            "{text}"
        );
    }
    assert_eq!(
        form.read(&jones(), RowWriter::new().finish().view()).unwrap_err().code(),
        ErrorCode::EntityMismatch
    );
}

proptest! {
    #[test]
    fn any_members_round_trip(
        members in prop::collection::btree_set(("[\\PC\"\\\\,\\[]{0,6}", ".{0,6}"), 0..40),
        units in 40_usize..200,
    ) {
        let form = form("Namesakes");
        let members: BTreeSet<Member> = members.into_iter().map(|(id, department)| vec![id, department]).collect();
        let mut limits = Limits::PORTABLE;
        limits.string_units = units;
        let row = form.write_parts(&jones(), &members, &limits).unwrap();
        prop_assert_eq!(form.read(&jones(), row.view()).unwrap(), StoredMembers::Parts(members.clone()));
        for member in &members {
            prop_assert_eq!(&form.member(&form.row(member)).unwrap(), member);
        }
    }
}
