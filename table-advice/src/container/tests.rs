//! Tests of containers under a workload: growth, request units, prefixes, limits and orders.

use table_core::query::TextRange;
use table_core::selection::Selection;
use table_core::{Engine, Entity, TableStoreExt};

use super::*;
use crate::meter::Meter;
use crate::{Distribution, Step, Workload};

#[derive(Entity)]
#[entity(table = "Events")]
#[partition_key(tenant, user)]
#[row_key(number)]
struct Event {
    tenant: String,
    user: String,
    #[digits(8)]
    number: u32,
    body: String,
}

/// Creates a workload for `tenants` tenants with `users` users each. It stores events, and queries the events of one tenant.
fn workload(tenants: u64, users: u64, stored: f64, asked: f64) -> Workload {
    let (of_tenants, of_users) =
        (Distribution::uniform(tenants).unwrap(), Distribution::uniform(users).unwrap());
    let tenant = of_tenants.clone();
    let store = Workload::new("events").seconds(40).pattern("store", stored, move |draw| {
        let (tenant, user) = (draw.of(&tenant), draw.of(&of_users));
        Step::write(&Event {
            tenant: format!("t{tenant}"),
            user: format!("u{user}"),
            number: u32::try_from(draw.number()).unwrap(),
            body: "x".repeat(900),
        })
    });
    store.pattern("of a tenant", asked, move |draw| {
        let tenant = format!("t{}", draw.of(&of_tenants));
        Step::read(&Selection::from(Event::within(tenant)), 20, 20_000)
    })
}

#[test]
fn hpk_24_a_tenant_is_split_by_its_users_and_nothing_is_lost() {
    let report = workload(1, 100, 50.0, 0.1).run().unwrap();
    let container = report.container(&Design::of::<Event>().days(30.0)).unwrap();
    let bytes = |load: &Load| load.heat().iter().map(|heat| heat.bytes).sum::<f64>();
    assert!((bytes(&container.before) - bytes(&container.after)).abs() < 1.0);
    // A body of 900 characters takes 1,800 bytes, and 50 entities per second are written for 30 days.
    assert!(bytes(&container.before) > 200e9, "{}", bytes(&container.before));
    assert_eq!(container.after.map().partitions().len(), container.splits.len() + 1);
    container.max_full(0.95).unwrap();
    insta::assert_snapshot!(container);
}

#[test]
fn hpk_9_and_hpk_17_too_few_full_keys_are_reported_before_their_limit() {
    let report = workload(2, 2, 50.0, 0.1).run().unwrap();
    let error = report.container(&Design::of::<Event>().days(30.0)).unwrap().max_full(0.8).unwrap_err();
    assert_eq!(error.rule(), Some("HPK-17"));
    assert!(error.to_string().contains("add a level"), "{error}");
    // After one day, no partition is near a limit, and at most two partitions contain data.
    let day = report.container(&Design::of::<Event>().partitions(8)).unwrap();
    day.max_full(0.8).unwrap();
    assert!(day.before.heat().iter().filter(|heat| heat.keys > 0).count() <= 2);
    assert!(day.to_string().contains("next split: partition"), "{day}");
    assert_eq!(day.first_values(), 2);
    let warning = "few values first: 2 of tenant reach 2 of 8 partitions at most (HPK-9)";
    assert!(day.to_string().contains(warning), "{day}");
}

#[test]
fn hpk_12_prefix_queries_load_the_partitions_of_their_tenant() {
    let units = |asked| {
        let report = workload(40, 20, 20.0, asked).run().unwrap();
        let heat = report.container(&Design::of::<Event>().partitions(4)).unwrap().before.heat();
        heat.iter().map(|heat| heat.ru).sum::<f64>()
    };
    let (quiet, busy) = (units(0.05), units(100.05));
    // A query on one partition costs 2.5 request units, and its results cost about 2.
    assert!((busy - quiet - 450.0).abs() < 50.0, "{quiet} {busy}");
    let report = workload(40, 20, 20.0, 9_000.0).run().unwrap();
    let container = report.container(&Design::of::<Event>()).unwrap();
    assert_eq!(container.splits, [], "load splits nothing");
    assert!(container.max_full(0.99).is_err());
}

