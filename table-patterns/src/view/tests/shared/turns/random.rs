//! Tests random calls by several followers that take the view's lease from each other, and calls that are cancelled.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};

use super::super::{ByDepartment, Member, Store, World, members};
use crate::Entities;
use crate::feed::FEED_HEAD;
use crate::tests::faults::{Call, Fault};
use crate::view::{ViewTable, record};

const FOLLOWERS: usize = 3;
const PARTITIONS: usize = 5;

/// A follower's call, and the time at which another follower takes the lease.
#[derive(Clone, Debug)]
struct Turn {
    follower: usize,
    most: usize,
    /// The lease is taken if this number is below the run's number of losses.
    chance: u8,
    /// The number of the write before which the lease is taken, and the seconds that pass before it.
    write: usize,
    seconds: u64,
    /// The other follower, and the partition for which it takes the lease.
    other: usize,
    partition: usize,
}

fn turn() -> impl Strategy<Value = Turn> {
    let lost = (0..10_u8, 0..4_usize, 0..40_u64, 1..FOLLOWERS, 0..PARTITIONS);
    (0..FOLLOWERS, 1..12_usize, lost).prop_map(
        |(follower, most, (chance, write, seconds, other, partition))| Turn {
            follower,
            most,
            chance,
            write,
            seconds,
            other: (follower + other) % FOLLOWERS,
            partition,
        },
    )
}

/// The members of each department, which is a partition of the source.
#[derive(Clone)]
struct Hired {
    entities: Entities<Member, Engine>,
    numbers: Arc<[AtomicU32; PARTITIONS]>,
}

fn department(number: usize) -> String {
    format!("d{number}")
}

impl Hired {
    fn hire(&self, partition: usize) {
        let id = self.numbers[partition].fetch_add(1, Ordering::SeqCst);
        block_on(self.entities.insert(&Member { department: department(partition), id, age: 1 })).unwrap();
    }

    fn number(&self, partition: usize) -> i64 {
        self.numbers[partition].load(Ordering::SeqCst).into()
    }
}

