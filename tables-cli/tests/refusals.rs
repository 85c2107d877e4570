//! Tests the exit codes and messages of commands that refuse to run.

#![expect(clippy::unwrap_used, reason = "a test panics where a result is not the expected one")]

mod common;

use clap::CommandFactory;
use common::{refused, shown, tables};
use tables_cli::Exit::{Refused, Store, Usage};
use tables_cli::{Exit, Tables};

/// Command lines for a folder with a `Company` table, each with the expected exit code and a part of the expected message.
const REFUSALS: &[(&str, Exit, &str)] = &[
    ("ls --store DIR/none", Refused, "there is no folder `DIR/none`"),
    ("ls --store DIR/file", Refused, "`DIR/file` is a file; name the folder"),
    (
        "ls --store @production --config DIR/none.toml",
        Refused,
        "there is no configuration file DIR/none.toml",
    ),
    ("ls --store https://contoso.table.core.windows.net", Usage, "has no shared access signature"),
    ("describe Nowhere --store DB", Store, "TableNotFound"),
    ("describe Nowhere --output json --store DB", Store, "TableNotFound"),
    ("describe a/b --store DB", Usage, "InvalidResourceName"),
    ("get Company Sales --store DB", Usage, "<ROW_KEY>"),
    ("get Nowhere Sales 1 --store DB", Store, "TableNotFound"),
    ("query Company --filter 'Age ge 30' --store DB", Refused, "reads the whole table Company"),
    ("query Company --partition Sales --partitions S* --store DB", Usage, "cannot be used with"),
    ("tail Company --store DB", Usage, "`tail` follows one partition"),
    ("count Company department=Sales --store DB", Usage, "no schema is stored for Company"),
    ("heat Company --svg DIR/none/a.svg --store DB", Store, "No such file"),
    ("explain Company --filter 'Age gt' --store DB", Usage, "InvalidInput"),
    ("audit --row 1 --store DB", Usage, "name the table"),
    ("check Nowhere --store DB", Store, "TableNotFound"),
    ("repair Company --store DIR/none", Refused, "there is no folder"),
    ("repair Nowhere --store DB", Store, "TableNotFound"),
    ("repair Company --index Nope --store DB", Refused, "declares an index `Nope`"),
    ("poison Company --requeue --discard --store DB", Usage, "cannot be used with"),
    ("infer Nowhere --store DB", Store, "TableNotFound"),
    ("put Company Sales 1 Age:Int33=1 --store DB", Usage, "`Int33` is not a type"),
    ("put Company Sales 1 Age=1 --store DIR/file", Refused, "`DIR/file` is a file; name the folder"),
    ("put Company Sales 1 Age=1 --store DIR/file/db", Store, "db cannot be read: "),
    ("patch Company Sales 1 --store DB", Usage, "no change is given"),
    ("delete Company --store DB", Usage, "nothing is selected in Company"),
    ("delete Company --all --store DB", Refused, "pass `--yes`"),
    // The value of an unset shell variable must not select every row.
    ("delete Company --filter '' --yes --store DB", Usage, "the filter is empty"),
    ("delete Company --filter ' ' --yes --store DB", Usage, "the filter is empty"),
    ("delete Company --partitions .. --yes --store DB", Usage, "every row of Company is selected"),
    ("delete Company --rows '*' --yes --store DB", Usage, "every row of Company is selected"),
    ("delete Company --filter '' --yes --dry-run --store DB", Usage, "the filter is empty"),
    ("delete Company --drop-table --partition Sales --yes --store DB", Usage, "omit the selection"),
    ("delete Company --all --row 1 --yes --store DB", Usage, "omit the selection"),
    ("query Company --filter '' --store DB", Usage, "the filter is empty"),
    ("export Company DIR/out.jsonl --filter '' --store DB", Usage, "the filter is empty"),
    ("copy Company --filter '' --store DB --to DIR/to", Usage, "the filter is empty"),
    ("export Company DIR/db --store DB", Refused, "exists; pass `--force`"),
    ("import Company DIR/none.csv --store DB", Store, "DIR/none.csv: No such file"),
    ("import Company DIR/in.jsonl --rate 0 --store DB", Usage, "0 is not in 1.."),
    ("import Company - --state DIR/s --store DB", Usage, "use `--mode replace` and a file"),
    ("copy Nowhere --store DB --to DIR/to", Store, "TableNotFound"),
    ("copy Company --store DB --to DB", Usage, "a table cannot be copied onto itself"),
    ("copy --store DB --to DIR/to --rename Other", Usage, "<TABLE>"),
    ("copy Company --store DB --to DIR/to --row-key {Age", Usage, "has an unclosed brace"),
    ("sync Company --store DB --to DB", Usage, "a store cannot be synchronised with itself"),
    ("sync Nowhere --store DB --to DIR/to", Store, "TableNotFound"),
    ("backup DIR/db --store DB", Refused, "contains other files"),
    ("restore DIR/db DIR/to Nowhere", Refused, "has no table Nowhere"),
    ("restore DIR/db DIR/to --generation ''", Usage, "the name of the generation is empty"),
    ("verify --store memory:x", Refused, "there is no folder"),
    ("verify --store AccountName=a;AccountKey=d3Jvbmc=", Refused, "`verify` works on a folder"),
    ("compact --store AccountName=a;AccountKey=d3Jvbmc=", Refused, "`compact` works on a folder"),
    ("stats --store AccountName=a;AccountKey=d3Jvbmc=", Refused, "`stats` works on a folder"),
    ("doctor --store DIR/none", Refused, "the store cannot be used: folder failed"),
    ("serve --store AccountName=a;AccountKey=d3Jvbmc=", Refused, "`serve` works on a folder"),
    ("explore --store DIR/none", Refused, "there is no folder"),
    ("sql --store DB", Usage, "<STATEMENT>"),
    ("completions basic", Usage, "invalid value 'basic'"),
    ("man --to DIR/none", Store, "DIR/none: No such file"),
];

