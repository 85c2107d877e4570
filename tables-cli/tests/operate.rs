//! Tests the commands for operators: `audit`, `doctor`, `heat`, `tail`, `patch` and `query --newest`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Account, block_on, refused, shown, tables};
use table_core::{Engine, TableEntity, TableStoreExt, ticks};
use table_patterns::Entity;
use table_patterns::log_tail::LogStamp;
use tables_cli::Exit;

/// An event in a log whose newest events sort first.
#[derive(Entity)]
#[entity(table = "Alarms")]
#[partition_key(site)]
#[row_key(stamp)]
struct Alarm {
    site: String,
    stamp: LogStamp,
    line: i64,
}

/// Creates a folder with logs whose newest row sorts first. In one of the logs, two events have the same timestamp.
fn log() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let engine = Engine::open(folder.path().join("db")).unwrap();
        let table = engine.untyped("Logs").unwrap().create_if_missing().await.unwrap();
        for line in 0..20_u64 {
            let key = format!("{:019}", ticks::MAX - (638_000_000_000_000_000 + line));
            let entity = TableEntity::new("web", key).unwrap().with("Line", i64::try_from(line).unwrap());
            table.insert(&entity).await.unwrap();
        }
        let table = engine.table::<Alarm>().create_if_missing().await.unwrap();
        for line in 0..20_u64 {
            let stamp = LogStamp::from_ticks(638_000_000_000_000_000 + line / 2 * 10_000_000, line % 2);
            table.insert(&Alarm { site: "web".into(), stamp, line: line.try_into().unwrap() }).await.unwrap();
        }
        engine.close().await.unwrap();
    });
    folder
}

/// Returns the line numbers in JSON output.
fn lines(json: &str) -> Vec<String> {
    let number =
        |line: &str| serde_json::from_str::<TableEntity>(line).unwrap().get("Line").cloned().unwrap();
    json.lines().map(|line| table_inspect::value::show(&number(line))).collect()
}

#[test]
fn the_newest_rows_are_queried_and_followed() {
    let folder = log();
    let at = folder.path();
    let text = shown(at, "query Logs --partition web --newest 3 --store DB -o json");
    assert_eq!(lines(&text), ["19", "18", "17"]);
    assert_eq!(lines(&shown(at, "tail Logs --partition web --lines 2 --store DB -o json")), ["18", "19"]);
    for row in 0..12 {
        shown(at, &format!("put Orders Sales {row:03} Line={row} --store DB"));
    }
    assert_eq!(lines(&shown(at, "tail Orders --partition Sales --lines 2 --store DB -o json")), ["10", "11"]);
    for (line, exit, message) in [
        (
            "query Orders --partition Sales --newest 3 --store DB",
            Exit::Refused,
            "are not in descending order",
        ),
        ("query Logs --newest 3 --store DB", Exit::Usage, "`--newest` needs one partition"),
        ("tail Logs --store DB", Exit::Usage, "`tail` follows one partition"),
        ("tail Logs --partition web --follow --store DB", Exit::Refused, "as it was when it was opened"),
        ("tail Nowhere --partition web --store DB", Exit::Store, "TableNotFound"),
    ] {
        let (found, text) = refused(at, line);
        assert!(found == exit && text.contains(message), "{line}: {found:?} {text}");
    }
    assert!(matches!(tables(at, "tail Logs --partition other --store DB").0, Ok(Exit::Nothing)));
    assert!(matches!(tables(at, "tail Logs --partition web --feed --store DB").0, Ok(Exit::Nothing)));
}

#[test]
fn internal_rows_are_not_the_newest_rows() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for row in ["001", "002", "\u{FFFC}feed_00000000000000000001", "\u{FFFC}feed_head", "\u{FFFC}outbox_1"] {
        shown(at, &format!("put Orders p '{row}' Line=1 --store DB"));
    }
    let tail = |options: &str| {
        let text = shown(at, &format!("tail Orders --partition p {options} --store DB -o json"));
        let row_key =
            |line: &str| serde_json::from_str::<TableEntity>(line).unwrap().key().row_key.as_str().to_owned();
        text.lines().map(row_key).collect::<Vec<_>>()
    };
    assert_eq!(tail("--lines 2"), ["001", "002"]);
    assert_eq!(tail("--rows 00*"), ["001", "002"]);
    assert_eq!(tail("--rows '\u{FFFC}outbox*'"), ["\u{FFFC}outbox_1"]);
    assert_eq!(tail("--feed"), ["\u{FFFC}feed_00000000000000000001"]);
}

