mod declared;
mod faults;
mod graces;
mod lists;
mod orphans;
mod several;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use pollster::block_on;
use table_core::embedded::{Clock, Engine};
use table_core::etag::IfMatch;
use table_core::{Entity, EntityKey, Error, ErrorCode, Result, TableStoreExt};

use super::*;
use crate::blob::encode;
use crate::tests::faults::{Call, Fault, FaultyBlobs, FaultyStore, sendable};

#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "Employees")]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    #[blob]
    photo: Option<BlobRef>,
    #[blob]
    #[property("Resume")]
    cv: Option<BlobRef>,
}

/// The entity type as declared in an earlier release.
#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "Employees")]
#[partition_key(department)]
#[row_key(id)]
struct OldEmployee {
    department: String,
    #[digits(6)]
    id: u32,
    #[blob]
    photo: Option<BlobRef>,
}

const PHOTO: Blob<Employee> = Employee::PHOTO_BLOB;
const CV: Blob<Employee> = Employee::CV_BLOB;

type Employees = LargeTable<Employee, FaultyStore<Engine>>;

/// The time 2014-04-23T12:00:00Z in ticks.
const NOON: u64 = 635_338_512_000_000_000;
const GRACE: u64 = 864_000_000_000;

struct Scene {
    employees: Employees,
    tables: FaultyStore<Engine>,
    blobs: FaultyBlobs,
    now: Arc<AtomicU64>,
}

fn scene() -> Scene {
    let (tables, blobs) = (FaultyStore::new(Engine::in_memory()), FaultyBlobs::default());
    let table = block_on(tables.table::<Employee>().create_if_missing()).unwrap();
    tables.heal();
    let now = Arc::new(AtomicU64::new(NOON));
    let hand = Arc::clone(&now);
    let employees = LargeTable::new(table, Arc::new(blobs.clone()), "photos")
        .with_clock(Clock::new(move || hand.load(Ordering::SeqCst)))
        .part_bytes(8);
    Scene { employees, tables, blobs, now }
}

fn ada(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, photo: None, cv: None }
}

/// Creates content of the given length, and streams it in chunks of three bytes.
fn content(byte: u8, length: usize) -> impl futures_core::Stream<Item = Result<Bytes>> + Send {
    in_chunks(&vec![byte; length], 3)
}

/// Creates content streamed in chunks of the given size.
fn in_chunks(bytes: &[u8], chunk: usize) -> impl futures_core::Stream<Item = Result<Bytes>> + Send + use<> {
    stream::iter(bytes.chunks(chunk).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect::<Vec<_>>())
}

impl Scene {
    fn read(&self, id: u32) -> Result<Option<Vec<u8>>> {
        self.read_blob(id, PHOTO)
    }

    fn read_blob(&self, id: u32, blob: Blob<Employee>) -> Result<Option<Vec<u8>>> {
        block_on(async {
            let Some(found) = self.employees.table().get(Employee::key("Sales", id)).await? else {
                return Ok(None);
            };
            match self.employees.open(&found, blob).await? {
                Some(content) => Ok(Some(content.bytes().await?.to_vec())),
                None => Ok(None),
            }
        })
    }

    /// Runs the collector until it has removed all orphans.
    fn collect_all(&self) {
        for _ in 0..3 {
            self.now.fetch_add(GRACE, Ordering::SeqCst);
            block_on(self.employees.collect_orphans()).unwrap();
        }
    }
}

#[test]
fn pat_large_1_the_layout_matches_the_catalogue() {
    let scene = scene();
    let written = block_on(scene.employees.insert(ada(223), [PHOTO.content(content(7, 20))])).unwrap();
    let blob = written.photo.as_ref().unwrap();
    let random = &blob.path()[blob.path().len() - 32..];
    insta::assert_snapshot!(
        blob.to_string().replace(random, "…"),
        @"photos/blobs/employees/=53ales/000223/0635338512000000000_864000000000_… 20 b852bbce"
    );
    assert_eq!(scene.blobs.names(), [blob.path()]);
}

#[test]
fn pat_large_3_the_entity_is_one_request_and_its_value_another() {
    let scene = scene();
    block_on(scene.employees.insert(ada(223), [PHOTO.content(content(7, 5))])).unwrap();
    assert_eq!((scene.tables.calls(), scene.blobs.calls()), (vec![Call::Submit], 1));
    scene.tables.heal();
    scene.blobs.heal();
    let found = block_on(scene.employees.table().get(Employee::key("Sales", 223))).unwrap().unwrap();
    assert_eq!((scene.tables.calls(), scene.blobs.calls()), (vec![Call::Get], 0));
    let photo = block_on(scene.employees.open(&found, PHOTO)).unwrap().unwrap();
    assert_eq!((photo.len(), scene.blobs.calls()), (5, 1));
    assert_eq!(block_on(photo.bytes()).unwrap(), vec![7; 5]);
    assert!(block_on(scene.employees.open(&ada(1), PHOTO)).unwrap().is_none());
}

