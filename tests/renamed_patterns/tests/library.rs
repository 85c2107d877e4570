//! Uses the library as another package does. Cargo compiles it without the dependencies of its tests, such as `table-core`.

use core_of_tests::Entity;
use tests_renamed_patterns::{Employee, Photo};

#[test]
fn the_library_compiles_without_the_dependencies_of_its_tests() {
    let employee = Employee { department: "Sales".into(), id: 7, email: "ada@contoso.com".into() };
    assert!(employee.key_of().is_ok());
    assert_eq!(Photo::SCHEMA.entity, "Photo");
}