#[test]
fn the_stamps_of_a_log_tail_are_instants() {
    let folder = log();
    let at = folder.path();
    let json = |line: &str| lines(&shown(at, &format!("{line} --store DB -o json")));
    assert_eq!(json("query Alarms site=web --newest 3"), ["19", "18", "17"]);
    assert_eq!(json("tail Alarms --partition web --lines 2"), ["18", "19"]);
    // A range includes all events with the timestamp of either bound.
    let range = "stamp=2022-09-28T22:13:21Z..2022-09-28T22:13:22Z";
    assert_eq!(json(&format!("query Alarms site=web {range}")), ["5", "4", "3", "2"]);
    let text = shown(at, &format!("query Alarms site=web {range} --store DB"));
    assert!(text.contains("2022-09-28T22:13:22Z_1") && text.contains("2022-09-28T22:13:21Z "), "{text}");
    assert_eq!(json("query Alarms site=web stamp=2022-09-28T22:13:22Z_1"), ["5"]);
}

#[test]
fn a_feed_is_read_without_its_head() {
    let folder = tempfile::tempdir().unwrap();
    for row in ["feed_00000000000000000001", "feed_00000000000000000002", "feed_head"] {
        shown(folder.path(), &format!("put Orders p '\u{FFFC}{row}' Kind=x --store DB"));
    }
    let text = shown(folder.path(), "tail Orders --partition p --feed --store DB -o json");
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn partition_loads_are_shown_as_text_and_as_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (partition, rows) in [("a", 1), ("b", 4), ("c", 2)] {
        for row in 0..rows {
            shown(at, &format!("put Company {partition} {row} Age=3 --store DB"));
        }
    }
    insta::assert_snapshot!(shown(at, "heat Company --store DB --svg DIR/heat.svg --largest 2"), @r"
    partition  rows  bytes  share
    b          4     104    57.1 %
    c          2     52     28.6 %

    3 partitions, 7 rows
    ▂█▄
    ");
    assert!(std::fs::read_to_string(at.join("heat.svg")).unwrap().contains("<title>4 rows</title>"));
    assert!(matches!(tables(at, "heat Company --partition none --store DB").0, Ok(Exit::Nothing)));
    assert_eq!(refused(at, "heat Company --store DB --svg DIR/no/heat.svg").0, Exit::Store);
    let (exit, text) = refused(at, "heat Company --store DB --svg DIR/heat.svg");
    assert!(exit == Exit::Refused && text.contains("DIR/heat.svg exists; pass `--force`"), "{text}");
    shown(at, "heat Company --store DB --svg DIR/heat.svg --force");
}

#[test]
fn an_entity_is_patched_under_the_version_that_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    shown(at, "put Company Sales 1 Age:Int64=36 Zip:String=08001 Photo=x --store DB");
    shown(at, "patch Company Sales 1 Age=37 --remove Photo --store DB");
    shown(at, "patch Company Sales 1 --json '{\"Name\":\"Ada\"}' --store DB");
    let read = || -> TableEntity {
        let text = shown(at, "get Company Sales 1 --store DB -o json");
        serde_json::from_str(&text).unwrap()
    };
    let entity = read();
    assert_eq!(entity.get("Age"), Some(&37_i64.into()), "the type of the stored property");
    assert_eq!((entity.get("Photo"), entity.get("Name")), (None, Some(&"Ada".into())));
    let text = shown(at, "patch Company Sales 1 Age=38 --dry-run --store DB");
    assert!(text.contains("\"Age\":\"38\"") && read().get("Age") == Some(&37_i64.into()), "{text}");
    assert!(matches!(tables(at, "patch Company Sales 2 Age=1 --store DB").0, Ok(Exit::Nothing)));
    for (line, exit, message) in [
        ("patch Company Sales 1 --store DB", Exit::Usage, "no change is given"),
        ("patch Company Sales 1 Age=old --store DB", Exit::Usage, "is not Edm.Int64"),
        ("patch Company Sales 1 --remove Photo --store DB", Exit::Refused, "no property `Photo`"),
        ("patch Company Sales 1 --json '{\"RowKey\":\"2\"}' --store DB", Exit::Usage, "a key cannot change"),
        ("patch Company Sales 1 --json [] --store DB", Exit::Usage, "not an object of properties"),
    ] {
        let (found, text) = refused(at, line);
        assert!(found == exit && text.contains(message), "{line}: {found:?} {text}");
    }
}

