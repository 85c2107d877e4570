//! Tests transfers of a table to another store. A transfer must either be rejected, or result in derived rows that are consistent and stay consistent. Each
//! kind of derived row is tested.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod kinds;

use std::path::Path;

use common::{block_on, shown, tables};
use kinds::{KINDS, Kind, contents};
use table_core::{
    Engine, PartitionKey, QueueName, RowKey, TableName, TableStore as _, TableStoreExt as _, Transaction,
};
use table_patterns::Entity;
use table_patterns::outbox::{Intent, Outbox, Step};
use table_patterns::work::Worker;
use tables_cli::Exit;

/// Command lines that transfer a table to a store without that table, each with `true` if the new table has the name `Other`.
const TRANSFERS: &[(&str, bool)] = &[
    ("copy T --store DIR/whole --to DB", false),
    ("copy T --partition a --store DIR/whole --to DB", false),
    ("copy T --rename Other --store DIR/whole --to DB", true),
    ("copy --store DIR/whole --to DB", false),
    ("sync T --store DIR/whole --to DB", false),
    ("sync --store DIR/whole --to DB", false),
    ("restore DIR/backup DB T", false),
    ("restore DIR/backup DB T --keep", false),
    ("restore DIR/backup DB T --partition a", false),
    ("restore DIR/backup DB T --rename Other", true),
    ("restore DIR/rows DB T", false),
    ("restore DIR/rows DB T --rename Other", true),
    ("restore DIR/rows DB", false),
];

/// Transfers a table with one kind of derived row to empty stores, and then writes a plain row to each of them. Returns the transfers with incorrect results.
fn wrong_transfers(kind: Kind) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    assert_eq!(kind.visit(&at.join("whole"), 0..3, "n"), 0, "{kind:?}");
    shown(at, "backup DIR/backup --store DIR/whole");
    shown(at, "backup DIR/rows --format rows --store DIR/whole");
    let mut wrong = Vec::new();
    for (line, is_renamed) in TRANSFERS {
        if at.join("db").exists() {
            std::fs::remove_dir_all(at.join("db")).unwrap();
        }
        let line = line.split(' ').map(|word| if word == "T" { kind.table() } else { word });
        let line = line.collect::<Vec<_>>().join(" ");
        let name = if *is_renamed { "Other" } else { kind.table() };
        if let Err(failure) = tables(at, &line).0 {
            assert!(matches!(failure.exit(), Exit::Refused), "{kind:?}: {line}: {failure}");
            let rows: Vec<_> =
                contents(&at.join("db")).into_iter().filter(|row| row.contains("EntityKey")).collect();
            if !rows.is_empty() {
                wrong.push(format!("{kind:?}: `{line}` was refused and wrote {rows:?}"));
            }
            continue;
        }
        // The row must be written before a program opens the table, because opening the table stores its schema.
        let put = tables(at, &format!("put {name} a id_0009 Name=other --store DB")).0;
        let is_accepted = match &put {
            Ok(_) => true,
            Err(failure) => {
                assert!(matches!(failure.exit(), Exit::Refused), "{kind:?}: {line}: {failure}");
                false
            }
        };
        let (exit, text) = tables(at, &format!("check {name} --store DB"));
        if exit.is_err() || !is_renamed && kind.visit(&at.join("db"), 0..0, "") > 0 {
            wrong.push(format!("{kind:?}: `{line}`, plain row accepted: {is_accepted}: {exit:?} {text}"));
        }
        if is_accepted && *is_renamed && !matches!(kind, Kind::Wide | Kind::Sequence) {
            wrong.push(format!("{kind:?}: a plain row was accepted after `{line}`"));
        }
    }
    wrong
}

#[test]
fn a_table_in_a_new_store_keeps_its_derived_rows_right() {
    let wrong: Vec<_> = KINDS.into_iter().flat_map(wrong_transfers).collect();
    assert!(wrong.is_empty(), "{} wrong cells:\n{}", wrong.len(), wrong.join("\n"));
}

/// An entity type without derived rows.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Plain", crate = table_patterns)]
#[partition_key(team)]
#[row_key("id_", id)]
struct Plain {
    team: String,
    #[digits(4)]
    id: u32,
    name: String,
}

/// Opens the engine and the outbox in a folder, calls `step` with them, and closes the engine.
fn with_outbox(folder: &Path, step: impl AsyncFnOnce(&Engine, Outbox<Engine, Engine>)) {
    block_on(async {
        let engine = Engine::open(folder).unwrap();
        let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("outbox").unwrap());
        outbox.create_queues().await.unwrap();
        step(&engine, outbox).await;
        engine.close().await.unwrap();
    });
}

/// Records an intent (work for the outbox) in a separate table. The intent writes a `Plain` entity that does not exist yet.
async fn record_intent(engine: &Engine, outbox: Outbox<Engine, Engine>) {
    let name = TableName::new("Changes").unwrap();
    engine.create_table(&name).await.unwrap();
    let limits = engine.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("a").unwrap(), limits).unwrap();
    let plain = Plain { team: "a".to_owned(), id: 1, name: "n".to_owned() };
    let intent = Intent::of(RowKey::new("r").unwrap()).step(Step::put(&plain).unwrap());
    outbox.record(&mut transaction, &intent).unwrap();
    outbox.submit(&name, transaction).await.unwrap();
}

#[test]
fn intents_of_tables_that_only_the_target_has_are_still_performed() {
    for line in [
        "sync --store DIR/ONE --to DB",
        "restore DIR/backup DB --replace",
        "copy --store DIR/ONE --to DB",
        "restore DIR/backup DB --keep",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        assert_eq!(Kind::Elsewhere.visit(&at.join("ONE"), 7..8, "n"), 0);
        shown(at, "backup DIR/backup --store DIR/ONE");
        with_outbox(&at.join("db"), async |engine, outbox| {
            engine.table::<Plain>().create_if_missing().await.unwrap();
            record_intent(engine, outbox).await;
        });
        shown(at, line);
        with_outbox(&at.join("db"), async |_, outbox| {
            Worker::new(outbox).run_until_idle().await.unwrap();
        });
        let is_done = contents(&at.join("db")).iter().any(|row| row.contains("id_0001"));
        assert!(is_done, "{line}: {:#?}", contents(&at.join("db")));
    }
}
