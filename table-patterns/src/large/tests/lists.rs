//! Tests tables whose entities have blobs, and whose lists are stored in blobs with the same prefix.

use super::*;
use crate::EntityStore;
use crate::index::ListBlobs;
use crate::work::Runtime;

#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "badges")]
#[partition_key(department)]
#[row_key("id_", id)]
#[index_entity(Colored, at_most = 100, row_key("color_", color))]
struct Badge {
    department: String,
    #[digits(6)]
    id: u32,
    color: String,
    #[blob]
    photo: Option<BlobRef>,
}

#[test]
fn pat_large_2_the_collector_of_lists_and_that_of_values_remove_all_orphans_of_both() {
    let (tables, blobs) = (Engine::in_memory(), FaultyBlobs::default());
    let now = Arc::new(AtomicU64::new(NOON));
    let clock = || {
        let now = Arc::clone(&now);
        Clock::new(move || now.load(Ordering::SeqCst))
    };
    let lists = ListBlobs::new(Arc::new(blobs.clone()), "company").spill_above(1);
    let badges =
        tables.entities::<Badge>().with_runtime(Runtime::new().clock(clock())).with_list_blobs(lists);
    let badges = block_on(badges.create_if_missing()).unwrap();
    let badges = LargeTable::new(badges, Arc::new(blobs.clone()), "company").with_clock(clock());
    for id in 0..3 {
        let badge = Badge { department: "Sales".into(), id, color: "red".into(), photo: None };
        block_on(badges.insert(badge, [Badge::PHOTO_BLOB.content(content(1, 20))])).unwrap();
    }
    // The next contents replace the photos, and each inserted entity has replaced the list.
    for id in 0..3 {
        let photo = Badge::PHOTO_BLOB.content(content(2, 20));
        block_on(badges.set(Badge::key("Sales", id), [photo])).unwrap();
    }
    assert!(blobs.names().len() > 6, "{:?}", blobs.names());
    for _ in 0..4 {
        now.fetch_add(2 * GRACE, Ordering::SeqCst);
        block_on(badges.collect_orphans()).unwrap();
        block_on(badges.entities().collect_orphaned_lists()).unwrap();
    }
    let names = blobs.names();
    let count = |folder: &str| names.iter().filter(|name| name.starts_with(folder)).count();
    assert_eq!((count("company/blobs/"), count("company/lists/"), names.len()), (3, 1, 4), "{names:?}");
    assert_eq!(block_on(badges.entities().get_by_index(Badge::colored("Sales", "red"))).unwrap().len(), 3);
}
