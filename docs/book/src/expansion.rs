//! Tests that the page "The code that the derive generates" equals the snapshot in the tests of the macro.

use std::fs;

use crate::pages::{docs, hold, read, root};

#[test]
fn the_page_shows_the_tested_expansion() {
    let snapshot = "table-derive/src/snapshots/table_derive__tests__expansion_of_three_fields.snap";
    let snapshot = fs::read_to_string(root().join(snapshot)).unwrap();
    let code = snapshot.splitn(3, "---\n").nth(2).unwrap();
    let text = read("expansion.md");
    let (before, rest) = text.split_once("<!-- expansion -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let page = format!("{before}<!-- expansion -->\n\n```rust\n{code}```\n\n<!-- end -->{after}");
    hold(&docs().join("expansion.md"), &page);
}
