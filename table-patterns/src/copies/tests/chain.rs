//! Tests chains of copies: in trees spread over two partitions, each node copies the root's value from its parent. Workers run late, twice and in
//! any order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use table_core::clock::Clock;
use table_core::embedded::{Engine, EngineOptions};
use table_core::etag::IfMatch;
use table_core::queue::QueueName;
use table_core::runtime::{Runtime, ticks_of};
use table_core::selection::{Point, Selection};
use table_core::{Entity, Error, Result};

use crate::copies::{CopyRelation, OnDelete};
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::work::{Sweep, Worker, WorkerOptions};

/// A tree node. A root has a value; every other node copies the root's value from its parent.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Nodes", copied_by(Parent), copies_from(Parent))]
#[partition_key(half)]
#[row_key("node_", id)]
struct Node {
    half: String,
    #[digits(2)]
    id: u32,
    value: String,
    parent: Option<u32>,
    root_value: Option<String>,
}

struct Parent;

impl CopyRelation for Parent {
    type Source = Node;
    type Holder = Node;
    type Copied = String;
    const NAME: &'static str = "parent";
    const ON_DELETE: OnDelete = OnDelete::Clear;

    fn reference(node: &Node) -> Option<Selection<Node, Point>> {
        node.parent.map(key)
    }

    fn copied(parent: &Node) -> String {
        parent.root_value.as_ref().unwrap_or(&parent.value).clone()
    }

    fn set(node: &mut Node, value: String) {
        node.root_value = Some(value);
    }

    fn clear(node: &mut Node) {
        (node.parent, node.root_value) = (None, None);
    }
}

/// Returns a node's partition. A node and its parent are in the same partition or in different ones, depending on their numbers.
fn half(id: u32) -> String {
    if id % 4 < 2 { "left".into() } else { "right".into() }
}

fn key(id: u32) -> Selection<Node, Point> {
    Node::key(half(id), id)
}

fn node(id: u32, parent: Option<u32>, value: u8) -> Node {
    Node { half: half(id), id, value: format!("value{value}"), parent, root_value: None }
}

type Queue = Outbox<Engine, Engine>;

struct Forest {
    outbox: Queue,
    nodes: Entities<Node, Engine, Queue>,
}

impl Forest {
    async fn new() -> Result<Self> {
        let engine = Engine::in_memory();
        let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("copies")?);
        outbox.create_queues().await?;
        let nodes = Entities::<Node, _, _>::from(outbox.clone()).create_if_missing().await?;
        Ok(Self { outbox, nodes })
    }

    fn worker(&self) -> Worker<Engine, Engine> {
        Worker::new(self.outbox.clone()).with_index_handler(&self.nodes)
    }

    /// Performs all pending work, then checks each node's value against its root.
    async fn check(&self) -> Result<()> {
        self.worker().run_until_idle().await?;
        Sweep::new(self.outbox.clone()).min_age(Duration::ZERO).sweep_registered().await?;
        self.worker().run_until_idle().await?;
        let found = self.nodes.scan("to compare").max_rows(1_000).collect().await?;
        let nodes: BTreeMap<u32, &Node> = found.iter().map(|node| (node.id, node)).collect();
        for node in nodes.values() {
            let mut root = node;
            while let Some(parent) = root.parent {
                root = &nodes[&parent];
            }
            let value = node.parent.map(|_| root.value.clone());
            assert_eq!(node.root_value, value, "{node:?} of {root:?}");
        }
        Ok(())
    }
}

/// A change to the nodes. A node's parent always has a smaller number.
#[derive(Clone, Debug)]
enum Act {
    Put(u32, Option<u32>, u8),
    Rename(u32, u8),
    Move(u32, Option<u32>),
    Delete(u32),
    /// Deletes a node with `delete_with_parts`, although nodes have no child entities.
    DeleteWithParts(u32),
    /// Writes several nodes with one bulk call.
    Bulk(Vec<(u32, Option<u32>, u8)>),
    DeleteAll(Vec<u32>),
    /// Changes several nodes in one unit of work.
    Unit(Vec<(u32, u8)>),
    Settle(u32),
    Work,
}

const NODES: u32 = 8;