#[test]
fn hpk_15_level_orders_are_compared_by_their_queries() {
    let report = workload(30, 30, 50.0, 1.0).run().unwrap();
    let design = Design::of::<Event>().partitions(16).question("by user", &["user"]);
    let container = report.container(&design).unwrap();
    assert_eq!(container.orders[0].levels, [1, 0]);
    assert_eq!((container.orders[0].touched[0], container.orders[1].touched[0]), (1.0, 16.0));
    assert!(container.to_string().contains("order user > tenant: by user 1.0 partitions"), "{container}");
    let both = report.container(&design.question("by tenant", &["tenant"]).question("again", &["tenant"]));
    assert_eq!(both.unwrap().orders[0].levels, [0, 1]);
}

#[test]
fn a_query_that_fixes_an_unknown_level_is_refused() {
    let report = workload(1, 1, 1.0, 1.0).run().unwrap();
    let design = Design::of::<Event>().question("by user", &["user"]).question("by both", &["tenant", "usr"]);
    let error = report.container(&design).unwrap_err();
    assert!(error.to_string().contains("the query `by both` fixes `usr`"), "{error}");
}

/// Tests the model against a run on the Azure SDK's emulator with throttling. The run made 200 writes per second for one tenant on eight partitions.
#[test]
fn hpk_11_and_12_one_tenant_is_throttled_at_the_share_of_its_partition() {
    let report = workload(1, 200, 200.0, 0.05).run().unwrap();
    let design = Design::of::<Event>().partitions(8).days(0.0);
    let slow = report.container(&design.clone().throughput(3_200.0)).unwrap();
    assert!(slow.max_full(0.99).is_err() && slow.before.slowdown() > 2.0, "{slow}");
    // If no throughput is set, a warning states the assumed throughput.
    let assumed = report.container(&design).unwrap().warnings();
    assert!(assumed.iter().any(|warning| warning.contains("assumed to have 10000")), "{assumed:?}");
    assert!(slow.warnings().iter().all(|warning| !warning.contains("assumed")), "{slow}");
    let fast = report.container(&design.clone().throughput(80_000.0)).unwrap();
    assert!((fast.before.slowdown() - 1.0).abs() < 1e-9 && fast.max_full(0.99).is_ok(), "{fast}");
    let load = design.throughput(3_200.0).ingest(360_000.0, 300.0);
    let warnings = report.container(&load).unwrap().warnings();
    assert!(warnings.iter().any(|warning| warning.contains("HPK-11")), "{warnings:?}");
}

/// Tests that a partition that is due for a split is throttled until then.
#[test]
fn hpk_12_a_partition_is_throttled_until_it_is_split() {
    let report = workload(1, 200, 3_000.0, 0.05).run().unwrap();
    let container = report.container(&Design::of::<Event>().partitions(8).throughput(80_000.0)).unwrap();
    assert!(!container.splits.is_empty());
    assert!(container.warnings().iter().any(|warning| warning.contains("until the splits")), "{container}");
}

#[test]
fn hpk_12_a_container_without_data_has_the_partitions_of_its_throughput() {
    let report = workload(1, 200, 200.0, 0.05).run().unwrap();
    let container = report.container(&Design::of::<Event>().days(0.0).throughput(80_000.0)).unwrap();
    assert_eq!(container.after.map().partitions().len(), 8);
    assert!(!container.to_string().contains("single key"), "{container}");
}

#[test]
fn requests_that_no_partition_key_receives_are_reported() {
    let scans = || {
        let scan = |_: &mut crate::Draw<'_>| {
            Step::read(&Selection::from(Event::within("t1".to_owned())), 20, 20_000)
        };
        Workload::new("scans").seconds(10).pattern("of a tenant", 20.0, scan)
    };
    let design = Design::of::<Event>().throughput(4_000.0);
    let is_reported = |workload: Workload| {
        let warnings = workload.run().unwrap().container(&design).unwrap().warnings();
        warnings.iter().any(|warning| warning.contains("request units a second are not counted"))
    };
    assert!(is_reported(scans()));
    let write = |draw: &mut crate::Draw<'_>| {
        let number = u32::try_from(draw.number()).unwrap();
        Step::write(&Event { tenant: "t1".into(), user: "u1".into(), number, body: String::new() })
    };
    assert!(!is_reported(scans().pattern("store", 1.0, write)));
}