#[test]
fn invalid_commands_are_refused_with_exit_code_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    shown(at, "put Company Sales 1 Age=36 --store DB");
    shown(at, "put Company Sales 2 Age=37 --store DB");
    std::fs::write(at.join("file"), "").unwrap();
    let checksum = shown(at, "count Company --checksum --store DB");
    for (line, exit, message) in REFUSALS {
        let (found, text) = refused(at, line);
        assert!(found == *exit && text.contains(message), "{line}: {found:?} {text}");
        assert!(!text.contains(".part"), "{line}: {text}");
        // A refused command creates no table.
        assert_eq!(tables(at, "ls --store DB").1.lines().count(), 2, "{line}");
        assert_eq!(tables(at, "ls --store DIR/to").1, "", "{line}");
    }
    assert_eq!(shown(at, "count Company --checksum --store DB"), checksum);
}

#[test]
fn a_command_with_a_wrong_source_creates_no_target() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    shown(at, "put Company Sales 1 Age=36 --store DB");
    shown(at, "backup DIR/backups --store DB");
    for line in [
        "copy Nowhere --store DB --to DIR/to",
        "copy Company --filter 'Age ge' --store DB --to DIR/to",
        "copy Company department=Sales --store DB --to DIR/to",
        "sync Nowhere --store DB --to DIR/to",
        "restore DIR/none DIR/to",
        "restore DIR/backups DIR/to Nowhere",
    ] {
        refused(at, line);
        assert!(!at.join("to").exists(), "{line}");
    }
}

/// Tests that an error is reported before the command writes a part of its output.
#[test]
fn a_missing_table_is_reported_without_other_output() {
    let folder = tempfile::tempdir().unwrap();
    shown(folder.path(), "put Company Sales 1 Age=36 --store DB");
    for command in ["describe", "check", "repair", "audit", "infer", "heat", "count"] {
        let (exit, out) = tables(folder.path(), &format!("{command} Nowhere --store DB"));
        assert_eq!((exit.unwrap_err().exit(), out.as_str()), (Store, ""), "{command}");
    }
}

#[test]
fn every_command_has_a_refusal() {
    for command in Tables::command().get_subcommands() {
        let is_of = |line: &str| line.split(' ').next() == Some(command.get_name());
        assert!(REFUSALS.iter().any(|(line, ..)| is_of(line)), "{}", command.get_name());
    }
}