/// Makes another follower take the lease for a partition with a change, during a call.
fn take_lease_during(
    world: &World,
    turn: &Turn,
    store: &Store,
    other: ViewTable<ByDepartment, Store>,
    hired: Hired,
) {
    let (mut other, mut writes) = (Some(other.with_lease(Duration::ZERO)), 0);
    let Turn { write, seconds, partition, .. } = *turn;
    let time = Arc::clone(&world.time);
    store.script(move |call, _| {
        let is_now = call == Call::Submit && writes == write;
        writes += usize::from(call == Call::Submit);
        let Some(other) = other.take_if(|_| is_now) else { return Fault::None };
        let (time, hired) = (Arc::clone(&time), hired.clone());
        Fault::Meanwhile(Box::new(move || {
            time.fetch_add(seconds * 10_000_000, Ordering::SeqCst);
            hired.hire(partition);
            let key = PartitionKey::new(department(partition)).unwrap();
            block_on(other.catch_up_partition(&key, 1)).unwrap();
        }))
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Tests that each partition is followed once a follower has applied changes in as many calls as the source has partitions. A follower that has lost the
    /// lease moves no cursor. The next turn of the partition then reads changes that are already applied, and moves its cursor.
    #[test]
    fn imp_6_followers_that_lose_their_leases_follow_each_partition(
        (losses, has_lease, busy) in (0..=10_u8, any::<bool>(), 0..PARTITIONS),
        turns in proptest::collection::vec(turn(), 30..60),
    ) {
        let world = World::new();
        let hired = Hired { entities: world.members.clone(), numbers: Arc::default() };
        let (reader, _) = world.follower::<ByDepartment>();
        block_on(reader.rebuild().run()).unwrap();
        let lease = if has_lease { Duration::from_secs(30) } else { Duration::ZERO };
        let follower = || {
            let (view, store) = world.follower::<ByDepartment>();
            (view.with_lease(lease), store)
        };
        let followers: [_; FOLLOWERS] = std::array::from_fn(|_| follower());
        let mut applied = [0; PARTITIONS];
        let mut cursors: [Option<ETag>; PARTITIONS] = Default::default();
        let mut calls = [[0; PARTITIONS]; FOLLOWERS];
        for turn in turns {
            for (partition, applied) in applied.iter().enumerate() {
                let is_caught_up = *applied == hired.number(partition);
                let hires = if partition == busy { turn.most } else { is_caught_up.into() };
                (0..hires).for_each(|_| hired.hire(partition));
            }
            let (view, store) = &followers[turn.follower];
            if turn.chance < losses {
                let other = followers[turn.other].0.clone();
                take_lease_during(&world, &turn, store, other, hired.clone());
            }
            let caught = block_on(view.catch_up(turn.most)).unwrap();
            store.heal();
            for partition in 0..PARTITIONS {
                let now = members(&reader, &department(partition)).0;
                let key = PartitionKey::new(department(partition)).unwrap();
                let cursor = block_on(reader.stored_position(&key)).unwrap().1;
                if now > applied[partition] || cursor != cursors[partition] {
                    (applied[partition], cursors[partition]) = (now, cursor);
                    for of_follower in &mut calls {
                        of_follower[partition] = 0;
                    }
                } else if caught.changes > 0 {
                    calls[turn.follower][partition] += 1;
                }
            }
            let waited = calls[turn.follower].iter().max();
            prop_assert!(waited <= Some(&PARTITIONS), "{calls:?}");
        }
    }
}

/// Polls a call at most `most` times. Returns the number of polls if the call completed; otherwise cancels it.
fn polls_of(call: impl Future, most: usize) -> Option<usize> {
    let (mut call, mut context) = (pin!(call), Context::from_waker(Waker::noop()));
    (1..=most).find(|_| call.as_mut().poll(&mut context).is_ready())
}

/// Tests calls with a time limit that is sufficient for only one of two partitions.
#[test]
fn imp_6_a_call_that_is_cancelled_in_a_busy_partition_ends_its_turn() {
    for _ in 0..6 {
        let world = World::new();
        block_on(world.follower::<ByDepartment>().0.rebuild().run()).unwrap();
        world.hire("other", 1, 1);
        let (view, store) = world.follower::<ByDepartment>();
        store.script(|_, _| Fault::Later);
        let enough = polls_of(view.catch_up(10_000), 10_000).unwrap() + 5;
        let busy = (0..2_000).map(|id| Member { department: "busy".into(), id, age: 1 });
        block_on(world.members.bulk().insert_all(busy)).unwrap();
        world.hire("other", 2, 1);
        // The new follower begins with either partition.
        let (view, store) = world.follower::<ByDepartment>();
        let calls = (1..10).find(|_| {
            store.script(|_, _| Fault::Later);
            assert_eq!(polls_of(view.catch_up(10_000), enough), None);
            store.heal();
            members(&view, "other").0 == 2
        });
        assert!(calls.is_some_and(|calls| calls <= 2), "{calls:?}");
        store.heal();
        while block_on(view.catch_up(10_000)).unwrap().is_behind {}
        assert_eq!(members(&view, "busy").0, 2_000);
    }
}

/// Tests calls that the caller cancels because a read in one of two partitions never completes.
#[test]
fn imp_6_a_call_that_is_cancelled_in_the_reads_of_a_partition_ends_its_turn() {
    type IsOfSlow = fn(&EntityKey) -> bool;
    let head: IsOfSlow = |key| key.partition_key.as_str() == "slow" && key.row_key.as_str() == FEED_HEAD;
    let cursor: IsOfSlow = |key| *key == record::cursor_key(&PartitionKey::new("slow").unwrap()).unwrap();
    for (name, is_slow) in [("head", head), ("cursor", cursor)] {
        for _ in 0..6 {
            let world = World::new();
            let (reader, _) = world.follower::<ByDepartment>();
            block_on(reader.rebuild().run()).unwrap();
            world.hire("slow", 1, 1);
            world.hire("other", 1, 1);
            // The new follower begins with either partition.
            let (view, store) = world.follower::<ByDepartment>();
            store.hang_gets(move |_, key| is_slow(key));
            let calls = (1..10).find(|_| {
                assert_eq!(polls_of(view.catch_up(100), 1_000), None, "{name}");
                members(&reader, "other").0 == 1
            });
            assert!(calls.is_some_and(|calls| calls <= 2), "{name}: {calls:?}");
            store.heal();
            while block_on(view.catch_up(100)).unwrap().is_behind {}
            assert_eq!(members(&reader, "slow").0, 1, "{name}");
        }
    }
}
