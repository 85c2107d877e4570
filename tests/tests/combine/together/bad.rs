//! Rows that the store of the processes cannot represent, as another program could write them. Later, the other program corrects the rows.

use pollster::block_on;
use rand::RngExt;
use rand::rngs::StdRng;
use table_core::embedded::Engine;
use table_core::query::{EntityRef, KeyRange, Query};
use table_core::{EntityKey, TableName, TableStore};
use table_patterns::migrate::Migration;
use tests::faults::{bad_rows, mend, spoil};

use crate::together::desk::Ticket;
use crate::together::odd;
use crate::together::world::{Process, World};

/// The tables whose rows can become unreadable.
const TABLES: [&str; 4] = ["Desk", "Queues", "Badges", "Tags"];

/// The prefix of recorded steps, the only rows of the patterns that become unreadable.
const STEPS: &str = "\u{FFFC}outbox_";

fn table(name: &str) -> TableName {
    TableName::new(name).unwrap()
}

/// Returns the keys of the unreadable rows in a table.
pub fn keys(engine: &Engine, name: &str) -> Vec<EntityKey> {
    block_on(bad_rows(engine, &table(name))).unwrap().into_iter().map(|(key, _)| key).collect()
}

/// Returns `true` if at least one row of the tables is unreadable.
pub fn exists(engine: &Engine) -> bool {
    TABLES.iter().any(|name| !keys(engine, name).is_empty())
}

/// Makes a random row unreadable. Tickets are chosen more often than other rows.
pub fn make(engine: &Engine, rng: &mut StdRng) {
    if rng.random_bool(0.4) {
        let key = Ticket::key("contoso", rng.random_range(0..crate::together::run::NUMBERS));
        block_on(spoil(engine, &table("Desk"), &key.into_key().unwrap())).unwrap();
        return;
    }
    let name = table(TABLES[rng.random_range(0..TABLES.len())]);
    let Ok(page) = block_on(engine.query(&name, &Query::new(KeyRange::ALL), None)) else { return };
    let is_chosen = |row: &EntityRef<'_>| {
        let key = EntityKey::new(row.partition_key, row.row_key).unwrap();
        (!key.row_key.is_reserved() || row.row_key.starts_with(STEPS)) && !odd::is_place(&key)
    };
    let rows = page.rows.iter().filter(is_chosen);
    let keys: Vec<_> = rows.map(|row| EntityKey::new(row.partition_key, row.row_key).unwrap()).collect();
    if !keys.is_empty() {
        let key = &keys[rng.random_range(0..keys.len())];
        block_on(spoil(engine, &name, key)).unwrap();
    }
}

/// Makes all rows readable again.
pub fn correct(engine: &Engine) {
    for name in TABLES {
        block_on(mend(engine, &table(name))).unwrap();
    }
}

/// Returns `true` for the key of a ticket. The keys of comments begin with the key of their ticket.
fn is_ticket(key: &EntityKey) -> bool {
    key.row_key.as_str().strip_prefix("ticket_").is_some_and(|number| !number.contains('_'))
}

/// Runs a check of tables with unreadable rows. The check must not be clean.
pub fn check(world: &World, process: &Process) {
    let unreadable: Vec<_> = keys(&world.engine, "Desk").into_iter().filter(is_ticket).collect();
    let Ok(report) = block_on(world.tickets(process).check().run()) else { return };
    let found = |key: &EntityKey| report.findings.iter().any(|finding| finding.owner.as_ref() == Some(key));
    assert!(unreadable.is_empty() || !report.is_clean(), "{unreadable:?} are not reported");
    for key in &unreadable {
        assert!(found(key), "{key} is not among {report:?}");
    }
    for name in ["Queues", "Badges", "Tags"] {
        for key in keys(&world.engine, name) {
            let is_found = report.findings.iter().any(|finding| finding.at == key);
            let is_of_visits = key.partition_key.as_str().starts_with("round_");
            assert!(is_found || is_of_visits, "{name} {key} is not among {report:?}");
        }
    }
}

/// Copies the table of the tickets, which contains unreadable rows. The copy must not agree with the source.
pub fn copy(world: &World, process: &Process) {
    let target = Engine::in_memory();
    let unreadable = keys(&world.engine, "Desk");
    let mut copy = Migration::new(process.control.over(world.engine.clone()), &target, table("Desk")).page(7);
    let copied = block_on(async {
        while copy.step().await? {}
        copy.checksums().await
    });
    let Ok((source, copied)) = copied else { return };
    assert_eq!(source == copied, unreadable.is_empty(), "{unreadable:?} are lost: {source}, {copied}");
}

/// Runs a sweep of tables with unreadable rows. It must count the partition of an unreadable step as failed.
pub fn sweep(world: &World, process: &Process) {
    let is_step = |key: &EntityKey| key.row_key.as_str().starts_with(STEPS);
    let steps: Vec<_> = keys(&world.engine, "Desk").into_iter().filter(is_step).collect();
    let Ok(report) = process.swept() else { return };
    assert!(steps.is_empty() || report.failed > 0, "{steps:?} are not in {report:?}");
}
