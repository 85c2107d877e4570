//! Tests entities that are corrected, retried and corrupted again while a follower works.

use std::slice;

use pollster::block_on;
use table_core::ErrorCode::{Corrupted, EntityMismatch};
use table_core::TableStoreExt;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;

use super::{ByDepartment, Member, World, members};
use crate::feed::FEEDS;
use crate::tests::faults::Fault;
use crate::view::record;

/// Creates a department with one member that is set aside.
fn world() -> World {
    let world = World::new();
    let (view, _) = world.follower::<ByDepartment>();
    block_on(view.rebuild().run()).unwrap();
    world.hire("A", 1, 30);
    world.hire("B", 1, 30);
    world.garble("B", 1);
    block_on(view.catch_up(100)).unwrap();
    assert_eq!(block_on(view.poison()).unwrap().len(), 1);
    world
}

fn correct(world: &World) {
    let member = Member { department: "B".into(), id: 1, age: 31 };
    block_on(world.members.insert_or_replace(&member)).unwrap();
}

/// Runs a new follower after `prepare`. Other processes run `meanwhile` before the follower's request `number`, and leave the member corrupted. Returns `false`
/// if the follower sent fewer requests.
fn is_interrupted(number: usize, prepare: fn(&World), meanwhile: fn(&World), retries: bool) -> bool {
    let world = world();
    prepare(&world);
    let (view, store) = world.follower::<ByDepartment>();
    let (others, mut act) = (world.again(), Some(meanwhile));
    store.script(move |_, call| match act.take_if(|_| call == number) {
        Some(act) => {
            let others = others.again();
            Fault::Meanwhile(Box::new(move || act(&others)))
        }
        None => Fault::None,
    });
    if retries {
        block_on(view.retry_poison()).unwrap();
    } else {
        block_on(view.catch_up(100)).unwrap();
    }
    let was_interrupted = store.calls().len() > number;
    store.heal();
    while block_on(view.catch_up(100)).unwrap().is_behind {}
    if was_interrupted {
        assert_eq!(block_on(view.poison()).unwrap().len(), 1, "request {number}");
    }
    was_interrupted
}

#[test]
fn imp_6_a_member_that_a_retry_applied_is_set_aside_again_by_a_follower_that_fails() {
    let spoil = |world: &World| {
        correct(world);
        world.garble("B", 1);
    };
    let retried = |world: &World| {
        let (view, _) = world.follower::<ByDepartment>();
        correct(world);
        assert_eq!(block_on(view.retry_poison()).unwrap(), 1);
        world.garble("B", 1);
    };
    assert!((0..10_000).find(|number| !is_interrupted(*number, spoil, retried, false)).unwrap() > 5);
}

#[test]
fn imp_6_a_retry_does_not_hide_a_failure_that_a_follower_reports_meanwhile() {
    let spoiled = |world: &World| {
        let (view, _) = world.follower::<ByDepartment>();
        world.garble("B", 1);
        while block_on(view.catch_up(100)).unwrap().is_behind {}
    };
    assert!((0..10_000).find(|number| !is_interrupted(*number, correct, spoiled, true)).unwrap() > 5);
}

#[test]
fn imp_6_an_entity_that_was_applied_is_no_longer_set_aside() {
    let gone = |world: &World| block_on(world.members.delete(Member::key("B", 1), IfMatch::Any)).unwrap();
    for repair in [correct as fn(&World), gone] {
        for rebuilds in [true, false] {
            let world = world();
            let (view, _) = world.follower::<ByDepartment>();
            world.hire("B", 2, 30);
            world.garble("B", 2);
            block_on(view.catch_up(100)).unwrap();
            repair(&world);
            if rebuilds {
                assert_eq!(block_on(view.rebuild().run()).unwrap().failed, 1);
            } else {
                block_on(view.apply(&Member::key("B", 1).into_key().unwrap())).unwrap();
            }
            let poison = block_on(view.poison()).unwrap();
            let keys: Vec<_> = poison.iter().map(|one| one.source.row_key.as_str()).collect();
            assert_eq!(keys, ["e_000002"], "by a rebuild: {rebuilds}");
        }
    }
}

