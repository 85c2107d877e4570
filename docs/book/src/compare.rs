//! Tests that the code of other libraries on the comparison page is copied from programs that compile.

use std::fs;

use crate::pages::{read, root};

/// The programs in `benches/examples`, in the order in which the page shows them.
const PROGRAMS: [&str; 3] = ["compare_rusqlite.rs", "compare_native_db.rs", "compare_redb.rs"];

/// The line that marks omitted lines in a code block.
const LEFT_OUT: &str = "\n// …\n";

#[test]
fn shown_lines_of_other_libraries_come_from_their_programs() {
    let page = read("compare.md");
    let shown = page.split("\n```rust,ignore\n").skip(1).filter_map(|rest| rest.split("\n```\n").next());
    let shown: Vec<&str> = shown.collect();
    assert_eq!(shown.len(), PROGRAMS.len(), "one block for each program");
    for (name, block) in PROGRAMS.into_iter().zip(shown) {
        let program = fs::read_to_string(root().join("benches/examples").join(name)).unwrap();
        for part in block.split(LEFT_OUT) {
            assert!(program.contains(part), "{name} does not have these lines of compare.md:\n{part}");
        }
    }
}
