//! Tests views with several versions.

use super::*;

#[test]
fn imp_6_a_later_version_that_is_ready_stops_earlier_followers_despite_a_crash_at_any_request() {
    let mut ready = 0;
    for number in 0..40 {
        let world = World::new();
        let (first, _) = world.follower::<ByDepartment>();
        block_on(first.rebuild().run()).unwrap();
        (0..10).for_each(|id| world.hire("A", id, 30));
        let (second, store) = world.follower::<Second>();
        store.fail_at(number);
        let is_failed = block_on(second.rebuild().run()).is_err();
        drop((second, store));
        let (another, _) = world.follower::<Second>();
        if block_on(another.state()).unwrap() == ViewState::Building {
            continue;
        }
        ready += u32::from(is_failed);
        block_on(another.catch_up(100)).unwrap();
        let error = block_on(first.catch_up(100)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch, "request {number}: {error}");
    }
    assert!(ready > 0, "no request fails after the view is ready");
}

/// A row type whose table name has the maximum length.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "YearsOfTheMembersOfTheDepartmentsOfTheCompanyAndItsSubsidiaries")]
#[partition_key(department)]
#[row_key("sums")]
struct LongYears {
    department: String,
    members: i64,
}

/// A view with rows of type `LongYears`, in two versions.
struct Long<const VERSION: u32>;

impl<const VERSION: u32> View for Long<VERSION> {
    type Source = Member;
    type Row = LongYears;
    const VERSION: u32 = VERSION;

    fn name() -> &'static str {
        "long"
    }

    fn project(member: &Member, view: &mut Projection<LongYears>) -> Result<()> {
        view.add(LongYears::key(&member.department), LongYears::MEMBERS, i64::from(VERSION))
    }
}

#[test]
fn imp_6_each_version_of_a_view_has_its_own_table_with_any_length_of_its_name() {
    let world = World::new();
    assert_eq!(LongYears::SCHEMA.table.len(), 63);
    (0..10).for_each(|id| world.hire("A", id, 30));
    let (first, _) = world.follower::<Long<1>>();
    let (second, _) = world.follower::<Long<2>>();
    let (eleventh, _) = world.follower::<Long<11>>();
    block_on(first.rebuild().run()).unwrap();
    assert_eq!(block_on(second.state()).unwrap(), ViewState::Building);
    block_on(second.rebuild().run()).unwrap();
    assert_eq!(block_on(eleventh.state()).unwrap(), ViewState::Building);
    block_on(eleventh.rebuild().run()).unwrap();
    let sum = |rows: &table_core::Table<LongYears, Store>| {
        block_on(rows.get(LongYears::key("A"))).unwrap().map(|found| found.members)
    };
    assert_eq!(sum(block_on(first.table()).unwrap()), Some(10));
    assert_eq!(sum(block_on(second.table()).unwrap()), Some(20));
    assert_eq!(sum(block_on(eleventh.table()).unwrap()), Some(110));
}

#[test]
fn imp_6_a_later_version_stops_followers_although_the_table_of_the_first_version_was_deleted() {
    let mut ready = 0;
    for number in 0..40 {
        let world = World::new();
        (0..10).for_each(|id| world.hire("A", id, 30));
        let (first, _) = world.follower::<Long<1>>();
        let (second, _) = world.follower::<Long<2>>();
        block_on(second.rebuild().run()).unwrap();
        block_on(world.engine.delete_table(first.rows.name().unwrap())).unwrap();
        world.hire("A", 10, 30);
        assert_eq!(block_on(second.catch_up(100)).unwrap().changes, 1);
        let (fourth, store) = world.follower::<Long<4>>();
        store.fail_at(number);
        let is_failed = block_on(fourth.rebuild().run()).is_err();
        let (another, _) = world.follower::<Long<4>>();
        if block_on(another.state()).unwrap() == ViewState::Building {
            continue;
        }
        ready += u32::from(is_failed);
        block_on(another.catch_up(100)).unwrap();
        world.hire("A", 11, 30);
        world.time.fetch_add(110_000_000, Ordering::SeqCst);
        let error = block_on(second.catch_up(100)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch, "request {number}: {error}");
        assert_eq!(block_on(another.catch_up(100)).unwrap().changes, 1, "request {number}");
    }
    assert!(ready > 0, "no request fails after the view is ready");
}
