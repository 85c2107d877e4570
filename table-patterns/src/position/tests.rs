use pollster::block_on;
use table_core::embedded::Engine;
use table_core::query::TextRange;
use table_core::{Entity, TableStoreExt};

use super::*;

#[derive(Entity, Clone)]
#[partition_key(group)]
#[row_key(id)]
struct Item {
    group: String,
    id: u32,
}

fn ranges(groups: &[&str]) -> Vec<KeyRange> {
    groups
        .iter()
        .map(|group| KeyRange { partition_key: TextRange::prefix(group), row_key: TextRange::ALL })
        .collect()
}

fn text(position: &Position) -> String {
    serde_json::to_string(position).unwrap()
}

fn parsed(text: &str) -> Position {
    serde_json::from_str(text).unwrap()
}

/// Reads the ranges page by page, parsing the position before each page, until `pages` pages have been read. Returns the rows, the next position, and the
/// number of restarts.
fn read(
    engine: &Engine,
    ranges: &[KeyRange],
    from: &str,
    pages: usize,
) -> (Vec<String>, Option<String>, usize) {
    let (mut found, mut next, mut restarts) = (Vec::new(), Some(from.to_owned()), 0);
    let table = TableName::new("Items").unwrap();
    for _ in 0..pages {
        let Some(at) = next.take() else { break };
        let query = |keys| Query { top: Some(1), ..Query::new(keys) };
        let PageAt { page, next: following, is_restart, .. } =
            block_on(parsed(&at).page((engine, &table), ranges, query)).unwrap();
        restarts += usize::from(is_restart);
        found.extend(
            page.rows
                .iter()
                .map(|row| format!("{}{}", row.partition_key, row.row_key.trim_start_matches('0'))),
        );
        next = following.map(|next| text(&next));
    }
    (found, next, restarts)
}

#[test]
fn a_position_continues_in_its_ranges_and_starts_again_in_others() {
    let engine = Engine::in_memory();
    let items = block_on(engine.table_named::<Item>("Items").unwrap().create_if_missing()).unwrap();
    for (group, id) in [("a", 1), ("a", 2), ("b", 1), ("c", 1), ("c", 2)] {
        block_on(items.insert(&Item { group: group.into(), id })).unwrap();
    }
    let all = ["a1", "a2", "b1", "c1", "c2"];
    let list = ranges(&["a", "b", "c"]);
    let start = text(&Position::default());
    assert_eq!(read(&engine, &list, &start, 20).0, all);
    for pages in 1..7 {
        let (found, next, restarts) = read(&engine, &list, &start, pages);
        assert_eq!(restarts, 0);
        let Some(next) = next else { continue };
        let (rest, _, restarts) = read(&engine, &list, &next, 20);
        assert_eq!(
            ([found, rest].concat(), restarts),
            (all.map(str::to_owned).to_vec(), 0),
            "after {pages} pages"
        );
        for others in [&["a", "c"][..], &["c"], &["", "c"], &["c", "b", "a", "d"]] {
            let others = ranges(others);
            let (expected, ..) = read(&engine, &others, &start, 20);
            assert_eq!(read(&engine, &others, &next, 20), (expected, None, 1), "{next}");
        }
    }
    let other = text(&Position { range: 9, from: None, ranges: 0 });
    assert_eq!(read(&engine, &list, &other, 20).0, all);
}

#[test]
fn a_pass_starts_again_if_the_table_is_created_again() {
    let engine = Engine::in_memory();
    let list = ranges(&[""]);
    let open = || block_on(engine.table_named::<Item>("Items").unwrap().create_if_missing()).unwrap();
    let fill = || {
        for id in 1..4 {
            block_on(open().insert(&Item { group: "a".into(), id })).unwrap();
        }
    };
    fill();
    let (_, next, _) = read(&engine, &list, &text(&Position::default()), 2);
    block_on(open().delete_table()).unwrap();
    fill();
    let expected = ["a1", "a2", "a3"].map(str::to_owned).to_vec();
    assert_eq!(read(&engine, &list, &next.unwrap(), 20), (expected, None, 1));
}