fn act() -> impl Strategy<Value = Act> {
    let linked = || (0..NODES).prop_flat_map(|id| (Just(id), prop::option::weighted(0.8, 0..id.max(1))));
    let linked = move || linked().prop_map(|(id, parent)| (id, parent.filter(|parent| *parent < id)));
    prop_oneof![
        5 => (linked(), any::<u8>()).prop_map(|((id, parent), value)| Act::Put(id, parent, value)),
        4 => (0..NODES, any::<u8>()).prop_map(|(id, value)| Act::Rename(id, value)),
        3 => linked().prop_map(|(id, parent)| Act::Move(id, parent)),
        1 => (0..NODES).prop_map(Act::Delete),
        1 => (0..NODES).prop_map(Act::DeleteWithParts),
        3 => prop::collection::vec((linked(), any::<u8>()), 1..5).prop_map(|all| {
            Act::Bulk(all.into_iter().map(|((id, parent), value)| (id, parent, value)).collect())
        }),
        1 => prop::collection::vec(0..NODES, 1..4).prop_map(Act::DeleteAll),
        3 => prop::collection::vec((0..NODES, any::<u8>()), 1..4).prop_map(Act::Unit),
        1 => (0..NODES).prop_map(Act::Settle),
        4 => Just(Act::Work),
    ]
}

