//! Tests imports with missing lines or with lines from another tenant, and imports resumed after a failure.

use pollster::block_on;
use table_core::ErrorCode;

use super::assert_moved;
use super::kit::{Agent, Step, Ticket, World, export, import, some_steps, steps_with_file};
use crate::sequence::GaplessSequence;
use crate::tenant::Tenant;

/// Returns a store without recorded steps.
fn settled(bytes: u32) -> World {
    let mut steps = steps_with_file(bytes);
    steps.push((true, Step::Work));
    World::after(&steps)
}

fn is_blob(line: &str) -> bool {
    line.starts_with("{\"Blob\"")
}

#[test]
fn an_import_that_lacks_a_blob_of_the_export_is_refused_at_its_end_and_can_be_continued() {
    let from = settled(2_500_000);
    let text = export(&from.tenant("contoso"));
    let (header, end) = (text.lines().next().unwrap(), text.lines().last().unwrap());
    let blobs: Vec<&str> = text.lines().filter(|line| is_blob(line)).collect();
    assert!(blobs.len() == 3 && blobs[0].contains("\"From\":0,") && blobs[2].contains("\"Last\":true"));
    for lost in [&blobs[..], &blobs[2..]] {
        let to = World::new();
        let tenant = to.tenant("contoso");
        let left: Vec<_> = text.lines().filter(|line| !lost.contains(line)).collect();
        let mut first = tenant.import();
        block_on(first.push(&left.join("\n"))).unwrap();
        let error = block_on(first.finish()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidInput);
        assert!(error.message().contains("blob"), "{error}");
        let mut rest = tenant.import().resume();
        block_on(rest.push(&[&[header], blobs.as_slice(), &[end]].concat().join("\n"))).unwrap();
        block_on(rest.finish()).unwrap();
        assert_moved(&from, &to, "contoso");
    }
}

#[test]
fn a_continued_import_refuses_to_end_within_a_blob() {
    let from = settled(2_500_000);
    let text = export(&from.tenant("contoso"));
    let to = World::new();
    let tenant = to.tenant("contoso");
    let mut import = tenant.import().resume();
    let left: Vec<_> =
        text.lines().filter(|line| !(is_blob(line) && line.contains("\"Last\":true"))).collect();
    block_on(import.push(&left.join("\n"))).unwrap();
    let error = block_on(import.finish()).unwrap_err();
    assert!(error.message().contains("the last part of the blob"), "{error}");
    block_on(import.push(&text)).unwrap();
    block_on(import.finish()).unwrap();
    assert_moved(&from, &to, "contoso");
}

#[test]
fn another_header_is_refused() {
    let world = settled(100);
    let header = |tenant: &str| export(&world.tenant(tenant)).lines().next().unwrap().to_owned();
    let to = World::new();
    let tenant = to.tenant("contoso");
    let mut import = tenant.import();
    block_on(import.push(&header("contoso"))).unwrap();
    block_on(import.push(&header("contoso"))).unwrap();
    let error = block_on(import.push(&header("adatum"))).unwrap_err();
    assert!(error.message().contains("line 3 is not expected here"), "{error}");
    let error = block_on(import.push(&header("adatum"))).unwrap_err();
    assert!(error.message().contains("line 3 is not expected here"), "{error}");
}

#[test]
fn blobs_of_another_tenant_are_refused() {
    let world = settled(100);
    let before = world.tickets_of("adatum");
    let (text, other) = (export(&world.tenant("contoso")), export(&world.tenant("adatum")));
    let blob = other.lines().find(|line| is_blob(line)).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(1, blob);
    for target in ["contoso", "fabrikam"] {
        let tenant = world.tenant(target);
        let error = block_on(tenant.import().resume().push(&lines.join("\n"))).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
        assert!(error.message().contains("outside the partitions"), "{error}");
        assert_eq!(world.tickets_of("adatum"), before);
    }
}

#[test]
fn a_continued_import_sets_neither_numbers_nor_feeds_back() {
    let (from, to) = (settled(100), World::new());
    let text = export(&from.tenant("contoso"));
    let tenant = to.tenant("contoso");
    import(&tenant, &text).unwrap();
    let next = || {
        let numbers = GaplessSequence::new(&to.tickets, "ticket").unwrap();
        let insert = numbers.next::<u32>(Ticket::partition("contoso"), |_, unit| {
            unit.require(Agent::key("contoso", 1)).map(drop)
        });
        block_on(insert).unwrap()
    };
    let head = || {
        let rows = to.dump();
        let heads = rows.into_iter().filter(|((_, partition_key, row_key), _)| {
            partition_key == "contoso" && row_key == crate::feed::FEED_HEAD
        });
        heads.map(|(_, row)| row).collect::<Vec<_>>()
    };
    assert_eq!(next(), 5);
    block_on(to.act("contoso", &Step::Retitle { number: 1, title: 2, topic: 0 })).unwrap();
    let before = head();
    assert_eq!(before.len(), 1);
    let mut rest = tenant.import().resume();
    block_on(rest.push(&text)).unwrap();
    block_on(rest.finish()).unwrap();
    assert_eq!((next(), head()), (6, before));
}

#[test]
fn a_tenant_without_places_has_an_empty_export() {
    let text = export(&Tenant::new());
    assert_eq!(text.lines().count(), 2);
    assert_eq!(import(&Tenant::new(), &text).unwrap().rows, 0);
    assert_eq!(block_on(Tenant::new().copy_to(&Tenant::new())).unwrap().rows, 0);
    let from = World::after(&some_steps());
    assert!(import(&from.tenant("contoso"), &text).is_err());
}
