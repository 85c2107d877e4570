//! Tests registrations, exports and imports that must be rejected before anything is written.

use pollster::block_on;
use table_core::ErrorCode;

use super::kit::{Agent, Step, Ticket, World, export, import, some_steps};
use crate::tenant::Tenant;

#[test]
fn a_type_with_rows_in_other_partitions_must_be_registered() {
    let world = World::after(&some_steps());
    let tenant = Tenant::new().with_entities(&world.agents, Agent::partition("contoso")).unwrap();
    let error = block_on(tenant.erase()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidInput);
    assert!(error.message().contains("`Ticket` shares the table"), "{error}");
}

#[test]
fn a_type_that_gives_or_holds_copies_must_be_registered() {
    let world = World::after(&some_steps());
    let tenant = Tenant::new().with_entities(&world.tickets, Ticket::partition("contoso")).unwrap();
    let before = export(&world.tenant("contoso"));
    let error = block_on(tenant.erase()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidInput);
    assert!(error.message().contains("`Agent` shares the table"), "{error}");
    assert_eq!(export(&world.tenant("contoso")), before);
}

#[test]
fn a_blob_must_have_its_store() {
    let world = World::after(&some_steps());
    let tenant = Tenant::new().with_entities(&world.tickets, Ticket::partition("contoso")).unwrap();
    let tenant = tenant.with_entities(&world.agents, Agent::partition("contoso")).unwrap();
    let mut export = tenant.export();
    let error = loop {
        if let Err(error) = block_on(export.step()) {
            break error;
        }
    };
    assert!(error.message().contains("whose store is not registered"), "{error}");
}

#[test]
fn part_of_a_partition_is_not_a_tenant() {
    let world = World::new();
    let error =
        Tenant::new().with_entities(&world.tickets, Ticket::rows("contoso").number(1..5)).unwrap_err();
    assert!(error.message().contains("part of a partition"), "{error}");
}

#[test]
fn a_target_with_rows_is_refused() {
    let world = World::after(&some_steps());
    let text = export(&world.tenant("contoso"));
    let error = import(&world.tenant("contoso"), &text).unwrap_err();
    assert_eq!(error.code(), ErrorCode::EntityAlreadyExists);
}

#[test]
fn recorded_steps_cannot_be_renamed() {
    let world = World::after(&some_steps());
    let error = block_on(world.tenant("contoso").copy_to(&world.tenant("fabrikam"))).unwrap_err();
    assert!(error.message().contains("run a worker"), "{error}");
}

#[test]
fn an_incomplete_export_is_refused() {
    let mut steps = some_steps();
    steps.push((true, Step::Work));
    let world = World::after(&steps);
    let text = export(&world.tenant("contoso"));
    let cut = text.rfind("{\"End\"").unwrap();
    let error = import(&World::new().tenant("contoso"), &text[..cut]).unwrap_err();
    assert!(error.message().contains("incomplete"), "{error}");
    let error = import(&World::new().tenant("contoso"), &text[..cut - 10]).unwrap_err();
    assert!(error.message().contains("not a line of an export"), "{error}");
    let error = import(&World::new().tenant("contoso"), &text[text.find('\n').unwrap() + 1..]).unwrap_err();
    assert!(error.message().contains("is not expected here"), "{error}");
    let newer = text.replacen("\"Format\":1", "\"Format\":2", 1);
    assert_eq!(import(&World::new().tenant("contoso"), &newer).unwrap_err().code(), ErrorCode::FormatTooNew);
}

#[test]
fn an_import_that_lacks_a_row_of_the_export_is_refused_at_its_end_and_can_be_continued() {
    let (from, to) = (World::after(&some_steps()), World::new());
    let text = export(&from.tenant("contoso"));
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.contains("ticket_000002\"")).unwrap();
    let without: Vec<_> = [&lines[..at], &lines[at + 1..]].concat();
    let tenant = to.tenant("contoso");
    let error = import(&tenant, &without.join("\n")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidInput);
    assert!(error.message().contains(" rows, but only "), "{error}");
    let mut rest = tenant.import().resume();
    block_on(rest.push(&[lines[0], lines[at], lines[lines.len() - 1]].join("\n"))).unwrap();
    block_on(rest.finish()).unwrap();
    assert_eq!(to.tickets_of("contoso").len(), from.tickets_of("contoso").len());
}