#[test]
fn imp_6_an_entity_that_fails_again_while_it_is_applied_remains_set_aside() {
    let spoiled = |world: &World| {
        let (view, _) = world.follower::<ByDepartment>();
        world.garble("B", 1);
        while block_on(view.catch_up(100)).unwrap().is_behind {}
    };
    for rebuilds in [true, false] {
        let mut interrupted = 0;
        for number in 0.. {
            let world = world();
            correct(&world);
            let (view, store) = world.follower::<ByDepartment>();
            let (others, mut act) = (world.again(), Some(spoiled));
            store.script(move |_, call| match act.take_if(|_| call == number) {
                Some(act) => {
                    let others = others.again();
                    Fault::Meanwhile(Box::new(move || act(&others)))
                }
                None => Fault::None,
            });
            let _ = if rebuilds {
                block_on(view.rebuild().run()).map(drop)
            } else {
                block_on(view.apply(&Member::key("B", 1).into_key().unwrap()))
            };
            if store.calls().len() <= number {
                break;
            }
            interrupted += 1;
            assert_eq!(
                block_on(view.poison()).unwrap().len(),
                1,
                "request {number}, by a rebuild: {rebuilds}"
            );
        }
        assert!(interrupted > 3, "{interrupted}");
    }
}

/// Tests a row that pages of the store omit and whose reads fail if they select the invalid property, such as an entity with a date-time before 1601 on Azurite.
/// The row is adjacent to enough other changed rows to be read in a page, or not.
#[test]
fn imp_6_a_row_that_the_store_cannot_represent_is_set_aside_and_keeps_its_share() {
    for (changed, code) in
        [1, 20].into_iter().flat_map(|changed| [EntityMismatch, Corrupted].map(|code| (changed, code)))
    {
        let world = World::new();
        let (view, store) = world.follower::<ByDepartment>();
        block_on(view.rebuild().run()).unwrap();
        (0..20).for_each(|id| world.hire("A", id, 30));
        while block_on(view.catch_up(100)).unwrap().is_behind {}
        let strange = Member::key("A", 3).into_key().unwrap();
        let is_strange = {
            let strange = strange.clone();
            move |table: &TableName, key: &EntityKey| table.as_str() == "Staff" && *key == strange
        };
        store.misread(("Age", code), is_strange);
        for id in 3..3 + changed {
            block_on(world.members.update(Member::key("A", id % 20), |member| member.age = 40)).unwrap();
        }
        let at = format!("{changed} changed, {code:?}");
        let caught = block_on(view.catch_up(100)).unwrap();
        assert_eq!((caught.failed, caught.is_behind), (1, false), "{at}");
        let years = 20 * 30 + 10 * (i64::from(changed) - 1);
        assert_eq!(members(&view, "A"), (20, years), "{at}: the row counts as it was before");
        let aside = || block_on(view.poison()).unwrap().into_iter().map(|one| one.source).collect::<Vec<_>>();
        assert_eq!(aside(), slice::from_ref(&strange), "{at}");
        let rebuilt = block_on(view.rebuild().run()).unwrap();
        assert_eq!((rebuilt.skipped, rebuilt.failed, rebuilt.removed), (0, 1, 0), "{at}");
        assert_eq!(members(&view, "A"), (20, years), "{at}: rebuilt");
        assert_eq!(aside(), [strange], "{at}: rebuilt");
        store.heal();
        assert_eq!(block_on(view.retry_poison()).unwrap(), 1, "{at}");
        assert_eq!((members(&view, "A"), aside().len()), ((20, years + 10), 0), "{at}");
    }
}

