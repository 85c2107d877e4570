//! Tests a stray row, which belongs to no declared type. Views ignore it. Any other operation that reads it must fail with an error that contains its key.

use std::fmt::Debug;

use pollster::block_on;
use table_core::{Entity, ErrorCode, Result, Selection, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::index::FindingKind;
use table_patterns::periods::delete_in_batches;

use super::desk::{Amount, Comment, NUMBERS, Note, TENANT, Ticket, World};

const STRAY: &str = "ticket_1";

/// Checks that an operation failed with an error that contains the key of the stray row.
fn names<T: Debug>(stray: &str, outcome: Result<T>) {
    let error = outcome.unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-HET-6")), "{error}");
    assert_eq!(error.key(), Some((TENANT, stray)), "{error}");
    assert_eq!(error.table(), Some("Desk"), "{error}");
}

/// Checks that the consistency check of the table reports the stray row as a finding of the given kind, with an explanation.
fn finds(kind: FindingKind, stray: &str, world: &World) {
    let report = block_on(world.tickets.check().run()).unwrap();
    let bad = report.findings.iter().filter(|found| found.kind == kind);
    let found: Vec<_> = bad.collect();
    assert!(!found.is_empty(), "{report:?}");
    for found in found {
        assert_eq!((found.at.partition_key.as_str(), found.at.row_key.as_str()), (TENANT, stray));
        assert!(found.reason.as_deref().is_some_and(|reason| reason.contains("PAT-HET-6")), "{found:?}");
    }
}

fn world() -> World {
    let world = World::filled();
    world.stray(STRAY);
    world
}

#[test]
fn reads_name_the_stray_row() {
    let World { engine, tickets, .. } = world();
    block_on(async {
        names(STRAY, tickets.query(Ticket::rows(TENANT)).collect().await);
        names(STRAY, tickets.query(Ticket::rows(TENANT)).page().await);
        names(STRAY, tickets.query(Ticket::partition(TENANT)).project::<Amount>().collect().await);
        names(STRAY, engine.table::<Comment>().query(Comment::rows(TENANT)).collect().await);
        names(STRAY, tickets.scan("a test").max_rows(1_000).collect().await);
        // Reads that do not encounter the stray row succeed.
        assert_eq!(tickets.query(Ticket::rows(TENANT).number(..=0)).collect().await.unwrap(), []);
        assert!(tickets.get(Ticket::key(TENANT, 1)).await.unwrap().is_some());
        assert_eq!(
            tickets.query(Ticket::by_status(TENANT, "open")).collect().await.unwrap().len(),
            NUMBERS.len()
        );
    });
}

#[test]
fn a_check_names_the_stray_row_and_a_rebuilt_view_ignores_it() {
    let world = world();
    finds(FindingKind::BadEntity, STRAY, &world);
    block_on(async {
        let view = world.view();
        view.rebuild().run().await.unwrap();
        // The row's key is not a ticket key, so the view ignores the row.
        assert_eq!(view.poison().await.unwrap().len(), 0);
    });
}

/// Tests that a check reports a stray row even if its key has the prefix of an index.
#[test]
fn a_check_names_the_stray_row_among_the_rows_of_an_index() {
    let world = World::filled();
    world.stray("status_open_1");
    finds(FindingKind::Unreadable, "status_open_1", &world);
}

/// An entity type with a feed in the same partition. It is not a member of the entity set declared for the partition.
#[derive(Entity, Clone, Debug)]
#[entity(table = "Desk", feed)]
#[partition_key(tenant)]
#[row_key("odd_", number)]
pub struct Odd {
    pub tenant: String,
    #[digits(3)]
    pub number: u32,
}

#[test]
fn a_view_that_catches_up_ignores_the_entities_of_other_types() {
    let world = World::filled();
    block_on(async {
        let odds = world.engine.entities::<Odd>().create_if_missing().await.unwrap();
        odds.insert(&Odd { tenant: TENANT.to_owned(), number: 7 }).await.unwrap();
        world.pass(60);
        let view = world.view();
        let caught_up = view.catch_up(100).await.unwrap();
        assert_eq!((caught_up.failed, view.poison().await.unwrap().len()), (0, 0));
    });
}

#[test]
fn a_delete_stops_at_the_stray_row_and_keeps_it() {
    let world = World::filled();
    world.stray("note_x");
    block_on(async {
        let notes = world.engine.table::<Note>();
        let stopped = delete_in_batches(&notes, Note::partition(TENANT)).run().await.unwrap_err();
        names::<()>("note_x", Err(stopped.error));
        assert!(
            world
                .engine
                .untyped("Desk")
                .unwrap()
                .get(Selection::point(TENANT, "note_x"))
                .await
                .unwrap()
                .is_some()
        );
    });
}
