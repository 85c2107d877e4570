//! Tests slow collections of orphaned blobs, and collections during which an entity cannot be read.

use super::*;
use crate::migrate::Migration;

/// Tests collections during which time passes, and an entity changes before one of the reads. Later collections may be faster.
#[test]
fn pat_large_2_a_reader_has_the_grace_period_however_long_a_collection_takes() {
    let paces = [0, 1, 4, 9, 12].into_iter().flat_map(|tenths| [(tenths, tenths), (tenths, 0)]);
    for ((tenths, later), at) in paces.flat_map(|paces| (0..8).map(move |at| (paces, at))) {
        let scene = scene();
        for id in 0..3 {
            block_on(scene.employees.insert(ada(id), [PHOTO.content(content(1, 20))])).unwrap();
        }
        let old = block_on(scene.employees.table().get(Employee::key("Sales", 2))).unwrap().unwrap();
        scene.now.fetch_add(10 * GRACE, Ordering::SeqCst);
        let (now, blobs) = (Arc::clone(&scene.now), scene.blobs.clone());
        let clock = scene.employees.clock.clone();
        let table = scene.tables.inner().table::<Employee>();
        let other = LargeTable::new(table, Arc::new(blobs.clone()), "photos").with_clock(clock);
        let pace = Arc::new(AtomicU64::new(tenths));
        // The time at which the entity stopped referring to its blob; 0 before then.
        let changed = Arc::new(AtomicU64::new(0));
        let path = old.photo.as_ref().unwrap().path().to_owned();
        let check = {
            let (now, changed) = (Arc::clone(&now), Arc::clone(&changed));
            move || {
                let until = changed.load(Ordering::SeqCst).saturating_add(GRACE);
                let is_kept = until == GRACE || now.load(Ordering::SeqCst) < until;
                assert!(
                    !is_kept || blobs.names().contains(&path),
                    "{tenths} and {later} tenths a read, read {at}"
                );
            }
        };
        let (during, during_pace, mut reads) = (check.clone(), Arc::clone(&pace), 0);
        scene.tables.script(move |call, _| {
            let (read, check) = (reads, during.clone());
            reads += usize::from(call == Call::Get);
            let (other, now, changed) = (other.clone(), Arc::clone(&now), Arc::clone(&changed));
            let tenths = during_pace.load(Ordering::SeqCst);
            if call != Call::Get {
                return Fault::None;
            }
            Fault::Meanwhile(Box::new(move || {
                now.fetch_add(tenths * GRACE / 10, Ordering::SeqCst);
                check();
                if read == at {
                    block_on(other.remove(Employee::key("Sales", 2), PHOTO)).unwrap();
                    changed.store(now.load(Ordering::SeqCst), Ordering::SeqCst);
                }
            }))
        });
        for _ in 0..4 {
            block_on(scene.employees.collect_orphans()).unwrap();
            check();
            pace.store(later, Ordering::SeqCst);
        }
        scene.tables.heal();
        scene.collect_all();
        assert!(scene.blobs.names().len() <= 3);
    }
}

/// Moves a table with two entities to another store, and then inserts a third entity there. The blobs are not moved. A collector always runs at the target
/// after the copy. If requested, others run at the target during the copy, or at the source after it. Returns the number of contents that can be read.
fn readable_after_a_move(collects_at_target_during: bool, collects_at_source_after: bool) -> usize {
    let (source, target) = (scene(), Engine::in_memory());
    let table = block_on(target.table::<Employee>().create_if_missing()).unwrap();
    let moved = LargeTable::new(table, Arc::new(source.blobs.clone()), "photos")
        .with_clock(source.employees.clock.clone());
    let photo = || PHOTO.content(content(1, 20));
    for id in 0..2 {
        block_on(source.employees.insert(ada(id), [photo()])).unwrap();
    }
    source.now.fetch_add(GRACE, Ordering::SeqCst);
    let name = source.employees.table().name().unwrap().clone();
    let mut copy = Migration::new(source.tables.inner(), &target, name).page(1);
    let daily = |is_target: bool| {
        for _ in 0..2 {
            if is_target {
                block_on(moved.collect_orphans()).unwrap();
            } else {
                block_on(source.employees.collect_orphans()).unwrap();
            }
            source.now.fetch_add(GRACE, Ordering::SeqCst);
        }
    };
    assert!(block_on(copy.step()).unwrap());
    if collects_at_target_during {
        daily(true);
    }
    while block_on(copy.step()).unwrap() {}
    block_on(moved.insert(ada(2), [photo()])).unwrap();
    source.now.fetch_add(GRACE, Ordering::SeqCst);
    if collects_at_source_after {
        daily(false);
    }
    daily(true);
    let is_readable = |id: &u32| {
        let found = block_on(moved.table().get(Employee::key("Sales", *id))).unwrap().unwrap();
        block_on(async { moved.open(&found, PHOTO).await?.unwrap().bytes().await }).is_ok()
    };
    (0..3).filter(is_readable).count()
}

