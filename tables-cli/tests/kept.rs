//! Tests every command that writes to tables with derived rows. The command must either keep the derived rows consistent, or refuse to run and write nothing.
//! Each kind of derived row is tested.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod kinds;

use common::{shown, tables};
use kinds::{KINDS, Kind, contents, copy_folder};
use tables_cli::Exit;

/// Command lines that write. `T` is the table. `ROW` is the RowKey of an entity in the table, or of a part of a wide entity. `ONE` is a store with entities of
/// the same type. Two of them have the same keys as entities in `DB`, but different values. `PLAIN` is a store in which the table contains plain rows.
const COMMANDS: &[&str] = &[
    "put T a ROW Name=other --store DB",
    "put T a ROW Name=other --merge --store DB",
    "put T a ROW_new Name=other --insert --store DB",
    "patch T a ROW Name:String=other --store DB",
    "delete T --row ROW --store DB",
    "delete T --partition a --row ROW --yes --store DB",
    "delete T --filter \"RowKey eq 'ROW'\" --yes --store DB",
    "delete T --all --yes --store DB",
    "delete T --drop-table --yes --store DB",
    "import T DIR/rows.jsonl --store DB",
    "import T DIR/rows.jsonl --mode merge --store DB",
    "import T DIR/other.jsonl --store DB",
    "import T DIR/other.jsonl --mode merge --store DB",
    "import T DIR/all.jsonl --store DB",
    "import T DIR/plain.jsonl --store DB",
    "import T DIR/plain.jsonl --mode merge --store DB",
    "copy T --store DIR/ONE --to DB",
    "copy T --store DIR/PLAIN --to DB",
    "copy T --row ROW --store DIR/ONE --to DB",
    "copy T --row ROW --store DIR/PLAIN --to DB",
    "copy T --row ROW --mode merge --store DIR/PLAIN --to DB",
    "copy T --partition a --store DIR/ONE --to DB",
    "copy T --row-key {RowKey}_x --store DIR/ONE --to DB",
    "copy --store DIR/ONE --to DB",
    "copy T --mode merge --store DIR/ONE --to DB",
    "copy T --keep-timestamp Was --store DIR/ONE --to DB",
    "sync T --store DIR/ONE --to DB",
    "sync T --no-delete --store DIR/ONE --to DB",
    "sync T --store DIR/PLAIN --to DB",
    "sync --store DIR/ONE --to DB",
    "sync --no-delete --store DIR/ONE --to DB",
    "restore DIR/backup DB T --replace",
    "restore DIR/backup DB T --keep",
    "restore DIR/backup DB T",
    "restore DIR/backup DB T --row ROW --replace",
    "restore DIR/backup DB T --row ROW --keep",
    "restore DIR/backup DB T --partition a --replace",
    "restore DIR/backup DB T --partition a --keep",
    "restore DIR/backup DB --replace",
    "restore DIR/backup DB --keep",
    "repair T --store DB",
];

/// Runs every command on a fresh copy of the tables with one kind of derived row. Returns the command lines with incorrect results.
fn wrong_cells(kind: Kind) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let (at, row) = (folder.path(), if kind == Kind::Wide { "2001_01" } else { "id_0001" });
    assert_eq!(kind.visit(&at.join("whole"), 0..3, "n"), 0, "{kind:?}");
    assert_eq!(kind.visit(&at.join("ONE"), 1..4, "m"), 0, "{kind:?}");
    // A table of plain rows has no sequence, so its row must not have a number issued by another table's sequence.
    let row_of_plain = if kind == Kind::Sequence { "id_0900" } else { row };
    shown(at, &format!("put {} a {row_of_plain} Name=plain Day001:Int32=7 --store DIR/PLAIN", kind.table()));
    shown(at, "backup DIR/backup --store DIR/ONE");
    shown(at, &format!("export {} DIR/rows.jsonl --row {row} --store DIR/whole", kind.table()));
    let text = std::fs::read_to_string(at.join("rows.jsonl")).unwrap();
    let text = text.replace("\"n1\"", "\"n2\"").replace("\"Day001\":1", "\"Day001\":2");
    std::fs::write(at.join("rows.jsonl"), text).unwrap();
    shown(at, &format!("export {} DIR/other.jsonl --row {row} --store DIR/ONE", kind.table()));
    shown(at, &format!("export {} DIR/all.jsonl --store DIR/ONE", kind.table()));
    shown(at, &format!("export {} DIR/plain.jsonl --store DIR/PLAIN", kind.table()));
    let before = contents(&at.join("whole"));
    let mut wrong = Vec::new();
    for line in COMMANDS {
        copy_folder(&at.join("whole"), &at.join("db"));
        let words = line.split(' ').map(|word| match word {
            "T" => kind.table().to_owned(),
            word if kind == Kind::Wide && word.starts_with("Name") => "Day001:Int32=9".to_owned(),
            word => word.replace("ROW", row),
        });
        let line = words.collect::<Vec<_>>().join(" ");
        let (exit, text) = tables(at, &line);
        let is_refused = match &exit {
            Ok(_) => false,
            Err(failure) => {
                assert!(matches!(failure.exit(), Exit::Refused), "{kind:?}: {line}: {failure}");
                true
            }
        };
        // An import that stops at a rejected row has already written the rows before it.
        let may_write = line.starts_with("import");
        if is_refused && !may_write && contents(&at.join("db")) != before {
            wrong.push(format!("{kind:?}: `{line}` was refused and wrote rows: {exit:?}"));
        }
        if (!is_refused || may_write) && kind.visit(&at.join("db"), 0..0, "") > 0 {
            wrong.push(format!("{kind:?}: `{line}` left derived rows wrong: {text}"));
        }
    }
    wrong
}

#[test]
fn every_command_keeps_derived_rows_right_or_writes_nothing() {
    let wrong: Vec<_> = KINDS.into_iter().flat_map(wrong_cells).collect();
    assert!(wrong.is_empty(), "{} wrong cells:\n{}", wrong.len(), wrong.join("\n"));
}
