//! Tests that large entities, wide entities and logs maintain their declared indexes and feeds.

use table_core::group::{Many, One};
use table_core::key::PartitionKey;
use table_core::{EntityGroup, Versioned};

use super::*;
use crate::EntityStore;
use crate::feed::Cursor;
use crate::log_tail::{LogStamp, LogTail};

#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "Staff", feed)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Colleague {
    department: String,
    #[digits(6)]
    id: u32,
    email: String,
    #[blob]
    photo: Option<BlobRef>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("empid_", employee, "_", year)]
struct Review {
    department: String,
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
}

#[derive(EntityGroup)]
#[entity_group(under = Colleague)]
struct ColleagueWithReviews {
    colleague: One<Colleague>,
    reviews: Many<Review>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(department)]
#[row_key("event_", stamp)]
#[index(ByKind, row_key("kind_", kind, "_", stamp))]
struct Event {
    department: String,
    stamp: LogStamp,
    #[without('_')]
    kind: String,
}

fn rows_of(store: &FaultyStore<Engine>) -> Vec<String> {
    let rows = store.untyped("Staff").unwrap().scan("to compare").max_rows(1_000);
    let rows = block_on(rows.collect()).unwrap();
    rows.iter().map(|row| row.key().row_key.as_str().to_owned()).collect()
}

#[test]
fn pat_large_2_an_entity_with_an_index_and_a_feed_has_blobs_and_parts_too() {
    let store = FaultyStore::new(Engine::in_memory());
    let entities = block_on(store.entities::<Colleague>().create_if_missing()).unwrap();
    let staff = LargeTable::new(entities.clone(), Arc::new(FaultyBlobs::default()), "photos");
    let ada = Colleague { department: "Sales".into(), id: 223, email: "ada".into(), photo: None };
    let ada = block_on(staff.insert(ada, [Colleague::PHOTO_BLOB.content(whole("first"))])).unwrap();
    let photo = Colleague::PHOTO_BLOB.content(whole("second"));
    let etag = block_on(sendable(staff.set(Colleague::key("Sales", 223), [photo]))).unwrap();
    assert_ne!(&etag, ada.etag());

    // The index entry, which is a copy of the entity, has the current address. The blob can be read through it.
    let by_email = || block_on(entities.get(Colleague::by_email("Sales", "ada"))).unwrap();
    let found = by_email().map(Versioned::into_value).unwrap();
    let read = block_on(staff.open(&found, Colleague::PHOTO_BLOB)).unwrap().unwrap();
    assert_eq!(block_on(read.bytes()).unwrap(), "second");
    let moved = |ada: &mut Colleague| ada.email = "lovelace".into();
    block_on(staff.entities().update(Colleague::key("Sales", 223), moved)).unwrap();
    assert!(by_email().is_none());

    let review = |year| Review { department: "Sales".into(), employee: 223, year };
    for year in [2011, 2012] {
        block_on(entities.insert_part(Colleague::key("Sales", 223), &review(year))).unwrap();
    }
    let rows = ["email_lovelace", "empid_000223", "empid_000223_2011", "empid_000223_2012"];
    assert_eq!(rows_of(&store), rows);
    let read = entities.table().read_group(Colleague::key("Sales", 223));
    let group: ColleagueWithReviews = block_on(read).unwrap();
    assert_eq!((group.colleague.email.as_str(), group.reviews.len()), ("lovelace", 2));
    assert_eq!(block_on(sendable(entities.delete_with_parts(Colleague::key("Sales", 223)))).unwrap(), 3);
    assert!(rows_of(&store).is_empty(), "the copy goes with its entity");
    assert!(block_on(entities.delete_with_parts(Colleague::key("Sales", 223))).unwrap_err().is_not_found());

    let (feed, table) = (entities.feed(), entities.table().name().unwrap());
    let sales = PartitionKey::new("Sales").unwrap();
    let entries = block_on(feed.read(table, &sales, &Cursor::default(), 100)).unwrap();
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
    // The entity types of the parts are unknown. Their deletions are therefore recorded, although the review type has no feed.
    assert_eq!(kinds, ["inserted", "updated", "updated", "deleted", "deleted", "deleted"]);
}

#[test]
fn pat_ck_3_a_crash_during_a_delete_leaves_all_rows_of_the_owner_or_none() {
    for number in 0.. {
        let store = FaultyStore::new(Engine::in_memory());
        let entities = block_on(store.entities::<Colleague>().create_if_missing()).unwrap();
        let ada = Colleague { department: "Sales".into(), id: 223, email: "ada".into(), photo: None };
        block_on(entities.insert(&ada)).unwrap();
        let review = Review { department: "Sales".into(), employee: 223, year: 2012 };
        block_on(entities.insert_part(Colleague::key("Sales", 223), &review)).unwrap();
        store.fail_at(number);
        let done = block_on(entities.delete_with_parts(Colleague::key("Sales", 223)));
        let calls = store.calls().len();
        store.heal();
        let left = rows_of(&store).len();
        assert_eq!(left, if done.is_ok() { 0 } else { 3 }, "request {number}");
        if calls <= number {
            break;
        }
    }
}

#[test]
fn pat_log_1_an_event_with_an_index_is_found_by_it() {
    let store = FaultyStore::new(Engine::in_memory());
    let entities = block_on(store.entities::<Event>().create_if_missing()).unwrap();
    let log = LogTail::new(entities.clone());
    for kind in ["hired", "moved", "hired"] {
        let event = |stamp| Event { department: "Sales".into(), stamp, kind: kind.into() };
        block_on(sendable(log.append(event))).unwrap();
    }
    let hired = entities.query(Event::by_kind_rows("Sales").kind_is("hired"));
    assert_eq!(block_on(hired.collect()).unwrap().len(), 2);
}