#[test]
fn pat_large_3_any_length_is_streamed_through_parts() {
    let scene = scene();
    for (id, length) in (0_u32..).zip([0, 1, 7, 8, 9, 16, 17, 100]) {
        for chunk in [1, 3, 7, 8, 9, 16, 50, 1_000] {
            let bytes: Vec<u8> = (1..).take(length).collect();
            let photo = [PHOTO.content(in_chunks(&bytes, chunk))];
            block_on(scene.employees.entities().insert_or_replace(&ada(id))).unwrap();
            scene.blobs.heal();
            block_on(scene.employees.replace(ada(id), IfMatch::Any, photo)).unwrap();
            // Short content takes one request. Longer content takes one request for each part of eight bytes, one that begins the upload, and one that
            // completes it.
            let requests = if length <= 8 { 1 } else { length.div_ceil(8) + 2 };
            assert_eq!(scene.blobs.calls(), requests, "{length} bytes in chunks of {chunk}");
            assert_eq!(scene.read(id).unwrap(), Some(bytes), "in chunks of {chunk}");
        }
    }
}

#[test]
fn pat_large_2_content_that_fails_leaves_nothing() {
    let scene = scene();
    for pieces in [0, 1, 9] {
        let broken =
            content(1, pieces).chain(stream::iter([Err(Error::new(ErrorCode::Io, "the source broke"))]));
        let error = block_on(scene.employees.insert(ada(1), [PHOTO.content(broken)])).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Io);
        assert_eq!((scene.read(1).unwrap(), scene.blobs.names().len()), (None, 0));
    }
}

#[test]
fn pat_large_2_a_missing_or_damaged_blob_is_a_typed_error() {
    let scene = scene();
    let written = block_on(scene.employees.insert(ada(223), [PHOTO.content(content(7, 20))])).unwrap();
    let path = Path::parse(written.photo.as_ref().unwrap().path()).unwrap();
    let code = || scene.read(223).unwrap_err().code();
    block_on(scene.blobs.put(&path, vec![7; 19].into())).unwrap();
    assert_eq!(code(), ErrorCode::Corrupted);
    block_on(scene.blobs.put(&path, vec![8; 20].into())).unwrap();
    assert_eq!(code(), ErrorCode::Corrupted);
    block_on(scene.blobs.delete(&path)).unwrap();
    let error = scene.read(223).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::BlobNotFound, Some("PAT-LARGE-2")));
    assert!(error.is_not_found());
}

#[test]
fn pat_large_2_a_writer_slower_than_half_the_grace_period_gives_up() {
    let scene = scene();
    let now = Arc::clone(&scene.now);
    let slow = content(7, 20).inspect(move |_| {
        now.fetch_add(GRACE / 10, Ordering::SeqCst);
    });
    let error = block_on(scene.employees.insert(ada(223), [PHOTO.content(slow)])).unwrap_err();
    assert_eq!(error.rule(), Some("PAT-LARGE-2"));
    assert_eq!((scene.read(223).unwrap(), scene.blobs.names().len()), (None, 0));
}

#[test]
fn pat_large_2_a_reader_has_the_grace_period_after_a_change() {
    let scene = scene();
    let old = block_on(scene.employees.insert(ada(223), [PHOTO.content(content(1, 20))])).unwrap();
    scene.now.fetch_add(10 * GRACE, Ordering::SeqCst);
    block_on(scene.employees.replace(ada(223), old.etag().clone(), [PHOTO.content(content(2, 20))])).unwrap();
    let collected = block_on(scene.employees.collect_orphans()).unwrap();
    assert_eq!(collected, Collected { kept: 1, marked: 1, removed: 0 });
    scene.now.fetch_add(GRACE - 1, Ordering::SeqCst);
    block_on(scene.employees.collect_orphans()).unwrap();
    let held = block_on(scene.employees.open(&old, PHOTO)).unwrap().unwrap();
    assert_eq!(block_on(held.bytes()).unwrap(), vec![1; 20]);
    scene.now.fetch_add(1, Ordering::SeqCst);
    let collected = block_on(scene.employees.collect_orphans()).unwrap();
    assert_eq!(collected, Collected { kept: 1, marked: 0, removed: 1 });
    assert_eq!(block_on(scene.employees.open(&old, PHOTO)).unwrap_err().code(), ErrorCode::BlobNotFound);
    assert_eq!(scene.read(223).unwrap(), Some(vec![2; 20]));
    assert_eq!(scene.blobs.names().len(), 1, "the mark is gone, too");
}

