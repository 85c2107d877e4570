//! Tests that imports and erasures ignore step records that another program has inserted into a tenant's partition.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{KeyRange, Query, Select};
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Entity, Row, ValueRef};

use super::kit::{Ticket, World, export, import, some_steps};
use crate::index::{RemoteChange, relay};
use crate::outbox::{Intent, OUTBOX_PREFIX, POISON_PREFIX, Step};

fn salaries() -> TableName {
    TableName::new("Salaries").unwrap()
}

fn write_of(row: &str) -> Step {
    let mut writer = RowWriter::new();
    writer.property("Amount", ValueRef::Int32(1));
    Step::insert_or_replace(salaries(), EntityKey::new("a", row).unwrap(), writer.finish())
}

/// Inserts a step record into the partition of `contoso`, either without a seal or with a seal that is not from this program.
fn insert(world: &World, prefix: &str, step: Step, seal: Option<&str>) {
    let record = world.outbox.operation(&Intent::of(RowKey::new("x").unwrap()).step(step)).unwrap();
    let row_key = record.row_key.as_str().replacen(OUTBOX_PREFIX, prefix, 1);
    let Some(row) = record.kind.row() else { panic!("no insert") };
    let mut writer = RowWriter::new();
    row.view().properties().map(Result::unwrap).for_each(|one| writer.property(one.name, one.value));
    if let Some(seal) = seal {
        writer.property("Seal", ValueRef::String(seal));
    }
    put(world.store.inner(), "Desk", &row_key, writer.finish());
}

fn put(engine: &Engine, table: &str, row_key: &str, row: Row) {
    let partition_key = PartitionKey::new("contoso").unwrap();
    let mut transaction = Transaction::new(partition_key, engine.capabilities().limits).unwrap();
    let row_key = RowKey::new(row_key).unwrap();
    transaction.push(Operation { row_key, kind: OperationKind::InsertOrReplace(row) }).unwrap();
    block_on(engine.submit(&TableName::new(table).unwrap(), transaction)).unwrap();
}

/// Returns the keys of the rows in the salaries table. Only steps from forged records would write to this table.
fn paid(world: &World) -> Vec<String> {
    let query = Query { select: Select::names(["Amount"]), ..Query::new(KeyRange::partition("a")) };
    let page = block_on(world.store.inner().query(&salaries(), &query, None)).unwrap();
    let rows = page.rows.iter().map(|row| row.row_key.to_owned());
    rows.filter(|row_key| !row_key.starts_with('\u{FFFC}')).collect()
}

#[test]
fn pat_ec_4_an_import_seals_no_record_of_a_foreign_writer() {
    let (from, to) = (World::after(&some_steps()), World::new());
    // A genuine record from another partition, copied here by another program.
    let genuine = Intent::of(RowKey::new("y").unwrap()).step(write_of("genuine"));
    let limits = from.store.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("contoso").unwrap(), limits).unwrap();
    from.outbox.record(&mut transaction, &genuine).unwrap();
    let recorded = transaction.operations()[0].row_key.as_str().to_owned();
    block_on(from.outbox.submit(&TableName::new("Desk").unwrap(), transaction)).unwrap();
    for (number, seal) in [None, Some("00000000.AAAA"), Some("")].into_iter().enumerate() {
        insert(&from, OUTBOX_PREFIX, write_of(&format!("foreign{number}")), seal);
        insert(&from, POISON_PREFIX, write_of(&format!("poison{number}")), seal);
    }
    // A forged record appears to be the genuine step, set aside under the same key. It must not replace the genuine step.
    let record =
        from.outbox.operation(&Intent::of(RowKey::new("y").unwrap()).step(write_of("same"))).unwrap();
    put(
        from.store.inner(),
        "Desk",
        &recorded.replacen(OUTBOX_PREFIX, POISON_PREFIX, 1),
        record.kind.row().unwrap().clone(),
    );
    for world in [&from, &to] {
        block_on(world.store.inner().create_table(&salaries())).unwrap();
    }
    import(&to.tenant("contoso"), &export(&from.tenant("contoso"))).unwrap();
    for world in [&from, &to] {
        block_on(
            crate::work::Sweep::new(world.outbox.clone())
                .min_age(std::time::Duration::ZERO)
                .sweep_registered(),
        )
        .unwrap();
        block_on(world.work()).unwrap();
        while block_on(world.outbox.requeue_poison()).unwrap().is_some() {}
        block_on(world.work()).unwrap();
        assert_eq!(paid(world), ["genuine"]);
    }
}

/// Tests user-entered text that looks like a blob address.
#[test]
fn texts_that_look_like_addresses_are_exported() {
    let (world, to) = (World::after(&some_steps()), World::new());
    for (number, title) in [(1, "Meeting 3 20261126"), (2, "desk a b 0 00000000")] {
        let update = world
            .tickets
            .update(Ticket::key("contoso", number), |ticket| title.clone_into(&mut ticket.title));
        block_on(update).unwrap();
    }
    import(&to.tenant("contoso"), &export(&world.tenant("contoso"))).unwrap();
    assert_eq!(to.tickets_of("contoso"), world.tickets_of("contoso"));
}

#[test]
fn pat_ec_4_an_erasure_follows_no_record_of_a_foreign_writer() {
    let world = World::after(&some_steps());
    block_on(world.work()).unwrap();
    let before = world.tickets_of("adatum");
    let remote = || -> Vec<((String, String, String), String)> {
        // Both tenants share the lists of topics. The check of the indexes covers these lists.
        let is_of_adatum =
            |row: &((String, _, _), _)| row.0.0 != "Topics" && format!("{row:?}").contains("adatum");
        world.dump().into_iter().filter(is_of_adatum).collect()
    };
    let rows = remote();
    for index in Ticket::SCHEMA.indexes.iter().filter(|index| !index.is_same_partition()) {
        for (ticket, _) in &before {
            let owner = ticket.key_of().unwrap();
            let typed = Ticket::INDEXES.iter().find(|known| known.schema().name == index.name).unwrap();
            let entry = typed.entry(ticket).unwrap().unwrap();
            // The first owner is an entity of another tenant. The second is an entity of this tenant, but its entry belongs to the other tenant's entity.
            let own = EntityKey::new("contoso", owner.row_key.as_str()).unwrap();
            for owner in [owner, own] {
                let change = RemoteChange::of_index(index, owner, vec![entry.key.clone()]);
                insert(&world, OUTBOX_PREFIX, relay::step_of(Ticket::SCHEMA, &change), None);
                insert(&world, POISON_PREFIX, relay::step_of(Ticket::SCHEMA, &change), Some("x"));
            }
        }
    }
    block_on(world.tenant("contoso").erase()).unwrap();
    assert_eq!(world.findings(), 0);
    assert_eq!(remote(), rows);
}