#[test]
fn imp_6_a_rebuild_counts_rows_whose_keys_are_unknown() {
    let world = World::new();
    let (view, store) = world.follower::<ByDepartment>();
    (0..5).for_each(|id| world.hire("A", id, 30));
    let strange = Member::key("A", 3).into_key().unwrap();
    store.misread(("RowKey", EntityMismatch), move |table, key| table.as_str() == "Staff" && *key == strange);
    let rebuilt = block_on(view.rebuild().run()).unwrap();
    assert_eq!((rebuilt.applied, rebuilt.skipped, rebuilt.failed), (4, 1, 0));
    assert_eq!(members(&view, "A"), (4, 120));
}

#[test]
fn imp_6_a_rebuild_counts_feeds_whose_registrations_have_unknown_keys() {
    let world = World::new();
    let (view, store) = world.follower::<ByDepartment>();
    for department in ["A", "B", "C"] {
        world.hire(department, 1, 30);
    }
    store.misread(("RowKey", EntityMismatch), |table, key| {
        table.as_str() == FEEDS && ["A", "C"].contains(&key.row_key.as_str())
    });
    for rows in [1, 1_000] {
        assert_eq!(block_on(view.rebuild().page(rows).run()).unwrap().skipped, 2, "{rows}");
    }
    store.misread(("Table", EntityMismatch), |table, _| table.as_str() == FEEDS);
    assert_eq!(block_on(view.rebuild().run()).unwrap().skipped, 0);
}

/// Creates a view with five members, and returns the keys of a member's record and of its list of partitions.
fn with_records() -> (World, EntityKey, [EntityKey; 2]) {
    let world = World::new();
    let (view, _) = world.follower::<ByDepartment>();
    block_on(view.rebuild().run()).unwrap();
    (0..5).for_each(|id| world.hire("A", id, 30));
    while block_on(view.catch_up(100)).unwrap().is_behind {}
    let member = Member::key("A", 3).into_key().unwrap();
    let record = record::share_key(&member.partition_key, &member).unwrap();
    let list = record::places_key(&member).unwrap();
    (world, member, [record, list])
}

/// Tests a record that pages of the view's table omit. Its entity is set aside, and the sums to which the record contributes remain as they are.
#[test]
fn imp_6_a_rebuild_does_not_recount_sums_without_a_record_that_pages_omit() {
    for (property, skipped) in [("Sums", 1), ("RowKey", 1)] {
        let (world, _, [record, _]) = with_records();
        let (view, store) = world.follower::<ByDepartment>();
        store.misread((property, EntityMismatch), move |table, key| {
            table.as_str() == "Years" && *key == record
        });
        let rebuilt = block_on(view.rebuild().run()).unwrap();
        assert_eq!((rebuilt.skipped, rebuilt.failed, rebuilt.corrected), (skipped, 1, 0), "{property}");
        assert_eq!(members(&view, "A"), (5, 150), "{property}");
        store.heal();
        assert_eq!(block_on(view.retry_poison()).unwrap(), 1);
        assert_eq!(
            (members(&view, "A"), block_on(view.poison()).unwrap().len()),
            ((5, 150), 0),
            "{property}"
        );
    }
}

/// Tests a deleted member whose list of partitions pages of the view's table omit. The view still contains the member, so a rebuild must report it.
#[test]
fn imp_6_a_rebuild_reports_an_entity_that_is_gone_and_whose_list_pages_omit() {
    for (property, skipped, failed) in [("Places", 0, 1), ("RowKey", 1, 0)] {
        let (world, member, [_, list]) = with_records();
        block_on(world.engine.untyped("Staff").unwrap().delete(&member, IfMatch::Any)).unwrap();
        let (view, store) = world.follower::<ByDepartment>();
        store
            .misread((property, EntityMismatch), move |table, key| table.as_str() == "Years" && *key == list);
        let rebuilt = block_on(view.rebuild().run()).unwrap();
        assert_eq!((rebuilt.skipped, rebuilt.failed, rebuilt.removed), (skipped, failed, 0), "{property}");
        store.heal();
        let rebuilt = block_on(view.rebuild().run()).unwrap();
        assert_eq!((rebuilt.removed, members(&view, "A")), (1, (4, 120)), "{property}");
    }
}
