//! Tests the total number of requests, and the number of concurrent requests, for a source with many partitions.

use pollster::block_on;
use table_core::TableStoreExt;

use super::kit::{Company, Employee};
use crate::tests::faults::{Call, Fault};
use crate::view::RebuildPosition;

/// Returns a company with departments whose changes have not been applied.
fn company(departments: u32) -> Company {
    let company = Company::new();
    for number in 0..departments {
        // These names sort differently as UTF-8 than as keys, which are ordered by UTF-16 code units.
        let start = ["d", "\u{1F600}", "\u{FF21}"][number as usize % 3];
        company.hire(&format!("{start}{number:02}"), 1, "Ada", "London", 70);
    }
    company
}

#[test]
fn imp_6_a_new_follower_checks_quiet_feeds_concurrently() {
    let company = company(20);
    for _ in 0..3 {
        block_on(company.view.catch_up(100)).unwrap();
    }
    let other = company.again();
    other.store.script(|_, _| Fault::Later);
    block_on(other.view.catch_up(100)).unwrap();
    assert_eq!(other.store.most_waiting(), 16);
    assert!(!other.store.calls().contains(&Call::Submit), "{:?}", other.store.calls());
    other.store.script(|_, _| Fault::Later);
    assert_eq!(block_on(other.view.freshness()).unwrap().pending, 0);
    assert_eq!(other.store.most_waiting(), 16);
    other.store.heal();
    block_on(other.view.catch_up(100)).unwrap();
    assert_eq!(other.store.calls(), [Call::Query], "the feeds are remembered as quiet");
}

#[test]
fn imp_6_each_step_of_a_rebuild_reads_the_ends_of_at_most_one_page_of_feeds() {
    let company = company(25);
    let (mut position, mut ends) = (RebuildPosition::default(), 0);
    for step in 0.. {
        // Each step runs in a new process, and succeeds at the second attempt.
        let process = company.again();
        process.store.fail_at(5);
        let mut rebuild = process.view.rebuild().page(10).resume(position.clone());
        let _ = block_on(rebuild.step());
        process.store.heal();
        rebuild = process.view.rebuild().page(10).resume(position);
        let is_behind = block_on(rebuild.step()).unwrap();
        let gets = process.store.calls().into_iter().filter(|call| *call == Call::Get).count();
        assert!(step > 1 || gets <= 22, "step {step} sent {gets} gets");
        let rows = process.store.rows_read();
        assert!(step > 1 || rows <= 10, "step {step} read {rows} rows of the registry");
        let stored = serde_json::to_value(rebuild.position()).unwrap();
        ends = ends.max(stored["ends"].as_object().map_or(0, serde_json::Map::len));
        position = serde_json::from_value(stored).unwrap();
        if !is_behind {
            break;
        }
    }
    assert_eq!(ends, 25, "the ends of all feeds have been read");
    assert_eq!(block_on(company.view.catch_up(100)).unwrap().changes, 0, "the rebuild has read all changes");
    let scan = company.engine.table::<Employee>().scan("to compare").max_rows(1_000);
    assert_eq!(company.stored(), Company::expected(&block_on(scan.collect()).unwrap()));
}
