//! Tests entities that cannot be applied to a view, views with the same row type, view versions, and followers that share the work.

mod followers;
mod poison;
mod turns;
mod versions;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pollster::block_on;
use table_core::embedded::{Clock, Engine};
use table_core::etag::IfMatch;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::retry::Retry;
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Entity, ErrorCode, Result, ValueRef};

use crate::Entities;
use crate::EntityStore;
use crate::tests::faults::{Call, FaultyStore};
use crate::view::{CaughtUp, Projection, View, ViewState, ViewTable};
use crate::work::Runtime;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff", feed)]
#[partition_key(department)]
#[row_key("e_", id)]
struct Member {
    department: String,
    #[digits(6)]
    id: u32,
    age: i64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Years")]
#[partition_key(department)]
#[row_key("sums")]
#[expect(clippy::struct_field_names, reason = "the property is the sum of years")]
struct Years {
    department: String,
    members: i64,
    years: i64,
}

/// A view with the number of members in each department, and the sum of their years.
struct ByDepartment;

impl View for ByDepartment {
    type Source = Member;
    type Row = Years;

    fn project(member: &Member, view: &mut Projection<Years>) -> Result<()> {
        view.add(Years::key(&member.department), Years::MEMBERS, 1)?;
        view.add(Years::key(&member.department), Years::YEARS, member.age)
    }
}

/// A second view with the same row type as `ByDepartment`.
struct Adults;

impl View for Adults {
    type Source = Member;
    type Row = Years;

    fn project(member: &Member, view: &mut Projection<Years>) -> Result<()> {
        if member.age < 18 {
            return Ok(());
        }
        ByDepartment::project(member, view)
    }
}

/// The next version of the first view, which counts only adults.
struct Second;

impl View for Second {
    type Source = Member;
    type Row = Years;
    const VERSION: u32 = 2;

    fn name() -> &'static str {
        ByDepartment::name()
    }

    fn project(member: &Member, view: &mut Projection<Years>) -> Result<()> {
        Adults::project(member, view)
    }
}

type Store = FaultyStore<Engine>;

struct World {
    engine: Engine,
    members: Entities<Member, Engine>,
    time: Arc<AtomicU64>,
}

impl World {
    fn new() -> Self {
        Self::over(Engine::in_memory())
    }

    fn over(engine: Engine) -> Self {
        let members = block_on(engine.entities::<Member>().create_if_missing()).unwrap();
        Self { engine, members, time: Arc::new(AtomicU64::new(639_307_584_000_000_000)) }
    }

    /// Returns the same world, as accessed through another process's handles.
    fn again(&self) -> Self {
        Self { time: Arc::clone(&self.time), ..Self::over(self.engine.clone()) }
    }

    /// Creates a view handle as if in a separate process, with a clock controlled by the test. Returns the handle and its store.
    fn follower<V: View>(&self) -> (ViewTable<V, Store>, Store) {
        let (store, time) = (FaultyStore::new(self.engine.clone()), Arc::clone(&self.time));
        let clock = Clock::new(move || time.load(Ordering::SeqCst));
        let pace = Runtime::new().clock(clock).sleep_by(|_| Box::pin(async {}));
        let view = ViewTable::new(store.clone()).with_retry(Retry::default().with_runtime(pace));
        (block_on(view.create_if_missing()).unwrap(), store)
    }

    fn hire(&self, department: &str, id: u32, age: i64) {
        block_on(self.members.insert(&Member { department: department.into(), id, age })).unwrap();
    }

    /// Writes a member's age with a wrong type, as another program might do.
    fn garble(&self, department: &str, id: u32) {
        block_on(self.members.update(Member::key(department, id), |member| member.age += 1)).unwrap();
        let mut row = RowWriter::new();
        row.property("Age", ValueRef::String("31"));
        let partition = PartitionKey::new(department).unwrap();
        let mut transaction = Transaction::new(partition, self.engine.capabilities().limits).unwrap();
        let kind = OperationKind::Merge(row.finish(), IfMatch::Any);
        transaction.push(Operation { row_key: RowKey::new(format!("e_{id:06}")).unwrap(), kind }).unwrap();
        block_on(self.engine.submit(&TableName::new("Staff").unwrap(), transaction)).unwrap();
    }
}

fn members<V: View<Row = Years>>(view: &ViewTable<V, Store>, department: &str) -> (i64, i64) {
    let found = block_on(block_on(view.table()).unwrap().get(Years::key(department))).unwrap();
    found.map_or((0, 0), |found| (found.members, found.years))
}

