//! Tests several followers of one view: crashes, delays, and the number of requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pollster::block_on;
use table_core::embedded::{Clock, EngineOptions};
use table_core::etag::ETag;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::{ErrorCode, Result};

use super::{ByDepartment, Member, World, Years, members};
use crate::EntityStore;
use crate::feed::FEEDS;
use crate::tests::faults::{Call, Fault, FaultyStore};
use crate::view::follower::{Follower, Found};
use crate::view::{CaughtUp, Projection, View};
use crate::work::Runtime;

#[test]
fn imp_6_a_crashed_follower_is_replaced_with_any_clock() {
    for clock in ["passes", "stands", "jumps back"] {
        let world = World::new();
        let (dead, store) = world.follower::<ByDepartment>();
        block_on(dead.rebuild().run()).unwrap();
        (0..50).for_each(|id| world.hire("A", id, 30));
        // The follower takes the lease with its first write, and dies at its second write.
        let mut writes = 0;
        store.script(move |call, _| {
            writes += usize::from(call == Call::Submit);
            if writes < 2 { Fault::None } else { Fault::Before(ErrorCode::EngineClosed) }
        });
        block_on(dead.catch_up(100)).unwrap_err();
        let (next, _) = world.follower::<ByDepartment>();
        let mut calls = 0;
        loop {
            let caught = block_on(next.catch_up(100)).unwrap();
            calls += 1;
            if !caught.is_behind {
                break;
            }
            assert_eq!((caught.changes, caught.busy), (0, 1));
            match clock {
                "passes" => world.time.fetch_add(100_000_000, Ordering::SeqCst),
                "jumps back" => world.time.fetch_sub(864_000_000_000, Ordering::SeqCst),
                _ => 0,
            };
            assert!(calls < 1_000, "{clock}");
        }
        assert_eq!(members(&next, "A").0, 50);
        assert_eq!(calls == 4, clock == "passes", "{clock}: {calls}");
    }
}

#[test]
fn imp_6_programs_that_call_once_replace_a_crashed_follower() {
    let store_time = Arc::new(AtomicU64::new(639_307_584_000_000_000));
    let clock = Arc::clone(&store_time);
    let options = EngineOptions::new().clock(Clock::new(move || clock.load(Ordering::SeqCst)));
    let world = World::over(options.in_memory());
    let (dead, store) = world.follower::<ByDepartment>();
    block_on(dead.rebuild().run()).unwrap();
    (0..50).for_each(|id| world.hire("A", id, 30));
    let mut writes = 0;
    store.script(move |call, _| {
        writes += usize::from(call == Call::Submit);
        if writes < 2 { Fault::None } else { Fault::Before(ErrorCode::EngineClosed) }
    });
    block_on(dead.catch_up(100)).unwrap_err();
    // Each call uses a new follower. It remembers nothing, and its own clock is stopped.
    let once = || block_on(world.follower::<ByDepartment>().0.catch_up(100)).unwrap();
    for seconds in [0, 29, 2] {
        store_time.fetch_add(seconds * 10_000_000, Ordering::SeqCst);
        assert_eq!(once().busy, 1, "{seconds}");
    }
    assert_eq!((once().changes, members(&world.follower::<ByDepartment>().0, "A").0), (50, 50));
}

/// Tests followers that make ten calls during each of a writer's commits. Each commit is made by a new process, which remembers no heads.
#[test]
fn imp_6_followers_that_call_during_each_commit_delay_no_writer() {
    let world = World::new();
    let (view, _) = world.follower::<ByDepartment>();
    block_on(view.rebuild().run()).unwrap();
    for id in 0..30 {
        let (store, view) = (FaultyStore::new(world.engine.clone()), view.clone());
        let members = store.entities::<Member>();
        let member = Member { department: "A".into(), id, age: 1 };
        store.script(move |call, _| {
            let view = view.clone();
            if call != Call::Submit {
                return Fault::None;
            }
            Fault::Meanwhile(Box::new(move || {
                for _ in 0..10 {
                    block_on(view.catch_up(100)).unwrap();
                }
            }))
        });
        block_on(members.insert(&member)).unwrap();
        assert!(store.calls().len() <= 8, "{} requests", store.calls().len());
    }
    while block_on(view.catch_up(100)).unwrap().is_behind {}
    assert_eq!(members(&view, "A").0, 30);
}

