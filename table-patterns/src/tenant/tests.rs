//! Tests that an import restores an export exactly, and that an erasure leaves no data, even if either is interrupted at any
//! point.

mod alike;
mod bound;
mod cut;
mod damaged;
mod depots;
mod expired;
mod foreign;
mod hostile;
mod kit;
mod late;
mod levels;
mod lines;
mod missing;
mod moved_blobs;
mod newer;
mod outside;
mod parts;
mod periods;
mod refused;
mod remote_lists;
mod repeated;
mod returned;
mod schemas;
mod sealed;
mod sets;
mod shared_blobs;
mod signature;
mod unreadable;

use std::collections::BTreeSet;
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use table_core::ErrorCode;
use table_core::key::PartitionKey;

use self::kit::{Step, Ticket, World, export, import, some_steps, steps, steps_with_file};
use crate::copies::REFERENCE_PREFIX;
use crate::feed::Cursor;
use crate::outbox::{OUTBOX_PREFIX, REGISTRY};
use crate::sequence::GaplessSequence;
use crate::tenant::ExportPosition;

/// Returns the rows in a tenant's partitions that must survive an import unchanged.
fn own_rows(world: &World, tenant: &str) -> Vec<((String, String, String), String)> {
    let is_own = |(table, partition_key, row_key): &(String, String, String)| {
        let is_place = table == "Desk" || table.starts_with("DeskAudit");
        // The target store assigns a new version and a new seal to each recorded step.
        is_place
            && partition_key == tenant
            && [REFERENCE_PREFIX, OUTBOX_PREFIX].iter().all(|prefix| !row_key.starts_with(prefix))
    };
    world.dump().into_iter().filter(|(key, _)| is_own(key)).collect()
}

/// Checks that all of a tenant's data in the store `from` has been copied to the store `to`.
fn assert_moved(from: &World, to: &World, tenant: &str) {
    assert_eq!(own_rows(from, tenant), own_rows(to, tenant));
    block_on(from.work()).unwrap();
    block_on(to.work()).unwrap();
    assert_eq!(from.tickets_of(tenant), to.tickets_of(tenant));
    assert_eq!(to.findings(), 0);
    for topic in 0..3 {
        assert_eq!(from.in_topic(tenant, topic), to.in_topic(tenant, topic), "topic {topic}");
    }
}

/// Checks that no data of `contoso` remains, and that the other tenant's data (`adatum`) has not changed since `before`.
fn assert_erased(world: &World, before: &[(Ticket, Option<usize>)]) {
    let left = || world.dump().into_iter().filter(|row| format!("{row:?}").contains("contoso"));
    let is_mark = |((table, _, row_key), row): &((String, String, String), String)| {
        table == REGISTRY && row_key == "contoso" && row == "Erased=Boolean(true);Table=String(\"Desk\")"
    };
    assert_eq!(left().filter(|row| !is_mark(row)).collect::<Vec<_>>(), []);
    assert_eq!(block_on(world.tenant("contoso").remaining()).unwrap(), 0);
    world.pass(Duration::from_secs(2 * 60 * 60));
    world.sweep();
    assert_eq!(left().collect::<Vec<_>>(), []);
    block_on(world.work()).unwrap();
    assert_eq!(world.tickets_of("adatum"), before);
    assert_eq!(world.findings(), 0);
}