#[test]
fn a_recorded_query_over_several_partitions_loads_its_partition_keys() {
    let recorded = pollster::block_on(async {
        let meter = Meter::recording(Engine::in_memory());
        let events = meter.table::<Event>().create_if_missing().await.unwrap();
        let _ = meter.take_recorded();
        for user in ["u1", "u2"] {
            let (tenant, user) = ("t1".to_owned(), user.to_owned());
            events.insert(&Event { tenant, user, number: 1, body: String::new() }).await.unwrap();
        }
        assert_eq!(events.query(Event::within("t1".to_owned())).collect().await.unwrap().len(), 2);
        meter.take_recorded()
    });
    let (scans, writes): (Vec<_>, Vec<_>) = recorded.into_iter().partition(|one| one.class.is_some());
    let container = |scans_a_second: f64| {
        let workload = Workload::new("recorded").seconds(10).replay("store", 2.0, writes.clone());
        let workload = workload.replay("of a tenant", scans_a_second, scans.clone());
        workload.run().unwrap().container(&Design::of::<Event>().throughput(4_000.0)).unwrap()
    };
    let ru = |load: &Load| load.heat().iter().map(|heat| heat.ru).sum::<f64>();
    let (quiet, busy) = (container(0.1), container(20.1));
    assert!(ru(&busy.before) - ru(&quiet.before) > 40.0, "{quiet} {busy}");
}

/// Returns the request units per second of all partition keys, plus the request units that belong to no key.
fn counted(container: &Container) -> f64 {
    container.before.heat().iter().map(|heat| heat.ru).sum::<f64>() + container.unplaced
}

#[derive(Entity)]
#[entity(table = "Other")]
#[partition_key(name)]
#[row_key("")]
struct Other {
    name: String,
}

#[test]
fn a_design_for_a_table_without_load_is_refused() {
    let report = workload(1, 1, 10.0, 1.0).run().unwrap();
    let error = report.container(&Design::of::<Other>()).unwrap_err();
    assert_eq!(error.code(), table_core::ErrorCode::InvalidWorkload);
    assert!(error.to_string().contains("no load for the table `Other`; its tables are `Events`"), "{error}");
    // The load of another table is not part of the container.
    let name = |_: &mut crate::Draw<'_>| Step::write(&Other { name: "a".into() });
    let both = workload(1, 1, 10.0, 1.0).pattern("name", 1.0, name).run().unwrap();
    let other = both.container(&Design::of::<Other>()).unwrap();
    assert_eq!(other.before.heat().iter().map(|heat| heat.keys).sum::<usize>(), 1);
    assert!(other.to_string().starts_with("Other: PartitionKey, after 1 days"), "{other}");
}

#[test]
fn the_load_of_a_recording_over_a_renamed_table_is_counted() {
    let recorded = pollster::block_on(async {
        let meter = Meter::recording(Engine::in_memory());
        let events = meter.table_named::<Event>("Events2024").unwrap().create_if_missing().await.unwrap();
        let _ = meter.take_recorded();
        let event = Event { tenant: "t1".into(), user: "u1".into(), number: 1, body: String::new() };
        events.insert(&event).await.unwrap();
        meter.take_recorded()
    });
    let report = Workload::new("recorded").seconds(10).replay("store", 2.0, recorded).run().unwrap();
    assert!(report.container(&Design::of::<Event>()).is_err());
    let container = report.container(&Design::of::<Event>().table("Events2024")).unwrap();
    let demand: f64 = report.demand.keys.values().map(|key| key.units / 10.0).sum();
    assert!(demand > 0.0 && (counted(&container) - demand).abs() < 1e-9, "{container}");
}

#[test]
fn the_load_of_a_workload_file_is_counted_under_the_name_of_its_table() {
    let file = |table: &str| {
        let text = format!(
            r#"{{ "name": "names", {table} "seconds": 10, "fields": {{ "name": {{ "uniform": 9 }} }},
                "layouts": [{{ "name": "one", "partition_key": [{{ "field": "name" }}], "row_key": ["row"] }}],
                "patterns": [{{ "name": "store", "per_second": 5, "write": {{ "bytes": 300 }} }}] }}"#
        );
        crate::WorkloadFile::parse(&text).unwrap().workload("one").unwrap().run().unwrap()
    };
    let error = file("").container(&Design::of::<Other>()).unwrap_err();
    assert!(error.to_string().contains("the field `table` of a workload file"), "{error}");
    let report = file(r#""table": "Other","#);
    let container = report.container(&Design::of::<Other>()).unwrap();
    let demand: f64 = report.demand.keys.values().map(|key| key.units / 10.0).sum();
    assert!(demand > 0.0 && (counted(&container) - demand).abs() < 1e-9, "{container}");
}