/// Tests a follower that dies while it marks a feed as quiet, and a writer that dies before its commit. For a while afterwards, each call sends three more
/// requests.
#[test]
fn imp_6_a_feed_whose_writer_crashed_before_its_commit_becomes_quiet() {
    let world = World::new();
    let (view, store) = world.follower::<ByDepartment>();
    block_on(view.rebuild().run()).unwrap();
    world.hire("A", 1, 1);
    for _ in 0..3 {
        block_on(view.catch_up(100)).unwrap();
    }
    let dying = FaultyStore::new(world.engine.clone());
    dying.script(|call, at| {
        if call == Call::Submit && at > 1 { Fault::Before(ErrorCode::InternalError) } else { Fault::None }
    });
    block_on(dying.entities::<Member>().insert(&Member { department: "A".into(), id: 2, age: 1 }))
        .unwrap_err();
    let calls = |polls: usize| {
        store.heal();
        for _ in 0..polls {
            block_on(view.catch_up(100)).unwrap();
        }
        store.calls().len()
    };
    // The next hundred calls each read the list of partitions, the entities that are set aside, the cursor, and the head.
    assert_eq!((calls(1), calls(200), calls(1)), (4, 99 * 4 + 6 + 100, 1));
}

/// A view with one row, which contains the total number of members and the sum of their ages.
struct Everyone;

impl View for Everyone {
    type Source = Member;
    type Row = Years;

    fn project(member: &Member, view: &mut Projection<Years>) -> Result<()> {
        view.add(Years::key("all"), Years::MEMBERS, 1)?;
        view.add(Years::key("all"), Years::YEARS, member.age)
    }
}

/// Returns the number of requests that followers send to apply 8,000 changes in several departments. The followers are separate processes, or clones of one
/// handle.
fn requests_of<V: View<Row = Years>>(followers: usize, departments: u32, are_clones: bool) -> usize {
    let world = World::new();
    let (first, store) = world.follower::<V>();
    block_on(first.rebuild().run()).unwrap();
    let members = (0..8_000).map(|id| Member { department: format!("d{}", id % departments), id, age: 1 });
    block_on(world.members.bulk().insert_all(members)).unwrap();
    let follower = |_| if are_clones { (first.clone(), store.clone()) } else { world.follower::<V>() };
    let followers: Vec<_> = (0..followers).map(follower).collect();
    for (_, store) in &followers {
        store.heal();
    }
    std::thread::scope(|scope| {
        for (view, _) in &followers {
            scope.spawn(|| while block_on(view.catch_up(500)).unwrap().changes > 0 {});
        }
    });
    while block_on(first.catch_up(500)).unwrap().is_behind {}
    let rows = block_on(first.table()).unwrap().scan("all sums").max_rows(100_000);
    let sum: i64 = block_on(rows.collect()).unwrap().iter().map(|row: &Years| row.members).sum();
    assert_eq!(sum, 8_000);
    let followers = if are_clones { &followers[..1] } else { &followers[..] };
    followers.iter().map(|(_, store)| store.calls().len()).sum()
}

#[test]
fn imp_6_twenty_followers_share_the_work_of_one() {
    let check = |one: usize, twenty: usize, name: &str| {
        assert!(twenty <= one * 3 / 2, "{name}: {one} requests by one follower, {twenty} by twenty");
    };
    for departments in [1, 16] {
        for are_clones in [false, true] {
            let requests = |followers| requests_of::<Everyone>(followers, departments, are_clones);
            check(requests(1), requests(20), &format!("{departments} departments in one sum"));
        }
        let requests = |followers| requests_of::<ByDepartment>(followers, departments, false);
        check(requests(1), requests(20), &format!("{departments} departments with a sum each"));
    }
}