/// Makes the store unable to represent some tickets of `contoso`. Returns the number of these tickets that exist.
fn misread(world: &World, numbers: &BTreeSet<u32>) -> u64 {
    let numbers: BTreeSet<_> = numbers.iter().map(|number| format!("ticket_{number:06}")).collect();
    let stored = world.dump();
    let is_there = |row_key: &&String| {
        stored.contains_key(&("Desk".to_owned(), "contoso".to_owned(), (*row_key).clone()))
    };
    let count = numbers.iter().filter(is_there).count();
    world.store.misread(("Title", ErrorCode::EntityMismatch), move |table, key| {
        table.as_str() == "Desk"
            && key.partition_key.as_str() == "contoso"
            && numbers.contains(key.row_key.as_str())
    });
    u64::try_from(count).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Tests tickets that the store of the source or of the target cannot represent, until another program mends them.
    #[test]
    fn no_step_of_a_move_loses_entities_that_the_store_cannot_represent_in_silence(
        steps in steps(12),
        strange in prop::collection::btree_set(1_u32..6, 0..3),
    ) {
        let (from, to) = (World::after(&steps), World::new());
        let (tenant, target) = (from.tenant("contoso"), to.tenant("contoso"));
        let whole = export(&tenant);
        let mut complete = tenant.export();
        while block_on(complete.step()).unwrap().is_some() {}
        let rows = block_on(tenant.count()).unwrap().rows();
        let count = misread(&from, &strange);
        prop_assert_eq!(block_on(tenant.count()).unwrap().rows(), rows);
        let mut lacking = tenant.export();
        while block_on(lacking.step()).unwrap().is_some() {}
        let position = lacking.position();
        let exported = complete.position().rows();
        prop_assert_eq!((position.rows(), position.skipped_rows()), (exported - count, count));
        // The target stores the rows, but cannot read them until they are mended.
        let mut import = target.import();
        block_on(import.push(&whole)).unwrap();
        let unreadable = misread(&to, &strange);
        prop_assert_eq!(unreadable, count);
        let finished = block_on(import.finish());
        prop_assert_eq!(finished.is_ok(), count == 0, "{:?}", finished.map(drop));
        to.store.heal();
        block_on(import.finish()).unwrap();
        let before = from.tickets_of("adatum");
        // The store of the source can still not represent the tickets. They hold copies, so they remain.
        let erased = block_on(tenant.erase());
        prop_assert_eq!(erased.is_ok(), count == 0, "{:?}", erased);
        from.store.heal();
        block_on(tenant.erase()).unwrap();
        assert_erased(&from, &before);
        block_on(to.work()).unwrap();
        prop_assert_eq!(to.findings(), 0);
        prop_assert_eq!(u64::try_from(to.tickets_of("contoso").len()).unwrap(), block_on(target.count()).unwrap().entities["Ticket"]);
    }

    #[test]
    fn a_tenant_moves_with_all_rows_and_leaves_nothing_behind(
        steps in steps(12),
        gone in prop::collection::btree_set(1_u32..6, 0..3),
    ) {
        let (from, to) = (World::after(&steps), World::new());
        let imported = import(&to.tenant("contoso"), &export(&from.tenant("contoso"))).unwrap();
        let count = block_on(to.tenant("contoso").count()).unwrap();
        prop_assert_eq!(count.blobs, imported.blobs);
        assert_moved(&from, &to, "contoso");
        // Recorded steps that no worker has performed are also erased, as are registrations.
        let from = World::after(&steps);
        let before = from.tickets_of("adatum");
        // Another tool has deleted some tickets without their index rows.
        for number in gone {
            from.delete_row("Desk", "contoso", &format!("ticket_{number:06}"));
        }
        block_on(from.tenant("contoso").erase()).unwrap();
        assert_erased(&from, &before);
    }
}

#[test]
fn numbers_and_cursors_continue_after_an_import() {
    let (from, to) = (World::after(&some_steps()), World::new());
    let (desk, contoso) =
        (from.tickets.table().name().unwrap().clone(), PartitionKey::new("contoso").unwrap());
    let read = |world: &World, cursor: &Cursor| {
        block_on(world.tickets.feed().read(&desk, &contoso, cursor, 100)).unwrap()
    };
    let entries = read(&from, &Cursor::default());
    let cursor = &entries[1].cursor;
    block_on(from.tenant("contoso").copy_to(&to.tenant("contoso"))).unwrap();
    let sources = |entries: &[crate::feed::FeedEntry]| -> Vec<_> {
        entries.iter().map(|entry| (entry.source.clone(), entry.kind.clone(), entry.cursor.clone())).collect()
    };
    assert_eq!(sources(&read(&to, cursor)), sources(&read(&from, cursor)));
    assert_eq!(block_on(to.tickets.feed().partitions(&desk)).unwrap(), [contoso]);
    let next = |world: &World| {
        let numbers = GaplessSequence::new(&world.tickets, "ticket").unwrap();
        let insert = numbers.next::<u32>(Ticket::partition("contoso"), |_, unit| {
            unit.require(kit::Agent::key("contoso", 1)).map(drop)
        });
        block_on(insert).unwrap()
    };
    assert_eq!((next(&from), next(&to)), (5, 5));
}

