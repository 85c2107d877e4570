//! Uses the library as another package does. Cargo compiles it without the dependencies of its tests, such as `table-patterns`.

use patterns::EntityStore;
use tests_renamed::design::{Badge, Employee, Event};

#[test]
fn the_library_compiles_without_the_dependencies_of_its_tests() {
    assert!(Employee::key("Sales", 7, Badge(1)).key().is_ok());
    assert!(Event::within("contoso").session(1..).ranges().is_ok());
}

#[test]
fn the_tests_use_the_entities_of_the_library_with_the_patterns() {
    let _ = patterns::Engine::in_memory().entities::<Event>();
}
