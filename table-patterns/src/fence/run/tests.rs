use std::collections::BTreeMap;

use table_core::table::Table;
use table_core::{Engine, Entity, TableStoreExt};

use super::*;

#[derive(Entity)]
#[partition_key(group)]
#[row_key(id)]
struct Item {
    group: String,
    id: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Place {
    range: u32,
}

const NOTE: &str = "keeps feed";

/// Returns the run of a recorded progress.
fn run(recorded: &str) -> Option<(u64, Place)> {
    let items: Table<Item, _> = Engine::in_memory().table::<Item>();
    let items = pollster::block_on(items.create_if_missing()).unwrap();
    let mut record = pollster::block_on(items.schema_record()).unwrap().unwrap();
    record.progress = BTreeMap::from([(NOTE.to_owned(), recorded.to_owned())]);
    Run::of(&record, NOTE).map(|Run { id, start, .. }| (id, start))
}

#[test]
fn a_pass_continues_at_its_position_and_an_unreadable_position_is_the_start() {
    for id in [0, 7, u64::MAX] {
        assert_eq!(run(&new_pass(id)), Some((id, Place::default())));
        let at = Place { range: 3 };
        assert_eq!(run(&Progress::Pass { id, at: &at }.text()), Some((id, at)));
        assert_eq!(run(&Progress::Pass { id, at: "rows" }.text()), Some((id, Place::default())));
        assert_eq!(run(&closing(7, id)), None);
    }
    for other in ["", "closing 7", "rows 0  00 pass-07", "{}", "{\"pass\":{}}"] {
        assert_eq!(run(other), None, "{other}");
    }
}
