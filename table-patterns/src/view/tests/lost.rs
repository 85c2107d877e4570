//! Tests views that have missed changes because the feed was trimmed, or because the table was restored, or deleted and recreated.

use pollster::block_on;
use proptest::prelude::*;
use table_core::TableStoreExt;
use table_core::etag::IfMatch;
use table_core::key::PartitionKey;
use table_core::store::TableStore;

use super::kit::{Company, Employee};
use crate::feed::{Cursor, Feed};
use crate::tests::faults::Fault;

#[test]
fn imp_6_a_view_that_has_missed_changes_says_so_until_it_is_rebuilt() {
    let company = Company::new();
    let sales = PartitionKey::new("Sales").unwrap();
    let table = company.employees.table().name().unwrap().clone();
    let is_reported = || {
        let poison = block_on(company.view.poison()).unwrap();
        let reports: Vec<_> = poison.iter().map(|one| one.source.partition_key.as_str()).collect();
        assert!(reports.is_empty() || reports == ["Sales"], "{poison:?}");
        !reports.is_empty()
    };
    company.hire("Sales", 0, "Ada", "London", 36);
    company.catch_up();
    assert!(!is_reported());
    let losses: [&dyn Fn(); 3] = [
        &|| {
            block_on(company.engine.delete_table(&table)).unwrap();
            block_on(company.engine.create_table(&table)).unwrap();
        },
        &|| {
            let end = block_on(company.view.feed().end(&table, &sales)).unwrap();
            block_on(company.view.feed().trim(&table, &sales, &end)).unwrap();
        },
        // The table is restored from a backup, and its partition is registered, as in a migration. The feed then ends before the view's cursor.
        &|| {
            let backup = company.backup();
            for id in 20..24 {
                company.hire("Sales", id, "Ada", "London", 36);
            }
            company.catch_up();
            company.restore(&backup);
            block_on(company.view.feed().register(&table, &sales)).unwrap();
        },
    ];
    for (round, lose) in losses.into_iter().enumerate() {
        company.hire("Sales", 10, "Grace", "Paris", 40);
        lose();
        company.hire("Sales", 11 + u32::try_from(round).unwrap(), "Joan", "Rome", 30);
        company.catch_up();
        assert!(!block_on(company.view.catch_up(100)).unwrap().is_behind, "round {round}");
        assert!(is_reported(), "round {round}");
        assert_eq!(block_on(company.view.retry_poison()).unwrap(), 0);
        assert!(is_reported(), "round {round}");
        block_on(company.view.rebuild().run()).unwrap();
        assert!(!is_reported(), "round {round}");
        company.catch_up();
        assert!(!is_reported(), "round {round}");
        company.assert_right("rebuilt");
        let _ = block_on(company.employees.delete(Employee::key("Sales", 10), IfMatch::Any));
        company.catch_up();
    }
}

#[test]
fn imp_6_a_trim_at_any_request_of_a_follower_is_reported_if_changes_were_missed() {
    let sales = PartitionKey::new("Sales").unwrap();
    let mut reports = [0, 0];
    for (kept, at) in [0, 1].into_iter().flat_map(|kept| (0..24).map(move |at| (kept, at))) {
        let company = Company::new();
        let table = company.employees.table().name().unwrap().clone();
        company.hire("Sales", 0, "Ada", "London", 36);
        company.catch_up();
        for id in 1..4 {
            company.hire("Sales", id, "Grace", "Paris", 40);
        }
        let feed = Feed::new(company.engine.clone());
        let entries = block_on(feed.read(&table, &sales, &Cursor::default(), 100)).unwrap();
        let up_to = entries[entries.len() - 1 - kept].cursor.clone();
        let partition = sales.clone();
        let mut trim = Some(move || {
            block_on(feed.trim(&table, &partition, &up_to)).unwrap();
        });
        company.store.script(move |_, number| match trim.take_if(|_| number == at) {
            Some(trim) => Fault::Meanwhile(Box::new(trim)),
            None => Fault::None,
        });
        block_on(company.view.catch_up(100)).unwrap();
        company.store.heal();
        let is_right = company.stored() == Company::expected(&company.sources());
        let is_reported = !block_on(company.view.poison()).unwrap().is_empty();
        assert!(is_right || is_reported, "request {at}, {kept} kept");
        reports[usize::from(is_reported)] += 1;
        company.hire("Sales", 9, "Joan", "Rome", 30);
        company.catch_up();
        assert_eq!(is_reported, !block_on(company.view.poison()).unwrap().is_empty(), "request {at}");
    }
    assert!(reports.iter().all(|count| *count > 0), "{reports:?}");
}

