use table_core::Entity;

use super::*;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes")]
#[partition_key(tenant)]
#[row_key("note_", number)]
struct Note {
    tenant: String,
    #[digits(2)]
    number: u32,
}

#[test]
fn an_entity_has_the_time_of_its_commit_whatever_its_version() {
    let note = Note { tenant: "t".into(), number: 1 };
    let key = note.key_of().unwrap();
    for (etag, ticks) in [(ETag::from_ticks(7), 7), (ETag::parse("W/\"00d8-1f\"").unwrap(), 9)] {
        let (partition_key, versions) = (key.partition_key.clone(), vec![(key.row_key.clone(), Some(etag))]);
        let committed = Committed { value: (), partition_key, versions, time: 9 };
        assert_eq!(committed.versioned(note.clone()).map(|stored| stored.ticks()), Some(ticks));
    }
}
