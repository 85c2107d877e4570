//! Tests that a busy partition does not delay a view's other source partitions for long.

mod random;

use std::sync::atomic::Ordering;

use pollster::block_on;
use table_core::key::PartitionKey;
use table_core::name::TableName;

use super::{ByDepartment, Store, World, members};
use crate::view::ViewTable;

/// Creates 30 departments with quiet feeds. Returns the two departments whose feeds are adjacent in the registry.
fn neighbours(world: &World) -> (String, String) {
    let (view, _) = world.follower::<ByDepartment>();
    block_on(view.rebuild().run()).unwrap();
    (0..30).for_each(|number| world.hire(&format!("d{number}"), 0, 1));
    while block_on(view.catch_up(1_000)).unwrap().is_behind {}
    let partitions = block_on(view.feed().partitions(&TableName::new("Staff").unwrap())).unwrap();
    (partitions[10].as_str().to_owned(), partitions[11].as_str().to_owned())
}

/// Returns the number of calls until a change is applied. The preceding partition is busy: in it, each call finds as many changes as it can apply.
fn calls_next_to_a_busy_partition(are_processes: bool) -> usize {
    let world = World::new();
    let (busy, other) = neighbours(&world);
    let (view, _) = world.follower::<ByDepartment>();
    block_on(view.catch_up(1_000)).unwrap();
    world.hire(&other, 1, 1);
    (1..1_000)
        .find(|call: &u32| {
            (0..10).for_each(|id| world.hire(&busy, call * 10 + id, 1));
            let view = if are_processes { world.follower::<ByDepartment>().0 } else { view.clone() };
            block_on(view.catch_up(10)).unwrap();
            members(&view, &other).0 == 2
        })
        .map_or(usize::MAX, |call| call as usize)
}

#[test]
fn imp_6_a_busy_partition_delays_its_neighbour_by_one_call_despite_quiet_partitions() {
    assert!(calls_next_to_a_busy_partition(false) <= 2);
    // Each process begins with a partition chosen at random.
    assert!(calls_next_to_a_busy_partition(true) <= 60);
}

/// Returns the number of calls until a change is applied. The preceding partition is busy: in it, each call finds as many changes as it can apply. A different
/// call is made between every two of these calls.
fn calls_between_others(
    first: usize,
    other_call: fn(&ViewTable<ByDepartment, Store>, &PartitionKey),
) -> usize {
    let world = World::new();
    let (busy, other) = neighbours(&world);
    let (view, _) = world.follower::<ByDepartment>();
    for _ in 0..=first {
        block_on(view.catch_up(1_000)).unwrap();
    }
    world.hire(&other, 1, 1);
    let busy_key = PartitionKey::new(busy.as_str()).unwrap();
    (1..100)
        .find(|call: &u32| {
            (0..20).for_each(|id| world.hire(&busy, call * 20 + id, 1));
            other_call(&view, &busy_key);
            block_on(view.catch_up(10)).unwrap();
            members(&view, &other).0 == 2
        })
        .map_or(usize::MAX, |call| call as usize)
}

#[test]
fn imp_6_a_busy_partition_delays_its_neighbour_by_one_call_despite_other_calls() {
    // The number of earlier calls determines which partition the first call processes first.
    for first in 0..2 {
        let calls = calls_between_others(first, |view, busy| {
            block_on(view.catch_up_partition(busy, 10)).unwrap();
        });
        assert!(calls <= 2, "{calls} calls, each after a call for the busy partition");
        let calls = calls_between_others(first, |view, _| {
            // A clone of the handle is applying changes.
            view.memory.follower.working.store(true, Ordering::SeqCst);
            assert!(block_on(view.catch_up(10)).unwrap().busy > 0);
            view.memory.follower.working.store(false, Ordering::SeqCst);
        });
        assert!(calls <= 2, "{calls} calls, each after a call that another follower prevented");
    }
}