#[test]
fn imp_6_a_partition_of_a_recreated_table_is_reported_without_a_new_change() {
    let company = Company::new();
    let table = company.employees.table().name().unwrap().clone();
    // A feed with changes in two consecutive calls is not marked as quiet.
    for id in 0..2 {
        company.hire("Sales", id, "Ada", "London", 36);
        assert_eq!(block_on(company.view.catch_up(100)).unwrap().changes, 1);
    }
    block_on(company.engine.delete_table(&table)).unwrap();
    block_on(company.engine.create_table(&table)).unwrap();
    assert_eq!(block_on(company.view.catch_up(100)).unwrap().failed, 1);
    assert_eq!(block_on(company.view.catch_up(100)).unwrap().failed, 0, "it is reported once");
    let poison = block_on(company.view.poison()).unwrap();
    assert_eq!(poison.iter().map(|one| one.source.partition_key.as_str()).collect::<Vec<_>>(), ["Sales"]);
    block_on(company.view.rebuild().run()).unwrap();
    assert!(block_on(company.view.poison()).unwrap().is_empty());
    company.hire("Sales", 2, "Joan", "Rome", 30);
    company.catch_up();
    assert!(block_on(company.view.poison()).unwrap().is_empty());
    company.assert_right("rebuilt");
}

#[test]
fn imp_6_a_rebuild_ends_only_the_reports_from_before_its_start() {
    let company = Company::new();
    let sales = PartitionKey::new("Sales").unwrap();
    let table = company.employees.table().name().unwrap().clone();
    let is_reported = || !block_on(company.view.poison()).unwrap().is_empty();
    let lose = |id| {
        company.hire("Sales", id, "Ada", "London", 36);
        let end = block_on(company.view.feed().end(&table, &sales)).unwrap();
        block_on(company.view.feed().trim(&table, &sales, &end)).unwrap();
        company.hire("Sales", id + 1, "Grace", "Paris", 40);
        company.catch_up();
        assert!(is_reported());
    };
    company.hire("Sales", 9, "Joan", "Rome", 30);
    company.catch_up();
    lose(0);
    let mut rebuild = company.view.rebuild();
    assert!(block_on(rebuild.step()).unwrap());
    // The rebuild has already read this partition. Another process then resumes the rebuild.
    lose(2);
    let stored = serde_json::to_string(rebuild.position()).unwrap();
    let stored = serde_json::from_str(&stored).unwrap();
    block_on(company.view.rebuild().resume(stored).run()).unwrap();
    assert!(is_reported(), "employee 2 is missing");
    block_on(company.view.rebuild().run()).unwrap();
    assert!(!is_reported());
    company.assert_right("rebuilt");
}