#[test]
fn a_tenant_can_be_renamed() {
    // The file consists of several parts.
    let mut steps = steps_with_file(2_500_000);
    steps.push((true, Step::Work));
    let world = World::after(&steps);
    let before = world.tickets_of("contoso");
    block_on(world.tenant("contoso").copy_to(&world.tenant("fabrikam"))).unwrap();
    block_on(world.tenant("contoso").erase()).unwrap();
    block_on(world.work()).unwrap();
    let expected: Vec<_> = before
        .into_iter()
        .map(|(ticket, file)| {
            let (key, address) =
                (ticket.number, ticket.file.map(|blob| blob.to_string().replace("contoso", "fabrikam")));
            (key, ticket.title, ticket.agent_name, address, file)
        })
        .collect();
    let found: Vec<_> = world
        .tickets_of("fabrikam")
        .into_iter()
        .map(|(ticket, file)| {
            (ticket.number, ticket.title, ticket.agent_name, ticket.file.map(|blob| blob.to_string()), file)
        })
        .collect();
    assert_eq!(found, expected);
    assert_eq!(world.findings(), 0);
}

#[test]
fn an_export_continues_from_any_position() {
    let world = World::after(&steps_with_file(2_500_000));
    let tenant = world.tenant("contoso");
    for rows in [1, 3, 1000] {
        let mut whole = String::new();
        let mut export = tenant.export().page(rows);
        while let Some(lines) = block_on(export.step()).unwrap() {
            whole += &lines;
        }
        let (mut text, mut position) = (String::new(), ExportPosition::default());
        loop {
            let mut export =
                tenant.export().page(rows).resume(position.to_string().parse().unwrap()).unwrap();
            text.truncate(usize::try_from(position.bytes()).unwrap());
            // Each process stores its position once, runs one more step, and dies before it stores the position after that step.
            let Some(lines) = block_on(export.step()).unwrap() else { break };
            text += &lines;
            while *export.position() == position {
                text += &block_on(export.step()).unwrap().unwrap();
            }
            position = export.position().clone();
            let _ = block_on(export.step());
        }
        assert_eq!(text, whole);
    }
}

#[test]
fn an_import_continues_after_a_failure_of_any_request() {
    let from = World::after(&some_steps());
    let text = export(&from.tenant("contoso"));
    for number in 0.. {
        let to = World::new();
        to.store.fail_at(number);
        let first = import(&to.tenant("contoso"), &text);
        to.store.heal();
        if first.is_ok() {
            assert!(number > 30, "{number} requests");
            return;
        }
        let tenant = to.tenant("contoso");
        let mut import = tenant.import().resume();
        block_on(async {
            import.push(&text).await?;
            import.finish().await
        })
        .unwrap();
        assert_moved(&from, &to, "contoso");
    }
}

#[test]
fn an_erasure_continues_after_a_failure_of_any_request() {
    for number in 0.. {
        let world = World::after(&some_steps());
        let before = world.tickets_of("adatum");
        let tenant = world.tenant("contoso");
        world.store.fail_at(number);
        let first = block_on(tenant.erase());
        world.store.heal();
        if first.is_ok() {
            assert!(number > 30, "{number} requests");
            return;
        }
        block_on(tenant.erase()).unwrap();
        assert_erased(&world, &before);
    }
}

#[test]
fn a_count_names_every_type() {
    let world = World::after(&some_steps());
    let count = block_on(world.tenant("contoso").count()).unwrap();
    let entities: Vec<_> = count.entities.iter().map(|(name, count)| (*name, *count)).collect();
    assert_eq!(entities, [("Agent", 2), ("Audit", 4), ("Ticket", 3)]);
    assert!(count.other > 0 && count.reserved > 0 && count.blobs >= 1);
    assert_eq!(count.rows(), 9 + count.other + count.reserved);
}