#[test]
fn imp_6_an_idle_poll_of_three_thousand_quiet_partitions_is_a_few_requests() {
    let world = World::new();
    let (view, store) = world.follower::<ByDepartment>();
    block_on(view.rebuild().run()).unwrap();
    let members = (0..3_000).map(|id| Member { department: format!("d{id}"), id, age: 1 });
    block_on(world.members.bulk().insert_all(members)).unwrap();
    while block_on(view.catch_up(1_000)).unwrap().is_behind {}
    store.heal();
    assert_eq!(block_on(view.catch_up(100)).unwrap(), CaughtUp::default());
    assert!(store.calls().len() <= 10, "{} requests", store.calls().len());
    // One of the departments changes.
    world.hire("d7", 9_000, 1);
    store.heal();
    assert_eq!(block_on(view.catch_up(100)).unwrap().changes, 1);
    assert!(store.calls().len() <= 30, "{} requests", store.calls().len());
}

#[test]
fn imp_6_a_follower_remembers_each_listed_partition_and_no_other() {
    let key = |number: u32| PartitionKey::new(format!("d{number}")).unwrap();
    let follower = Follower::default();
    for number in 0..=100_000 {
        follower.set(&key(number), Found { quiet: Some(ETag::from_ticks(1)), ..Found::default() });
    }
    assert!(follower.get(&key(0)).quiet.is_some());

    let world = World::new();
    let (view, _) = world.follower::<ByDepartment>();
    block_on(view.rebuild().run()).unwrap();
    (0..20).for_each(|number| world.hire(&format!("d{number}"), 0, 1));
    block_on(view.catch_up(1_000)).unwrap();
    let is_remembered = |number| view.memory.follower.get(&key(number)).quiet.is_some();
    assert!(is_remembered(1));
    block_on(world.engine.delete_table(&TableName::new(FEEDS).unwrap())).unwrap();
    world.again().hire("d0", 1, 1);
    assert_eq!(block_on(view.catch_up(1_000)).unwrap().changes, 1);
    assert!(!is_remembered(1));
}

/// Creates a view with 50 unapplied changes. A dead follower holds the view's lease.
fn with_dead_follower() -> World {
    let world = World::new();
    let (dead, store) = world.follower::<ByDepartment>();
    block_on(dead.rebuild().run()).unwrap();
    (0..50).for_each(|id| world.hire("A", id, 30));
    let mut writes = 0;
    store.script(move |call, _| {
        writes += usize::from(call == Call::Submit);
        if writes < 2 { Fault::None } else { Fault::Before(ErrorCode::EngineClosed) }
    });
    block_on(dead.catch_up(100)).unwrap_err();
    world
}

#[test]
fn imp_6_a_follower_that_polls_often_waits_for_the_period_of_a_lease() {
    let world = with_dead_follower();
    let (next, _) = world.follower::<ByDepartment>();
    for poll in 0..2_900 {
        world.time.fetch_add(100_000, Ordering::SeqCst);
        assert_eq!(block_on(next.catch_up(100)).unwrap().busy, 1, "poll {poll}");
    }
    world.time.fetch_add(20_000_000, Ordering::SeqCst);
    assert_eq!(block_on(next.catch_up(100)).unwrap().changes, 50);
}

#[test]
fn imp_6_a_call_for_one_partition_pauses_while_another_follower_works() {
    let world = with_dead_follower();
    let (next, _) = world.follower::<ByDepartment>();
    let (pauses, time) = (Arc::new(AtomicU64::new(0)), Arc::clone(&world.time));
    let counted = Arc::clone(&pauses);
    let pace = Runtime::new().clock(Clock::new(move || time.load(Ordering::SeqCst))).sleep_by(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {})
    });
    let next = next.with_retry(Retry::default().with_runtime(pace));
    let partition = PartitionKey::new("A").unwrap();
    for call in 1..4 {
        let caught = block_on(next.catch_up_partition(&partition, 100)).unwrap();
        assert_eq!((caught.busy, pauses.load(Ordering::SeqCst)), (1, call));
    }
}