/// The order of the events after a restore.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// The view is rebuilt before a follower has read the restored feed.
    Rebuild,
    /// A follower reads the restored feed, and the view is then rebuilt.
    FollowAndRebuild,
    /// A follower reads the restored feed, and the view is not rebuilt.
    Follow,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Tests a table that was restored from a backup, so that its feed ends before or at the view's cursor.
    #[test]
    fn imp_6_a_view_of_a_restored_table_is_right_after_a_rebuild_or_reported(
        order in prop_oneof![Just(Order::Rebuild), Just(Order::FollowAndRebuild), Just(Order::Follow)],
        lost in 0..4_u32,
        changes in 0..6_u32,
    ) {
        let company = Company::new();
        let sales = PartitionKey::new("Sales").unwrap();
        let table = company.employees.table().name().unwrap().clone();
        company.hire("Sales", 0, "Ada", "London", 36);
        company.catch_up();
        let backup = company.backup();
        (1..=lost).for_each(|id| company.hire("Sales", id, "Grace", "Paris", 40));
        company.catch_up();
        company.restore(&backup);
        block_on(company.view.feed().register(&table, &sales)).unwrap();
        if !matches!(order, Order::Rebuild) {
            company.catch_up();
        }
        if !matches!(order, Order::Follow) {
            block_on(company.view.rebuild().run()).unwrap();
            company.assert_right("rebuilt");
        }
        (10..10 + changes).for_each(|id| company.hire("Sales", id, "Joan", "Rome", 30));
        company.catch_up();
        let is_right = company.stored() == Company::expected(&company.sources());
        let is_reported = !block_on(company.view.poison()).unwrap().is_empty();
        prop_assert!(is_right || is_reported);
        prop_assert!(!is_reported || matches!(order, Order::Follow));
    }

    /// Tests rebuilds that stop after a few steps, before any follower has read the restored feed.
    #[test]
    fn imp_6_an_unfinished_rebuild_hides_no_missed_change(lost in 0..4_u32, changes in 0..6_u32, steps in 1..4_usize) {
        let company = Company::new();
        let sales = PartitionKey::new("Sales").unwrap();
        let table = company.employees.table().name().unwrap().clone();
        company.hire("Sales", 0, "Ada", "London", 36);
        company.catch_up();
        let backup = company.backup();
        (1..=lost).for_each(|id| company.hire("Sales", id, "Grace", "Paris", 40));
        company.catch_up();
        company.restore(&backup);
        block_on(company.view.feed().register(&table, &sales)).unwrap();
        let mut rebuild = company.view.rebuild();
        for _ in 0..steps {
            block_on(rebuild.step()).unwrap();
        }
        let position = rebuild.position().clone();
        let company = company.again();
        (10..10 + changes).for_each(|id| company.hire("Sales", id, "Joan", "Rome", 30));
        company.catch_up();
        let is_right = company.stored() == Company::expected(&company.sources());
        prop_assert!(is_right || !block_on(company.view.poison()).unwrap().is_empty());
        block_on(company.view.rebuild().resume(position).run()).unwrap();
        company.catch_up();
        company.assert_right("completed");
        prop_assert!(block_on(company.view.poison()).unwrap().is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Tests a table that is restored during a rebuild but before the view's cursors are moved. A follower may read the restored feed before the rebuild
    /// continues.
    #[test]
    fn imp_6_a_restore_during_a_rebuild_hides_no_missed_change(
        (lost, changes) in (0..4_u32, (0..6_u32, 0..6_u32)),
        steps in 1..4_usize,
        follows: bool,
        was_followed: bool,
    ) {
        let company = Company::new();
        let sales = PartitionKey::new("Sales").unwrap();
        let table = company.employees.table().name().unwrap().clone();
        company.hire("Sales", 0, "Ada", "London", 36);
        company.catch_up();
        let backup = company.backup();
        (1..=lost).for_each(|id| company.hire("Sales", id, "Grace", "Paris", 40));
        if was_followed {
            company.catch_up();
        }
        let mut rebuild = company.view.rebuild();
        for _ in 0..steps {
            block_on(rebuild.step()).unwrap();
        }
        let position = rebuild.position().clone();
        company.restore(&backup);
        block_on(company.view.feed().register(&table, &sales)).unwrap();
        let company = company.again();
        if follows {
            company.catch_up();
        }
        (10..10 + changes.0).for_each(|id| company.hire("Sales", id, "Joan", "Rome", 30));
        block_on(company.view.rebuild().resume(position).run()).unwrap();
        (20..20 + changes.1).for_each(|id| company.hire("Sales", id, "Joan", "Rome", 30));
        company.catch_up();
        let is_right = company.stored() == Company::expected(&company.sources());
        // A feed that has regained as many changes as it had before the restore is indistinguishable from the earlier feed.
        let is_detectable = (follows && was_followed) || changes.0 < lost;
        prop_assert!(!is_detectable || is_right || !block_on(company.view.poison()).unwrap().is_empty());
        block_on(company.view.rebuild().run()).unwrap();
        company.catch_up();
        company.assert_right("completed");
        prop_assert!(block_on(company.view.poison()).unwrap().is_empty());
    }
}

/// Tests a source with more partitions than the 1,000 whose feed ends a rebuild's position can store.
#[test]
fn imp_6_one_rebuild_repairs_the_missed_changes_of_more_than_a_thousand_partitions() {
    let company = Company::new();
    let table = company.employees.table().name().unwrap().clone();
    let name = |number: u32| format!("d{number:04}");
    let new = |number: u32, id| Employee {
        department: name(number),
        id,
        name: "Ada".into(),
        city: "London".into(),
        age: 70,
    };
    let hire = |number, id| drop(block_on(company.employees.insert(&new(number, id))).unwrap());
    (0..1_200).for_each(|number| hire(number, 1));
    while block_on(company.view.catch_up(10_000)).unwrap().changes > 0 {}
    let feed = Feed::new(company.engine.clone());
    let missed: Vec<u32> = (0..1_200).step_by(100).chain([1_199]).collect();
    for number in missed.iter().copied() {
        hire(number, 2);
        let partition = PartitionKey::new(name(number)).unwrap();
        let end = block_on(feed.end(&table, &partition)).unwrap();
        block_on(feed.trim(&table, &partition, &end)).unwrap();
    }
    block_on(company.view.rebuild().run()).unwrap();
    for number in missed {
        hire(number, 3);
    }
    while block_on(company.view.catch_up(10_000)).unwrap().changes > 0 {}
    assert_eq!(block_on(company.view.poison()).unwrap(), []);
    let scan = company.engine.table::<Employee>().scan("to compare").max_rows(10_000);
    assert_eq!(company.stored(), Company::expected(&block_on(scan.collect()).unwrap()));
}