#[test]
fn queries_of_several_keys_in_a_workload_file_are_counted() {
    let report = |given: &str| {
        let text = format!(
            r#"{{ "name": "names", "table": "Events", "seconds": 10, "entities": 100,
                "fields": {{ "tenant": {{ "uniform": 2 }}, "user": {{ "uniform": 9 }} }},
                "layouts": [{{ "name": "one", "partition_key": [{{ "field": "tenant" }}, "!", {{ "field": "user" }}, "!"], "row_key": ["row"] }}],
                "patterns": [{{ "name": "store", "per_second": 5, "write": {{ "bytes": 300 }} }},
                             {{ "name": "ask", "per_second": 50, "read": {{ "given": [{given}], "rows": 100, "bytes": 300 }} }}] }}"#
        );
        crate::WorkloadFile::parse(&text).unwrap().workload("one").unwrap().run().unwrap()
    };
    for given in ["", "\"tenant\""] {
        let report = report(given);
        let ranges: Vec<_> =
            report.demand.ranges.keys().map(|(table, range)| (table.as_str(), range)).collect();
        assert!(ranges.iter().all(|(table, _)| *table == "Events"), "{ranges:?}");
        assert_eq!(ranges.len(), if given.is_empty() { 1 } else { 2 }, "{ranges:?}");
        let written: f64 = report.demand.keys.values().map(|key| key.units / 10.0).sum();
        let container = report.container(&Design::of::<Event>()).unwrap();
        assert!(counted(&container) > 5.0 * written, "{given}: {container}");
        assert!(!container.to_string().contains("not counted"), "{container}");
    }
}

#[derive(Entity)]
#[entity(table = "Events")]
#[partition_key("users!", user)]
#[row_key("row")]
struct Whole {
    user: u32,
}

#[test]
fn a_query_of_several_keys_reads_all_partitions_of_a_container_with_one_level() {
    let write = |draw: &mut crate::Draw<'_>| {
        let user = u32::try_from(draw.number() % 9).unwrap_or_default();
        Step::write(&Whole { user })
    };
    let read = |_: &mut crate::Draw<'_>| {
        let ranges = vec![("Events".to_owned(), TextRange::prefix("users!"))];
        Ok(Step { ranges, touches: Vec::new(), ..Step::read(&Whole::key(1), 9, 900)? })
    };
    let report =
        Workload::new("one level").seconds(20).pattern("store", 5.0, write).pattern("ask", 5.0, read);
    let container = report.run().unwrap().container(&Design::of::<Whole>()).unwrap();
    assert!((container.unplaced).abs() < 1e-9, "{container}");
}

#[test]
fn data_that_needs_too_many_partitions_is_refused() {
    let report = workload(500, 9, 50.0, 0.1).run().unwrap();
    let error = report.container(&Design::of::<Event>().days(1e7)).unwrap_err();
    assert_eq!(error.code(), table_core::ErrorCode::InvalidInput);
    assert!(error.to_string().contains("more than 1000 physical partitions"), "{error}");
}

#[test]
fn the_load_of_a_pattern_that_is_rarer_than_the_run_is_counted() {
    let ru = |rate: f64, seconds: u32| {
        let write = |_: &mut crate::Draw<'_>| Step::write(&Other { name: "a".into() });
        let often = workload(1, 1, 1.0, 1.0).seconds(seconds);
        let report = often.pattern("name", rate, write).run().unwrap();
        counted(&report.container(&Design::of::<Other>()).unwrap())
    };
    assert!((ru(0.01, 10) - ru(0.01, 1_000)).abs() < 1e-9);
}

#[test]
fn a_design_with_an_impossible_number_is_refused() {
    let report = workload(1, 5, 10.0, 1.0).run().unwrap();
    for number in [f64::NAN, f64::INFINITY, -1.0] {
        let design = Design::of::<Event>;
        for design in [design().throughput(number), design().days(number), design().ingest(number, 1.0)] {
            let error = report.container(&design).unwrap_err();
            assert_eq!(error.code(), table_core::ErrorCode::InvalidWorkload, "{number}");
        }
    }
    let error = report.container(&Design::of::<Event>().throughput(1e9)).unwrap_err();
    assert!(error.to_string().contains("needs 100000 physical partitions"), "{error}");
    report.container(&Design::of::<Event>().throughput(0.0)).unwrap();
}
