//! Tests reports that a rebuild makes obsolete: many of them, later reports, and concurrent rebuilds.

use pollster::block_on;
use table_core::key::{EntityKey, PartitionKey};
use table_core::{Error, ErrorCode};

use super::kit::{Company, Employee};
use crate::tests::faults::Fault;
use crate::view::RebuildPosition;
use crate::view::poison::{feed_of, gap_in};

fn report(company: &Company, source: &EntityKey) {
    let error = Error::new(ErrorCode::InvalidInput, "a report");
    block_on(company.view.set_aside(source, &error)).unwrap();
}

fn gap(department: &str) -> EntityKey {
    gap_in(&PartitionKey::new(department).unwrap()).unwrap()
}

fn entity(department: &str, id: u32) -> EntityKey {
    Employee::key(department, id).into_key().unwrap()
}

/// Returns the sources of all reports, in key order.
fn reported(company: &Company) -> Vec<EntityKey> {
    let mut sources: Vec<_> =
        block_on(company.view.poison()).unwrap().into_iter().map(|poison| poison.source).collect();
    sources.sort_by(|one, next| one.row_key.as_str().cmp(next.row_key.as_str()));
    sources
}

/// Starts rebuilds that are never completed.
fn begin_rebuilds(company: &Company, count: usize) {
    for _ in 0..count {
        assert!(block_on(company.view.rebuild().step()).unwrap());
    }
}

/// Returns a stored position as another process reads it.
fn stored(position: &RebuildPosition) -> RebuildPosition {
    serde_json::from_str(&serde_json::to_string(position).unwrap()).unwrap()
}

#[test]
fn imp_6_a_rebuild_ends_any_number_of_earlier_reports_and_its_position_remains_small() {
    let company = Company::new();
    for number in 0..1_300 {
        report(&company, &gap(&format!("d{number:04}")));
        report(&company, &entity("Sales", number));
    }
    report(&company, &feed_of(&PartitionKey::new("Sales").unwrap()).unwrap());
    let mut position = RebuildPosition::default();
    loop {
        let mut rebuild = company.view.rebuild().resume(stored(&position));
        let is_behind = block_on(rebuild.step()).unwrap();
        position = rebuild.position().clone();
        let text = serde_json::to_string(&position).unwrap();
        assert!(text.len() < 1_000, "{} characters", text.len());
        if !is_behind {
            break;
        }
    }
    // A feed that could not be read remains set aside until its changes have been read.
    assert_eq!(reported(&company), [feed_of(&PartitionKey::new("Sales").unwrap()).unwrap()]);
}

#[test]
fn imp_6_a_report_that_is_written_again_while_reports_are_marked_or_deleted_remains() {
    for number in 0.. {
        let company = Company::new();
        (0..5).for_each(|department| report(&company, &gap(&format!("d{department}"))));
        // Another process reports one of the gaps again at one of the requests.
        let (other, view) = (company.again(), company.view.clone());
        let mut again = Some(move || report(&other, &gap("d3")));
        company.store.script(move |_, at| match again.take_if(|_| at == number) {
            Some(again) => Fault::Meanwhile(Box::new(again)),
            None => Fault::None,
        });
        let mut rebuild = view.rebuild();
        let (mut requests, mut is_started) = (0, false);
        while block_on(rebuild.step()).unwrap() {
            if !is_started {
                (is_started, requests) = (true, company.store.calls().len());
            }
        }
        let all = company.store.calls().len();
        company.store.heal();
        let remaining = reported(&company);
        if number >= all {
            assert!(remaining.is_empty() && number > 8, "{number} requests: {remaining:?}");
            break;
        }
        // If the report is written before the marks, it counts as an earlier report.
        let is_earlier = remaining.is_empty() && number < requests;
        assert!(is_earlier || remaining == [gap("d3")], "request {number} of {all}: {remaining:?}");
    }
}

#[test]
fn imp_6_each_of_several_concurrent_rebuilds_ends_the_reports_from_before_its_start() {
    let company = Company::new();
    report(&company, &gap("d1"));
    let mut first = company.view.rebuild();
    block_on(first.step()).unwrap();
    report(&company, &gap("d2"));
    begin_rebuilds(&company, 10);
    let mut last = company.view.rebuild();
    block_on(last.step()).unwrap();
    report(&company, &entity("Sales", 3));
    block_on(first.run()).unwrap();
    assert_eq!(reported(&company), [entity("Sales", 3), gap("d2")]);
    block_on(last.run()).unwrap();
    assert_eq!(reported(&company), [entity("Sales", 3)]);
    // The number of marks in one row is limited. A report whose mark was pushed out remains until another rebuild ends.
    let mut first = company.view.rebuild();
    block_on(first.step()).unwrap();
    begin_rebuilds(&company, 100);
    block_on(first.run()).unwrap();
    assert_eq!(reported(&company).len(), 1);
    block_on(company.view.rebuild().run()).unwrap();
    assert!(reported(&company).is_empty());
}