#[test]
fn pat_large_2_a_collection_during_an_upload_spares_it() {
    let scene = scene();
    // A collector runs while the blob exists but its entity does not yet.
    let (other, now) = (scene.employees.clone(), Arc::clone(&scene.now));
    scene.tables.script(move |call, _| match call {
        Call::Submit => {
            let (other, now) = (other.clone(), Arc::clone(&now));
            Fault::Meanwhile(Box::new(move || {
                now.fetch_add(GRACE / 2, Ordering::SeqCst);
                assert_eq!(block_on(other.collect_orphans()).unwrap().kept, 1);
            }))
        }
        _ => Fault::None,
    });
    block_on(scene.employees.insert(ada(223), [PHOTO.content(content(7, 20))])).unwrap();
    scene.tables.heal();
    scene.collect_all();
    assert_eq!(scene.read(223).unwrap(), Some(vec![7; 20]));
}

#[test]
fn pat_large_2_a_missing_table_makes_no_orphans() {
    let scene = scene();
    block_on(scene.employees.insert(ada(223), [PHOTO.content(content(7, 20))])).unwrap();
    block_on(scene.employees.table().delete_table()).unwrap();
    scene.now.fetch_add(2 * GRACE, Ordering::SeqCst);
    assert!(block_on(scene.employees.collect_orphans()).unwrap_err().is_table_not_found());
    assert_eq!(scene.blobs.names().len(), 1);
}

#[test]
fn tbl_2_the_collector_finds_blobs_of_a_program_that_spells_the_table_differently() {
    let scene = scene();
    let table = scene.tables.table_named::<Employee>("EMPLOYEES").unwrap();
    let other = LargeTable::new(table, Arc::new(scene.blobs.clone()), "photos")
        .with_clock(scene.employees.clock.clone());
    let old = block_on(other.insert(ada(223), [PHOTO.content(content(1, 20))])).unwrap();
    block_on(other.insert(ada(224), [PHOTO.content(content(1, 20))])).unwrap();
    block_on(scene.employees.replace(ada(223), old.etag().clone(), [PHOTO.content(content(2, 20))])).unwrap();
    assert_eq!(scene.blobs.names().len(), 3);
    scene.collect_all();
    assert_eq!(scene.blobs.names().len(), 2);
    assert_eq!([223, 224].map(|id| scene.read(id).unwrap().unwrap()[0]), [2, 1]);
}

#[test]
fn a_local_folder_accepts_any_key() {
    let folder = tempfile::tempdir().unwrap();
    let blobs: Arc<dyn ObjectStore> = Arc::new(LocalFileSystem::new_with_prefix(folder.path()).unwrap());
    let table = block_on(Engine::in_memory().table::<Employee>().create_if_missing()).unwrap();
    let employees = LargeTable::new(table, blobs, "photos").grace(Duration::ZERO).part_bytes(8);
    let clocked = employees.with_clock(Clock::new(|| NOON));
    for department in ["", "..", "a.b c=d%2F", "Ü~"] {
        let entity = Employee { department: department.into(), ..ada(1) };
        let written = block_on(clocked.insert(entity.clone(), [PHOTO.content(content(3, 20))])).unwrap();
        let read = block_on(async { clocked.open(&written, PHOTO).await?.unwrap().bytes().await });
        assert_eq!(read.unwrap(), vec![3; 20], "{department}");
        let key = entity.key_of().unwrap();
        assert!(written.photo.as_ref().unwrap().path().contains(&encode(key.partition_key.as_str())));
        assert_eq!(key, EntityKey::new(department, "000001").unwrap());
    }
    assert_eq!(block_on(clocked.collect_orphans()).unwrap(), Collected { kept: 4, ..Collected::default() });
}

#[test]
fn futures_can_move_between_threads() {
    let scene = scene();
    block_on(sendable(scene.employees.insert(ada(1), [PHOTO.content(content(1, 20))]))).unwrap();
    block_on(sendable(scene.employees.collect_orphans())).unwrap();
    let entity = block_on(scene.employees.table().get(Employee::key("Sales", 1))).unwrap().unwrap();
    let photo = block_on(sendable(scene.employees.open(&entity, PHOTO))).unwrap().unwrap();
    let bytes: Vec<Bytes> = block_on(sendable(photo.into_stream().try_collect())).unwrap();
    assert_eq!(bytes.concat(), [1; 20]);
}