/// Applies a change. Returns an error if a node or its parent does not exist.
async fn apply(forest: &Forest, act: &Act) -> Result<()> {
    let nodes = &forest.nodes;
    match act {
        Act::Put(id, parent, value) => nodes.insert_or_replace(&node(*id, *parent, *value)).await.map(drop),
        Act::Rename(id, value) => {
            nodes.update(key(*id), |node| node.value = format!("value{value}")).await.map(drop)
        }
        Act::Move(id, parent) => {
            let moved = nodes.update(key(*id), |node| (node.parent, node.root_value) = (*parent, None));
            moved.await.map(drop)
        }
        Act::Delete(id) => nodes.delete(key(*id), IfMatch::Any).await,
        Act::DeleteWithParts(id) => nodes.delete_with_parts(key(*id)).await.map(drop),
        Act::Bulk(all) => {
            let all = all.iter().map(|(id, parent, value)| node(*id, *parent, *value));
            nodes.bulk().insert_or_replace_all(all).await.map(drop).map_err(|error| error.source)
        }
        Act::DeleteAll(ids) => {
            let keys = ids.iter().map(|id| key(*id));
            nodes.bulk().delete_all(keys).await.map(drop).map_err(|error| error.source)
        }
        Act::Unit(changes) => {
            let (mut unit, mut is_empty) = (nodes.unit(Node::partition("left"))?, true);
            for (id, value) in changes.iter().filter(|(id, _)| half(*id) == "left") {
                let Some(old) = nodes.get(key(*id)).await? else { continue };
                // A second change to the same node is refused.
                is_empty &= unit.update(&old, |node| node.value = format!("value{value}")).is_err();
            }
            if is_empty { Ok(()) } else { unit.commit().await.map(drop) }
        }
        Act::Settle(id) => nodes.settle_copies(key(*id)).await.map(drop),
        Act::Work => forest.worker().run_once().await.map(drop),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pat_den_2_a_chain_of_any_length_follows_its_first_source(acts in prop::collection::vec(act(), 1..40)) {
        block_on(async {
            let forest = Forest::new().await?;
            for act in &acts {
                if let Err(error) = apply(&forest, act).await {
                    prop_assert!(error.is_not_found() || error.rule() == Some("PAT-DEN-2"), "{error}: {act:?}");
                }
            }
            forest.check().await?;
            Ok::<_, TestCaseError>(())
        })?;
    }
}

#[test]
fn pat_den_2_a_bulk_may_contain_a_source_and_its_holders() {
    block_on(async {
        let forest = Forest::new().await?;
        let nodes = &forest.nodes;
        let value =
            async |id| Ok::<_, Error>(nodes.get(key(id)).await?.and_then(|node| node.root_value.clone()));
        // One transaction inserts the parent and its child; their order in the call does not matter.
        nodes.bulk().insert_all([node(5, Some(4), 0), node(4, None, 1)]).await?;
        assert_eq!(value(5).await?.as_deref(), Some("value1"));
        // A new holder copies from its new source, so no worker needs to correct it.
        nodes
            .bulk()
            .insert_or_replace_all([node(4, None, 2), node(5, Some(4), 0), node(1, Some(4), 0)])
            .await?;
        assert_eq!(
            (value(5).await?.as_deref(), value(1).await?.as_deref()),
            (Some("value2"), Some("value2"))
        );
        // A holder merged in the same call as its source copies the source's new value.
        nodes.bulk().insert_or_merge_all([node(4, None, 3), node(1, Some(4), 0)]).await?;
        assert_eq!(value(1).await?.as_deref(), Some("value3"));
        forest.check().await?;
        nodes.bulk().delete_all([key(4), key(5), key(1)]).await?;
        assert!(nodes.scan("to count").max_rows(10).collect().await?.is_empty());
        forest.check().await?;
        Ok::<_, Box<dyn std::error::Error>>(())
    })
    .unwrap();
}

/// A member of a ring. Its count is the previous member's count plus one.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Rings", copied_by(Before), copies_from(Before))]
#[partition_key(half)]
#[row_key("member_", id)]
struct Member {
    half: String,
    #[digits(2)]
    id: u32,
    before: Option<u32>,
    count: i64,
}

struct Before;

impl CopyRelation for Before {
    type Source = Member;
    type Holder = Member;
    type Copied = i64;
    const NAME: &'static str = "before";

    fn reference(member: &Member) -> Option<Selection<Member, Point>> {
        member.before.map(|id| Member::key(half(id), id))
    }

    fn copied(before: &Member) -> i64 {
        before.count + 1
    }

    fn set(member: &mut Member, count: i64) {
        member.count = count;
    }

    fn clear(member: &mut Member) {
        member.before = None;
    }
}

/// Links members into a ring, and lets workers process the changes without sleeping. Each count must be one more than the previous member's count, so the
/// counts never converge.
fn settle_ring(length: u32) {
    let now = Arc::new(AtomicU64::new(639_307_584_000_000_000));
    let (read, slept) = (Arc::clone(&now), Arc::clone(&now));
    let clock = Clock::new(move || read.load(Ordering::Relaxed));
    let runtime = Runtime::new().clock(clock.clone()).sleep_by(move |wait| {
        slept.fetch_add(ticks_of(wait), Ordering::Relaxed);
        Box::pin(async {})
    });
    block_on(async {
        let engine = EngineOptions::new().clock(clock).in_memory();
        let queue = QueueName::new("copies")?;
        let outbox = Outbox::with_runtime(engine.clone(), engine.clone(), queue, runtime);
        outbox.create_queues().await?;
        let members = Entities::<Member, _, _>::from(outbox.clone()).create_if_missing().await?;
        for id in 0..length {
            let before = id.checked_sub(1);
            members.insert(&Member { half: half(id), id, before, count: 0 }).await?;
        }
        members.update(Member::key(half(0), 0), |first| first.before = Some(length - 1)).await?;
        let options = WorkerOptions { poison_after: 1, ..WorkerOptions::default() };
        let mut poison = Vec::new();
        for _ in 0..100 {
            Worker::with_options(outbox.clone(), options)
                .with_index_handler(&members)
                .run_until_idle()
                .await?;
            poison = outbox.poison(10).await?;
            if !poison.is_empty() {
                break;
            }
            now.fetch_add(ticks_of(Duration::from_secs(700)), Ordering::Relaxed);
            Sweep::new(outbox.clone()).min_age(Duration::ZERO).sweep_registered().await?;
        }
        let text = format!("{poison:?}");
        let found = members.get(Member::key(half(0), 0)).await?;
        assert!(text.contains("form a circle"), "{length} members: {text}, {found:?}");
        // The error stored with poison has a limited length.
        let is_named = |id: u32| text.contains(&format!("member_{id:02}"));
        assert!(length > 8 || (0..length).all(is_named), "{length} members: {text}");
        Ok::<_, Error>(())
    })
    .unwrap();
}

#[test]
fn pat_den_2_a_circle_of_copies_ends_as_poison_that_names_its_members() {
    for length in [3, 8, 30] {
        settle_ring(length);
    }
}
