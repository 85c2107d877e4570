//! The maintenance tasks in CONTRIBUTING, each of which must name existing files and folders.

use crate::files::{below, root};

#[test]
fn every_task_names_a_place_that_is_there() {
    let guides = below("", &["CONTRIBUTING.md"]);
    let (_, guide) = guides.first().expect("CONTRIBUTING.md is there");
    let (_, tasks) = guide.split_once("## Where a change goes").expect("the section is there");
    let rows: Vec<&str> = tasks.lines().filter(|line| line.starts_with("| ") && line.contains('`')).collect();
    assert!(rows.len() >= 10, "{rows:#?}");
    for row in rows {
        let places: Vec<&str> = row
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|place| place.contains('/') && !place.contains(' '))
            .collect();
        assert!(!places.is_empty(), "no place is named: {row}");
        for place in places {
            assert!(root().join(place).exists(), "`{place}` is not there: {row}");
        }
    }
}