#[test]
fn pat_large_2_collectors_distinguish_keys_that_differ_only_in_case() {
    let scene = scene();
    let path = |department: &str| {
        let entity = Employee { department: department.into(), ..ada(1) };
        let written = block_on(scene.employees.insert(entity, [PHOTO.content(content(3, 20))])).unwrap();
        let path = written.photo.as_ref().unwrap().path().to_ascii_lowercase();
        path.rsplit_once('/').unwrap().0.to_owned()
    };
    assert_ne!(path("ada"), path("Ada"));
}

#[test]
fn pat_large_2_an_entity_with_the_blob_of_another_is_refused_by_each_verb() {
    let scene = scene();
    let written = block_on(scene.employees.insert(ada(1), [PHOTO.content(content(3, 20))])).unwrap();
    let moved = Employee { department: "IT".into(), ..written.into_value() };
    let handle = scene.employees.entities();
    let mut unit = handle.unit(Employee::partition("IT")).unwrap();
    let by_unit = unit.insert(&moved).map(drop).and_then(|()| block_on(unit.commit()).map(drop));
    for (verb, written) in [
        ("insert", block_on(handle.insert(&moved)).map(drop)),
        ("insert_or_replace", block_on(handle.insert_or_replace(&moved)).map(drop)),
        ("insert_or_merge", block_on(handle.insert_or_merge(&moved)).map(drop)),
        ("unit", by_unit),
    ] {
        let error = written.expect_err(verb);
        assert_eq!(error.rule(), Some("PAT-LARGE-2"), "{verb}: {error}");
    }
    // Another program writes the address nevertheless. The blob is not opened, and the blob store receives no request.
    let plain = scene.tables.clone().table::<Employee>();
    block_on(plain.insert(&moved)).unwrap();
    scene.blobs.heal();
    let found = block_on(handle.get(Employee::key("IT", 1))).unwrap().unwrap();
    let error = block_on(scene.employees.open(&found, PHOTO)).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-LARGE-2")), "{error}");
    assert_eq!(scene.blobs.calls(), 0);
    block_on(plain.delete(Employee::key("IT", 1), IfMatch::Any)).unwrap();
    // The blob is kept as long as its entity refers to it.
    let bob = Employee { photo: None, ..moved };
    block_on(handle.insert(&bob)).unwrap();
    scene.collect_all();
    assert_eq!(scene.read(1).unwrap(), Some(vec![3; 20]));
}

/// Tests writes of an entity that was read before it was deleted and its blob was removed.
#[test]
fn pat_large_2_the_address_of_a_removed_blob_is_refused_by_each_verb() {
    let scene = scene();
    let written = block_on(scene.employees.insert(ada(1), [PHOTO.content(content(3, 20))])).unwrap();
    let stale = written.into_value();
    let handle = scene.employees.entities();
    block_on(handle.delete(Employee::key("Sales", 1), IfMatch::Any)).unwrap();
    scene.collect_all();
    let mut unit = handle.unit(Employee::partition("Sales")).unwrap();
    let by_unit = unit.insert(&stale).map(drop).and_then(|()| block_on(unit.commit()).map(drop));
    for (verb, written) in [
        ("insert", block_on(handle.insert(&stale)).map(drop)),
        ("insert_or_replace", block_on(handle.insert_or_replace(&stale)).map(drop)),
        ("insert_or_merge", block_on(handle.insert_or_merge(&stale)).map(drop)),
        ("unit", by_unit),
    ] {
        let error = written.expect_err(verb);
        assert!(error.to_string().contains("may have been removed"), "{verb}: {error}");
    }
    assert_eq!(block_on(handle.get(Employee::key("Sales", 1))).unwrap(), None);
}

/// Tests an update of an entity through the underlying handle long after the uploads. The stored version still has the addresses.
#[test]
fn pat_large_2_writes_that_leave_the_blobs_unchanged_need_no_new_upload() {
    let scene = scene();
    let written = block_on(scene.employees.insert(ada(1), [PHOTO.content(content(3, 20))])).unwrap();
    scene.now.fetch_add(10 * GRACE, Ordering::SeqCst);
    let handle = scene.employees.entities();
    let updated =
        block_on(handle.update(Employee::key("Sales", 1), |ada: &mut Employee| ada.cv = None)).unwrap();
    assert_eq!(updated.photo, written.photo);
    let read = block_on(handle.get(Employee::key("Sales", 1))).unwrap().unwrap();
    let updated = block_on(handle.update(read, |ada: &mut Employee| ada.cv = None)).unwrap();
    let etag = block_on(handle.replace(&updated, updated.etag().clone())).unwrap();
    block_on(handle.merge(&updated, etag)).unwrap();
    scene.collect_all();
    assert_eq!(scene.read(1).unwrap(), Some(vec![3; 20]));
}