#[test]
fn imp_6_an_entity_that_cannot_be_applied_stops_no_other_and_is_retried() {
    let world = World::new();
    let (view, _) = world.follower::<ByDepartment>();
    block_on(view.rebuild().run()).unwrap();
    for department in ["A", "B", "C"] {
        (0..10).for_each(|id| world.hire(department, id, 30));
    }
    block_on(view.catch_up(1_000)).unwrap();
    // The age of one member makes the sum overflow. Another member has a property with a wrong type.
    block_on(world.members.update(Member::key("B", 3), |member| member.age = i64::MAX)).unwrap();
    world.garble("B", 4);
    for department in ["A", "B", "C"] {
        (10..20).for_each(|id| world.hire(department, id, 30));
    }
    let caught = block_on(view.catch_up(1_000)).unwrap();
    assert_eq!((caught.failed, caught.is_behind), (2, false));
    for department in ["A", "B", "C"] {
        assert_eq!(
            members(&view, department),
            (20, 600),
            "{department}: those set aside as they were before"
        );
    }
    let aside = block_on(view.poison()).unwrap();
    let mut keys: Vec<_> = aside.iter().map(|poison| poison.source.row_key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["e_000003", "e_000004"]);
    assert!(aside.iter().any(|poison| poison.error.contains("does not fit")), "{aside:?}");
    assert_eq!(block_on(view.retry_poison()).unwrap(), 0);
    assert_eq!(block_on(view.catch_up(1_000)).unwrap(), CaughtUp::default());

    // A rebuild completes nevertheless.
    let progress = block_on(view.rebuild().run()).unwrap();
    assert_eq!((progress.failed, block_on(view.state()).unwrap()), (2, ViewState::Ready));
    assert_eq!(members(&view, "C"), (20, 600));

    // An entity that was set aside is applied after its next change, or by an explicit retry.
    block_on(world.members.update(Member::key("B", 3), |member| member.age = 40)).unwrap();
    block_on(view.catch_up(1_000)).unwrap();
    assert_eq!((members(&view, "B"), block_on(view.poison()).unwrap().len()), ((20, 610), 1));
    block_on(world.members.insert_or_replace(&Member { department: "B".into(), id: 4, age: 31 })).unwrap();
    assert_eq!(block_on(view.retry_poison()).unwrap(), 1);
    assert_eq!((members(&view, "B"), block_on(view.poison()).unwrap().len()), ((20, 611), 0));

    // The caller determines the limit, which applies to each partition.
    world.garble("A", 1);
    world.garble("A", 2);
    let limited = view.clone().with_poison_limit(1);
    block_on(limited.catch_up(1_000)).unwrap();
    world.hire("A", 50, 1);
    world.hire("B", 50, 1);
    for _ in 0..2 {
        assert!(!block_on(limited.catch_up(1_000)).unwrap().is_behind);
        assert_eq!(["A", "B"].map(|department| members(&view, department).0), [20, 21]);
        assert_eq!(block_on(view.poison()).unwrap().len(), 3, "two entities, and their partition");
    }
    block_on(view.catch_up(1_000)).unwrap();
    assert_eq!((members(&view, "A").0, block_on(view.poison()).unwrap().len()), (21, 2));
}

#[test]
fn imp_6_a_feed_that_cannot_be_read_stops_no_other_partition() {
    let world = World::new();
    let (view, store) = world.follower::<ByDepartment>();
    block_on(view.rebuild().run()).unwrap();
    for department in ["A", "B"] {
        world.hire(department, 1, 30);
    }
    let partition = PartitionKey::new("A").unwrap();
    let mut transaction = Transaction::new(partition, world.engine.capabilities().limits).unwrap();
    let kind = OperationKind::InsertOrReplace(RowWriter::new().finish());
    transaction.push(Operation { row_key: RowKey::new("\u{FFFC}feed_head").unwrap(), kind }).unwrap();
    block_on(world.engine.submit(&TableName::new("Staff").unwrap(), transaction)).unwrap();
    assert_eq!(block_on(view.catch_up(100)).unwrap().failed, 1);
    assert_eq!((members(&view, "B").0, block_on(view.poison()).unwrap().len()), (1, 1));
    world.hire("B", 2, 30);
    assert_eq!(block_on(view.catch_up(100)).unwrap().failed, 0, "it is set aside already");
    assert_eq!(members(&view, "B").0, 2);
    // No entity has been set aside, so a retry has no entity to apply.
    assert_eq!(block_on(view.retry_poison()).unwrap(), 0);
    assert_eq!(block_on(view.poison()).unwrap().len(), 1);
    // The other feed becomes quiet. A call then writes nothing.
    block_on(view.catch_up(100)).unwrap();
    store.heal();
    block_on(view.catch_up(100)).unwrap();
    assert!(!store.calls().contains(&Call::Submit), "{:?}", store.calls());
}

#[test]
fn imp_6_a_second_view_with_the_same_rows_is_refused_with_both_names() {
    let world = World::new();
    let _ = world.follower::<ByDepartment>();
    let _ = world.follower::<ByDepartment>();
    let other = ViewTable::<Adults, _>::new(world.engine.clone());
    let error = block_on(other.create_if_missing()).unwrap_err();
    assert_eq!((error.code(), error.table()), (ErrorCode::SchemaMismatch, Some("Years")));
    let text = error.to_string();
    assert!(text.contains("ByDepartment") && text.contains("Adults"), "{text}");
}

#[test]
fn imp_6_a_later_version_is_built_in_parallel_and_stops_earlier_followers() {
    let world = World::new();
    let (first, _) = world.follower::<ByDepartment>();
    block_on(first.rebuild().run()).unwrap();
    (0..10).for_each(|id| world.hire("A", id, if id < 4 { 17 } else { 30 }));
    block_on(first.catch_up(100)).unwrap();
    let (second, _) = world.follower::<Second>();
    world.hire("A", 10, 30);
    block_on(first.catch_up(100)).unwrap();
    assert_eq!((members(&first, "A").0, block_on(second.state()).unwrap()), (11, ViewState::Building));
    block_on(second.rebuild().run()).unwrap();
    assert_eq!((members(&first, "A").0, members(&second, "A").0), (11, 7));
    world.hire("A", 11, 30);
    world.time.fetch_add(110_000_000, Ordering::SeqCst);
    let error = block_on(first.catch_up(100)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::SchemaMismatch, "{error}");
    block_on(second.catch_up(100)).unwrap();
    assert_eq!((members(&first, "A").0, members(&second, "A").0), (11, 8));
}