/// Shows why the collectors of both stores must be stopped while a table is moved, and why the source's collector must not run again.
#[test]
fn pat_large_2_a_move_keeps_all_blobs_if_only_a_collector_of_the_complete_table_runs() {
    assert_eq!(readable_after_a_move(false, false), 3);
    assert_eq!(readable_after_a_move(true, false), 2, "the second entity had not been copied");
    assert_eq!(readable_after_a_move(false, true), 2, "the source does not have the third entity");
}

/// Marks the first photo of an entity as an orphan, restores the earlier entity, and replaces the photo again. Returns `true` if the next collection keeps the
/// first photo for a reader of the restored entity.
fn keeps_a_restored_photo(removes_marks: bool) -> bool {
    let scene = scene();
    let photo = |byte| [PHOTO.content(content(byte, 20))];
    let first = block_on(scene.employees.insert(ada(1), photo(1))).unwrap();
    block_on(scene.employees.set(Employee::key("Sales", 1), photo(2))).unwrap();
    scene.now.fetch_add(GRACE, Ordering::SeqCst);
    assert_eq!(block_on(scene.employees.collect_orphans()).unwrap().marked, 1);
    let restored = scene.tables.inner().table::<Employee>();
    block_on(restored.replace(&*first, IfMatch::Any)).unwrap();
    for mark in scene.blobs.names().iter().filter(|name| removes_marks && name.contains("/orphans/")) {
        block_on(scene.blobs.delete(&Path::from(mark.as_str()))).unwrap();
    }
    scene.now.fetch_add(GRACE, Ordering::SeqCst);
    block_on(scene.employees.set(Employee::key("Sales", 1), photo(3))).unwrap();
    block_on(scene.employees.collect_orphans()).unwrap();
    block_on(scene.employees.open(&first, PHOTO)).is_ok()
}

/// Shows why the marks must be deleted after a restore.
#[test]
fn pat_large_2_a_reader_has_the_grace_period_after_a_restore_without_marks() {
    assert!(keeps_a_restored_photo(true));
    assert!(!keeps_a_restored_photo(false), "the mark is older than the restore");
}

/// Tests a collection during which the entity of one blob cannot be read, because the store cannot represent one of its properties.
#[test]
fn pat_large_2_an_entity_that_cannot_be_read_keeps_its_blobs_and_stops_no_collection() {
    let codes = [ErrorCode::EntityMismatch, ErrorCode::Corrupted];
    for (number, code) in (0..2).flat_map(|number| codes.map(|code| (number, code))) {
        let scene = scene();
        for id in [1, 2] {
            block_on(scene.employees.insert(ada(id), [PHOTO.content(content(3, 20))])).unwrap();
            block_on(scene.employees.table().delete(Employee::key("Sales", id), IfMatch::Any)).unwrap();
        }
        let mut removed = 0;
        for _ in 0..2 {
            scene.now.fetch_add(GRACE, Ordering::SeqCst);
            scene.tables.script(move |_, at| if at == number { Fault::Before(code) } else { Fault::None });
            removed += block_on(scene.employees.collect_orphans()).unwrap().removed;
        }
        assert_eq!((removed, scene.blobs.names().len()), (1, 1), "entity {number}");
    }
}