#[test]
fn pat_large_2_an_address_that_the_stored_entity_no_longer_has_is_refused_under_any_condition() {
    let scene = scene();
    let old = block_on(scene.employees.insert(ada(223), [PHOTO.content(content(1, 20))])).unwrap();
    let other = [PHOTO.content(content(2, 20)), CV.content(content(3, 20))];
    let new = block_on(scene.employees.replace(ada(223), old.etag().clone(), other)).unwrap();
    scene.collect_all();
    // The entity contains the address of the removed blob. The write requires either any version or the stored version.
    let stale = Employee { photo: old.photo.clone(), ..new.value().clone() };
    for if_match in [IfMatch::Any, IfMatch::ETag(new.etag().clone())] {
        let error = block_on(scene.employees.replace(stale.clone(), if_match, [])).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-LARGE-2")), "{error}");
    }
    // The underlying handle refuses the address as well.
    let handle = scene.employees.entities();
    let patch = handle.patch(Employee::key("Sales", 223)).if_match(new.etag().clone());
    let written = [
        block_on(handle.replace(&stale, new.etag().clone())).map(drop),
        block_on(handle.merge(&stale, new.etag().clone())).map(drop),
        block_on(patch.set(Employee::PHOTO, stale.photo.clone()).send()).map(drop),
    ];
    for written in written {
        let error = written.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAT-LARGE-2")), "{error}");
    }
    // The same entity is written with new content for a different blob. The write requires the current version or an older one.
    let cv = || [CV.content(content(4, 20))];
    let error = block_on(scene.employees.replace(stale.clone(), new.etag().clone(), cv())).unwrap_err();
    assert_eq!(error.rule(), Some("PAT-LARGE-2"));
    let error = block_on(scene.employees.replace(stale, old.etag().clone(), cv())).unwrap_err();
    assert!(error.is_precondition_failed(), "{error}");
    block_on(scene.employees.replace(new.value().clone(), new.etag().clone(), cv())).unwrap();
    scene.collect_all();
    assert_eq!(
        (scene.read(223).unwrap(), scene.read_blob(223, CV).unwrap()),
        (Some(vec![2; 20]), Some(vec![4; 20]))
    );
    assert_eq!(scene.blobs.names().len(), 2);
}

/// Inserts an entity while two collectors run. Their clocks differ from the writer's clock by the given offsets. Returns the content that is stored afterwards.
fn insert_beside_collectors([first, second]: [i64; 2]) -> Result<Option<Vec<u8>>> {
    let scene = scene();
    let collector = |ahead: i64| {
        let (now, other) = (Arc::clone(&scene.now), scene.employees.clone());
        other.with_clock(Clock::new(move || now.load(Ordering::SeqCst).saturating_add_signed(ahead)))
    };
    let (first, second) = (collector(first), collector(second));
    scene.tables.script(move |call, _| match call {
        Call::Submit => {
            let (first, second) = (first.clone(), second.clone());
            Fault::Meanwhile(Box::new(move || {
                block_on(first.collect_orphans()).unwrap();
                block_on(second.collect_orphans()).unwrap();
            }))
        }
        _ => Fault::None,
    });
    block_on(scene.employees.insert(ada(223), [PHOTO.content(content(7, 20))])).unwrap();
    scene.tables.heal();
    scene.read(223)
}

#[test]
fn pat_large_2_collectors_whose_clocks_differ_by_less_than_the_grace_period_spare_an_upload() {
    let (days, less) = (9 * GRACE.cast_signed(), GRACE.cast_signed() - 1);
    for clocks in
        [[0, 0], [days, days], [days, days + less], [days + less, days], [-days, -days - less], [-less, less]]
    {
        assert_eq!(insert_beside_collectors(clocks).unwrap(), Some(vec![7; 20]), "{clocks:?}");
    }
    // If the clocks differ by the grace period or more, the collectors remove a blob while its entity is being written.
    let error = insert_beside_collectors([days, 2 * days]).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::BlobNotFound, Some("PAT-LARGE-2")));
}
