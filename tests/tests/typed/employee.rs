//! Tests the running example: writes an employee and reads it back.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use table_core::query::{EntityRef, KeyRange, QueryClass, TextRange};
use table_core::selection::IntoSelection;
use table_core::{Entity, FromEntity};

/// An employee of the company in the running example.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    first_name: String,
    last_name: String,
    age: i32,
    #[property("EmailAddress")]
    email: Option<String>,
}

fn ranges<C: table_core::selection::Class>(
    selection: impl IntoSelection<Employee, C>,
) -> (Vec<KeyRange>, QueryClass) {
    let selection = selection.into_selection();
    (selection.ranges().unwrap().to_vec(), selection.class())
}

#[test]
fn pat_intra_keys_and_ranges_match_the_catalogue() {
    let key = Employee::key("Sales", 223).key().unwrap();
    assert_eq!(key.to_string(), "(PartitionKey='Sales',RowKey='empid_000223')"); // PAT-INTRA-1

    let (found, class) = ranges(Employee::rows("Sales").id(100..=199));
    let bounds = ("empid_000100".to_owned(), "empid_000199".to_owned()); // PAT-INTRA-2
    let rows =
        TextRange { lower: std::ops::Bound::Included(bounds.0), upper: std::ops::Bound::Included(bounds.1) };
    assert_eq!((found, class), (vec![KeyRange::rows("Sales", rows)], QueryClass::Range));
}

proptest! {
    #[test]
    fn an_employee_is_read_as_it_was_written(
        department in "[a-zA-Z ]{0,20}", id in 0_u32..1_000_000, first_name in ".{0,20}", last_name in ".{0,20}",
        age in any::<i32>(), email in proptest::option::of(".{0,20}"),
    ) {
        let employee = Employee { department, id, first_name, last_name, age, email };
        let (key, row) = (employee.key_of().unwrap(), employee.to_row().unwrap());
        let stored = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
        prop_assert_eq!(Employee::from_entity(stored).unwrap(), employee.clone());
        prop_assert_eq!(Employee::key(&employee.department, employee.id).key().unwrap(), key);
    }
}
