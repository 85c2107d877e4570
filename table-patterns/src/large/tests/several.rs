//! Tests large entities with several blobs each.

use super::*;

#[test]
fn pat_large_2_several_blobs_are_one_write() {
    let scene = scene();
    let both = |value| [PHOTO.content(content(value, 20)), CV.content(content(value + 1, 9))];
    let old = block_on(sendable(scene.employees.insert(ada(223), both(1)))).unwrap();
    assert_eq!(scene.tables.calls(), [Call::Submit]);
    assert_eq!(
        (scene.read(223).unwrap(), scene.read_blob(223, CV).unwrap().unwrap()),
        (Some(vec![1; 20]), vec![2; 9])
    );
    // Each request fails in turn: the first upload, the second upload, and the write of the entity. None of the new blobs remains.
    scene.blobs.heal();
    for number in 0.. {
        scene.blobs.fail_at(number, false);
        let replaced = block_on(scene.employees.replace(ada(223), old.etag().clone(), both(3)));
        scene.blobs.heal();
        if replaced.is_ok() {
            assert!(number > 5, "both were uploaded in parts");
            break;
        }
        assert_eq!(scene.read_blob(223, CV).unwrap().unwrap(), [2; 9]);
        assert_eq!(scene.blobs.names().len(), 2, "request {number}");
    }
    assert_eq!(
        (scene.read(223).unwrap(), scene.read_blob(223, CV).unwrap().unwrap()),
        (Some(vec![3; 20]), vec![4; 9])
    );
    scene.collect_all();
    assert_eq!(scene.blobs.names().len(), 2);
}

#[test]
fn pat_large_3_one_blob_is_set_by_a_merge_and_the_other_stays() {
    let scene = scene();
    block_on(scene.employees.insert(ada(223), [PHOTO.content(content(1, 20))])).unwrap();
    scene.tables.heal();
    let key = || Employee::key("Sales", 223);
    block_on(sendable(scene.employees.set(key(), [CV.content(content(2, 9))]))).unwrap();
    assert_eq!(scene.tables.calls(), [Call::Submit]);
    assert_eq!(
        (scene.read(223).unwrap(), scene.read_blob(223, CV).unwrap().unwrap()),
        (Some(vec![1; 20]), vec![2; 9])
    );
    let removed = block_on(sendable(scene.employees.remove(key(), PHOTO))).unwrap();
    assert_eq!((removed.photo.as_ref(), scene.read_blob(223, CV).unwrap().unwrap()), (None, vec![2; 9]));
    assert_eq!(scene.blobs.names().len(), 2, "readers have the grace period");
    scene.collect_all();
    assert_eq!(scene.blobs.names().len(), 1);
    let absent = block_on(scene.employees.set(Employee::key("Sales", 9), [CV.content(content(2, 9))]));
    assert!(absent.unwrap_err().is_not_found());
    assert_eq!(scene.blobs.names().len(), 1);
}

#[test]
fn pat_large_2_a_stale_address_is_never_written_again() {
    let scene = scene();
    let both = [PHOTO.content(content(1, 20)), CV.content(content(2, 9))];
    let found = block_on(scene.employees.insert(ada(223), both)).unwrap();
    let again = || found.value().clone();
    let photo = || [PHOTO.content(content(3, 20))];
    let refused = [
        block_on(scene.employees.replace(again(), IfMatch::Any, photo())),
        block_on(scene.employees.insert(Employee { photo: None, ..again() }, photo())),
        block_on(scene.employees.insert(again(), [])),
        block_on(scene.employees.replace(Employee { id: 1, ..again() }, found.etag().clone(), photo())),
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert_eq!((error.is_invalid_input(), error.rule()), (true, Some("PAT-LARGE-2")), "{error}");
        assert_eq!(scene.blobs.names().len(), 2, "what was uploaded for it is gone");
    }
    block_on(scene.employees.replace(again(), found.etag().clone(), photo())).unwrap();
    scene.collect_all();
    assert_eq!(
        (scene.read(223).unwrap(), scene.read_blob(223, CV).unwrap().unwrap()),
        (Some(vec![3; 20]), vec![2; 9])
    );
    assert_eq!(scene.blobs.names().len(), 2);
}

#[test]
fn pat_large_2_misuse_is_refused_before_anything_is_uploaded() {
    let scene = scene();
    let twice = || [CV.content(content(1, 9)), CV.content(content(2, 9))];
    let error = block_on(scene.employees.insert(ada(223), twice())).unwrap_err();
    assert!(error.is_invalid_input() && error.to_string().contains("Resume"), "{error}");
    assert!(block_on(scene.employees.set(Employee::key("Sales", 223), [])).unwrap_err().is_invalid_input());
    assert_eq!((scene.tables.calls(), scene.blobs.calls()), (Vec::new(), 0));
}

#[test]
fn pat_large_2_the_collector_of_an_older_program_spares_blobs_it_does_not_know() {
    let scene = scene();
    let both = [PHOTO.content(content(1, 20)), CV.content(content(2, 9))];
    block_on(scene.employees.insert(ada(223), both)).unwrap();
    let old = LargeTable::<OldEmployee, _>::new(
        scene.tables.clone().table(),
        Arc::new(scene.blobs.clone()),
        "photos",
    );
    for days in 2..6 {
        let old = old.clone().with_clock(Clock::new(move || NOON + days * GRACE));
        assert_eq!(block_on(old.collect_orphans()).unwrap(), Collected { kept: 2, ..Collected::default() });
    }
}