#[test]
fn findings_of_an_audit_have_rule_samples_and_fix() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for row in [1, 2, 3, 10, 11] {
        shown(at, &format!("put Company Sales {row} Age=3 --store DB"));
    }
    insta::assert_snapshot!(shown(at, "audit Company --store DB"), @r"
    DQ-10: numbers of different widths in RowKey, 5 rows
      sample  ('Sales', '1'), ('Sales', '10'), ('Sales', '11')
      fix     pad the number, for example with `#[digits(2)]`; without, '10' sorts before '9'
    ");
    let text = shown(at, "audit --store DB -o json");
    let finding: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((finding["table"].as_str(), finding["rule"].as_str()), (Some("Company"), Some("DQ-10")));
    assert!(matches!(tables(at, "audit Company --row 1 --store DB").0, Ok(Exit::Nothing)));
    assert!(refused(at, "audit --row 1 --store DB").1.contains("name the table"));
}

#[test]
fn a_store_that_cannot_be_used_is_examined_step_by_step() {
    let folder = log();
    let at = folder.path();
    assert!(shown(at, "doctor Logs --store DB").ends_with("ok    table      Logs can be read\n"));
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        engine.backup(at.join("backup")).await.unwrap();
        engine.close().await.unwrap();
    });
    let text = shown(at, "doctor Logs --store DIR/backup");
    assert!(text.contains("the folder is a backup") && text.ends_with("Logs can be read\n"), "{text}");
    let account = Account::start();
    let text = shown(at, &format!("doctor --store {}", account.string));
    for step in ["endpoint", "DNS", "TCP", "clock", "account"] {
        assert!(text.contains(&format!("ok    {step:9}  ")), "{text}");
    }
    let wrong_key = {
        let (front, rest) = account.string.split_once("AccountKey=").unwrap();
        let behind = rest.split_once(';').map_or("", |(_, behind)| behind);
        format!("{front}AccountKey=d3Jvbmc=;{behind}")
    };
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        format!("TableEndpoint=http://127.0.0.1:{port}/a;AccountName=a;AccountKey=d3Jvbmc=")
    };
    for (store, table, message) in [
        ("DIR/nowhere".to_owned(), "", "FAIL  folder"),
        ("DIR".to_owned(), "", "FAIL  read"),
        ("DB".to_owned(), "Nowhere", "FAIL  table"),
        (wrong_key, "", "FAIL  account"),
        (gone, "", "FAIL  TCP"),
        ("https://contoso.invalid/?sv=1&se=2999-01-01&sig=x".to_owned(), "", "FAIL  DNS"),
        ("https://contoso.invalid/?sv=1&se=2020-01-01&sig=x".to_owned(), "", "FAIL  signature"),
        ("AccountName=a;AccountKey=%".to_owned(), "", "FAIL  endpoint"),
        (account.string.clone(), "Nowhere", "FAIL  table"),
    ] {
        let (exit, text) = tables(at, &format!("doctor {table} --store {store}").replace("  ", " "));
        assert!(exit.is_err_and(|failure| failure.exit() == Exit::Refused), "{store}: {text}");
        assert!(text.contains(message) && text.contains("help: "), "{store}: {text}");
    }
    let held = block_on(async { Engine::open(at.join("db")).unwrap() });
    let (_, text) = tables(at, "doctor --store DB");
    assert!(text.contains("FAIL  write") && text.contains("end the process that has it open"), "{text}");
    drop(held);
}
