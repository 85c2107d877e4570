//! Tests every command through the entry point of the program, with folders and in-memory stores.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{block_on, refused, shown, tables};
use table_core::{EdmType, Engine, Entity, TableEntity, TableStoreExt};
use tables_cli::Exit;

#[derive(Clone, Entity)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    first_name: String,
    age: i32,
}

/// Creates a folder with a table of ten employees in two departments.
fn company() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let engine = Engine::open(folder.path().join("db")).unwrap();
        let table = engine.table::<Employee>().create_if_missing().await.unwrap();
        for id in 0..10 {
            let department = if id < 6 { "Sales" } else { "Marketing" }.to_owned();
            let age = 30 + i32::try_from(id).unwrap();
            table.insert(&Employee { department, id, first_name: format!("N{id}"), age }).await.unwrap();
        }
        engine.close().await.unwrap();
    });
    folder
}

#[test]
fn a_table_is_listed_described_and_queried_by_the_parts_of_its_keys() {
    let folder = company();
    let at = folder.path();
    insta::assert_snapshot!(shown(at, "ls --store DB -o csv"), @r"
    table,entities,rows,bytes
    Company,Employee,10,696
    ");
    insta::assert_snapshot!(shown(at, "describe Company --store DB --sample 2"), @r"
    Employee
      PartitionKey  {department}
      RowKey        empid_{id}
      property      Age Edm.Int32
      property      FirstName Edm.String

    department  id  FirstName  Age
    Marketing   6   N6         36
    Marketing   7   N7         37
    ");
    insta::assert_snapshot!(shown(at, "query Company department=Sales id=2..3 --store DB"), @r"
    department  id  FirstName  Age
    Sales       2   N2         32
    Sales       3   N3         33
    ");
    let json =
        shown(at, "query Company --partition Sales --filter 'Age ge 35' --select Age --store DB -o json");
    let entity: TableEntity = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (entity.key().row_key.as_str(), entity.get("Age"), entity.len()),
        ("empid_000005", Some(&35.into()), 1)
    );
    insta::assert_snapshot!(shown(at, "explain Company department=Sales id=2..3 --store DB"), @r"
    range query on Company
      PartitionKey: 'Sales'
      RowKey:       from 'empid_000002' before 'empid_000004'
      $filter:      PartitionKey eq 'Sales' and RowKey ge 'empid_000002' and RowKey lt 'empid_000004'
      $select:      all properties
      index:        none, the primary key
      requests:     at least 1, one for each page of at most 1000 entities; unbounded, since the pages depend on the data
    ");
    insta::assert_snapshot!(shown(at, "count Company --by-partition --store DB"), @r"
    partition  rows
    Marketing  4
    Sales      6
    ");
}

#[test]
fn commands_end_with_stable_exit_codes() {
    let folder = company();
    let at = folder.path();
    assert!(matches!(tables(at, "get Company Sales empid_000009 --store DB").0, Ok(Exit::Nothing)));
    assert!(matches!(tables(at, "query Company department=Sales id=9 --store DB").0, Ok(Exit::Nothing)));
    for (line, exit, message) in [
        ("ls", Exit::Usage, "no store is named"),
        ("ls --store DIR/other", Exit::Refused, "there is no folder `DIR/other`"),
        ("count Nowhere --store DB", Exit::Store, "TableNotFound"),
        ("query Company --filter 'Age ge 30' --store DB", Exit::Refused, "reads the whole table Company"),
        ("query Company dept=Sales --store DB", Exit::Usage, "has no part `dept`"),
        (
            "query Company first_name=N1 --store DB",
            Exit::Usage,
            "`FirstName` is a property of Employee, not a part of its key; use `--filter \"FirstName eq …\"`",
        ),
        ("query Company --partition Sales --filter 'Age gt' --store DB", Exit::Usage, "InvalidInput"),
        ("delete Company --store DB", Exit::Usage, "nothing is selected in Company"),
        ("delete Company department=Sales --store DB", Exit::Refused, "pass `--yes`"),
        ("export Company DIR/db --store DB", Exit::Refused, "exists; pass `--force`"),
        ("put Company Sales 1 Age:Int33=1 --store DB", Exit::Usage, "`Int33` is not a type"),
        ("count Company --store memory:x", Exit::Refused, "there is no folder `memory:x`"),
        ("put Company Sales empid_000001 --insert --store DB", Exit::Refused, "EntityAlreadyExists"),
        (
            "put Company Sales empid_000001 --etag 'W/\"1\"' --store DB",
            Exit::Refused,
            "UpdateConditionNotSatisfied",
        ),
        ("put Company Sales empid_000001 --etag nonsense --store DB", Exit::Usage, "InvalidInput"),
        ("put Company Sales empid_000001 1x=1 --store DB", Exit::Refused, "PropertyNameInvalid"),
    ] {
        let (found, text) = refused(at, line);
        assert!(found == exit && text.contains(message), "{line}: {found:?} {text}");
    }
}

#[test]
fn a_refused_put_creates_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    shown(at, "put Other p 1 --store DB");
    for line in [
        "put New p 1 --etag nonsense --store DB",
        "put New p 1 1x=1 --store DB",
        "put New p a_01 1x=1 --store DB",
    ] {
        refused(at, line);
        assert!(!shown(at, "ls --store DB").contains("New"), "{line}");
    }
    shown(at, "put New p a_01 --store DB");
}

#[test]
fn a_patch_keeps_the_types_of_stored_properties() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    shown(at, "put People p 1 Age:Int64=36 At:DateTime=2024-05-01 Size:Double=1.5 Name=x --store DB");
    for options in ["", " --ignore-etag", " --remove Name", " --remove Note --ignore-etag"] {
        shown(at, "put People p 1 Name=x Note=y --merge --store DB");
        let json = r#"{"Age":37,"At":"2024-06-01T00:00:00Z","Size":2,"New":1}"#;
        shown(at, &format!("patch People p 1 --json '{json}'{options} --store DB"));
        let row: TableEntity = serde_json::from_str(&shown(at, "get People p 1 --store DB -o json")).unwrap();
        let types = ["Age", "At", "Size", "New"].map(|name| row.get(name).unwrap().edm_type());
        assert_eq!(types, [EdmType::Int64, EdmType::DateTime, EdmType::Double, EdmType::Int32], "{options}");
        assert_eq!(row.get("Age"), Some(&37_i64.into()));
        assert_eq!(row.get("Note").is_none(), options.contains("Note"), "{options}");
    }
    shown(at, r#"patch People p 1 --json '{"Age":1,"Age@odata.type":"Edm.Int32"}' --store DB"#);
    assert!(shown(at, "get People p 1 --store DB -o json").contains(r#""Age":1"#));
    for (json, message) in
        [(r#"{"At":"soon"}"#, "`At` is stored as Edm.DateTime"), (r#"{"Age":null}"#, "use `--remove Age`")]
    {
        let (exit, text) = refused(at, &format!("patch People p 1 --json '{json}' --store DB"));
        assert!(exit == Exit::Usage && text.contains(message), "{text}");
    }
}

#[test]
fn every_file_format_restores_the_same_table() {
    let folder = company();
    let at = folder.path();
    let checksum = shown(at, "count Company --checksum --store DB");
    for (form, at_rest) in [("jsonl", "a.jsonl"), ("csv", "a.csv")] {
        shown(at, &format!("export Company DIR/{at_rest} --store DB"));
        shown(at, &format!("import Company DIR/{at_rest} --store DIR/{form}"));
        assert_eq!(shown(at, &format!("count Company --checksum --store DIR/{form}")), checksum);
    }
}

#[test]
fn lines_that_are_not_entities_are_set_aside_with_their_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("in.csv"), "PartitionKey,RowKey,Age\np,1,36\np,a/b,37\np,3,old\np,4,38\n")
        .unwrap();
    let (exit, text) =
        refused(at, "import Things DIR/in.csv --store DB --types Age=Int32 --errors DIR/wrong");
    assert_eq!((exit, text.as_str()), (Exit::Refused, "2 rows rejected; DIR/wrong has the reasons"));
    insta::assert_snapshot!(std::fs::read_to_string(at.join("wrong")).unwrap(), @r"
    line 3, column 1: OutOfRangeInput: the RowKey 'a/b' contains '/', which keys cannot contain; encode the value, for example with `escaped(…)` (rule KEY-3)
    line 4, column 3: property `Age`: `old` is not Edm.Int32; expected a whole number from -2147483648 to 2147483647
    ");
    assert_eq!(shown(at, "count Things --store DB -o csv"), "rows\n2\n");
    let (exit, text) = refused(at, "import Things DIR/in.csv --store DB --types Age=Int32");
    assert!(exit == Exit::Refused && text.contains("Give `--errors FILE`"), "{text}");
}

#[test]
fn a_dry_run_of_an_import_rejects_the_rows_that_the_service_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("in.csv"), "PartitionKey,RowKey,1x\np,1,a\np,2,\np,3,b\n").unwrap();
    let (exit, text) = refused(at, "import Things DIR/in.csv --dry-run --store DB");
    assert!(
        exit == Exit::Refused && text.contains("line 2") && text.contains("nothing is written"),
        "{text}"
    );
    let (exit, text) = refused(at, "import Things DIR/in.csv --dry-run --errors DIR/wrong --store DB");
    assert_eq!((exit, text.as_str()), (Exit::Refused, "2 rows would be rejected"));
}

#[test]
fn a_copy_is_verified_and_a_sync_writes_only_what_differs() {
    let folder = company();
    let at = folder.path();
    let text = shown(at, "copy Company --store DB --to DIR/other --state DIR/state");
    assert!(text.starts_with("copied Company to Company: 10 rows, verified, checksum "), "{text}");
    assert!(matches!(tables(at, "sync Company --store DB --to DIR/other").0, Ok(Exit::Nothing)));
    shown(at, "put Company Sales empid_000001 Age=99 --store DB --merge");
    shown(at, "put Company Sales empid_000777 Age=1 --store DIR/other");
    shown(at, "delete Company --partition Marketing --store DIR/other --yes");
    assert_eq!(
        shown(at, "sync Company --store DB --to DIR/other --dry-run"),
        "would change Company: 4 added, 1 changed, 1 deleted\n"
    );
    assert_eq!(
        shown(at, "sync Company --store DB --to DIR/other"),
        "Company: 4 added, 1 changed, 1 deleted\n"
    );
    assert!(matches!(tables(at, "sync Company --store DB --to DIR/other").0, Ok(Exit::Nothing)));
    let other = refused(at, "copy Company --store DB --to DIR/third --state DIR/state").1;
    assert!(other.contains("belongs to another transfer"), "{other}");
    let (exit, text) =
        refused(at, "copy Company --store DB --to DIR/third --state DIR/third.state --mode insert");
    assert!(exit == Exit::Usage && text.contains("use `--mode replace`"), "{text}");
}

#[test]
fn a_dry_run_counts_the_differences_of_tables_that_the_target_lacks() {
    let folder = company();
    let at = folder.path();
    shown(at, "put Orders Sales 1 N=1 --store DB");
    shown(at, "put Zones Sales 1 N=1 --store DB");
    shown(at, "put Zones Sales 2 N=2 --store DIR/other");
    for table in ["Orders ", ""] {
        let would = shown(at, &format!("sync {table}--store DB --to DIR/other --dry-run"));
        let done: String =
            would.lines().map(|line| line.trim_start_matches("would change ").to_owned() + "\n").collect();
        assert!(would.contains("would change Orders: 1 added, 0 changed, 0 deleted\n"), "{would}");
        if table.is_empty() {
            assert_eq!(shown(at, "sync --store DB --to DIR/other"), done);
        }
    }
}

#[test]
fn keys_are_rewritten_by_a_pattern() {
    let folder = company();
    let at = folder.path();
    shown(
        at,
        "copy Company --store DB --to DIR/other --partition-key '{PartitionKey}_{Age}' --keep-timestamp Was",
    );
    let (exit, text) = tables(at, "get Company Sales_31 empid_000001 --store DIR/other -o json");
    assert!(matches!(exit, Ok(Exit::Done)) && text.contains("\"Was\""), "{text}");
    let refused = refused(at, "copy Company --store DB --to DIR/third --row-key '{Nothing}'").1;
    assert!(refused.contains("has no property `Nothing`"), "{refused}");
    let refused = common::refused(at, "copy Company --store DB --to DIR/fourth --keep-timestamp Age").1;
    assert!(refused.contains("has a property `Age`"), "{refused}");
}

/// Tests that a copy with rewritten keys is rejected if several rows would have the same new key. Otherwise, the last of these rows would replace the others.
#[test]
fn rows_whose_rewritten_keys_are_equal_are_refused_before_the_first_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for key in ["Sales 1", "Sales 2", "Marketing 1"] {
        shown(at, &format!("put Company {key} --store DB"));
    }
    for line in [
        "copy Company --rename All --store DB --to DIR/other --partition-key all",
        "copy Company --rename All --store DB --to DIR/other --partition-key all --state DIR/state",
        "copy Company --rename All --store DB --to DIR/other --partition-key all --mode insert",
        "copy Company --rename All --store DB --to DIR/other --partition-key all --bypass-derived --no-verify",
        "copy --store DB --to DIR/other --partition-key all",
    ] {
        let (exit, text) = refused(at, line);
        assert_eq!(exit, Exit::Refused);
        assert_eq!(
            text,
            "rows ('Marketing', '1') and ('Sales', '1') of table Company have the same new key ('all', '1'); \
             use patterns that keep their keys apart",
            "{line}"
        );
        assert!(matches!(tables(at, "ls --store DIR/other").0, Ok(Exit::Nothing)), "{line}");
    }
    shown(
        at,
        "copy Company --store DB --to DIR/other --partition-key all --row-key '{PartitionKey}_{RowKey}'",
    );
    assert_eq!(shown(at, "count Company --store DIR/other -o csv"), "rows\n3\n");
}

#[test]
fn rows_are_deleted_by_range_and_a_dry_run_deletes_nothing() {
    let folder = company();
    let at = folder.path();
    assert_eq!(
        shown(at, "delete Company department=Sales id=0..3 --store DB --dry-run"),
        "would delete 4 rows of Company in DIR/db\n"
    );
    assert_eq!(shown(at, "delete Company department=Sales id=0..3 --store DB --yes"), "deleted 4 rows\n");
    assert!(matches!(
        tables(at, "delete Company department=Sales id=0..3 --store DB --yes").0,
        Ok(Exit::Nothing)
    ));
    assert_eq!(shown(at, "count Company --store DB -o csv"), "rows\n6\n");
    assert_eq!(
        shown(at, "delete Company --drop-table --store DB --yes"),
        "deleted table Company with 6 rows\n"
    );
    // A new table with the same name has no schema.
    shown(at, "put Company Sales 1 A=x --store DB");
    assert!(shown(at, "describe Company --store DB").contains("No schema is stored"));
}

#[test]
fn a_folder_is_verified_and_compacted() {
    let folder = company();
    shown(folder.path(), "verify --store DB");
    shown(folder.path(), "compact --store DB");
}

/// Tests that plain writes are rejected if an index is declared. Otherwise, an index in another partition would lack the rows of the written entities.
#[test]
fn plain_writes_under_an_index_are_refused() {
    #[derive(Clone, Entity)]
    #[entity(table = "People")]
    #[partition_key(team)]
    #[row_key("id_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    struct Person {
        team: String,
        id: u32,
        email: String,
    }
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let engine = Engine::open(folder.path().join("db")).unwrap();
        engine.table::<Person>().create_if_missing().await.unwrap();
        engine.close().await.unwrap();
    });
    for line in
        ["put People a id_0000000001 Email=x --store DB", "delete People --partition a --yes --store DB"]
    {
        if let Err(failure) = tables(folder.path(), line).0 {
            assert!(failure.to_string().contains("declares index ByEmail"), "{failure}");
        }
    }
    shown(folder.path(), "put People a id_0000000001 Email=x --store DB --bypass-derived");
}

#[test]
fn completions_and_the_manual_page_are_generated() {
    let at = tempfile::tempdir().unwrap();
    assert!(shown(at.path(), "completions bash").contains("tables"));
    assert!(shown(at.path(), "man").contains(".TH tables"));
    shown(at.path(), "man --to DIR");
    for page in ["tables.1", "tables-copy.1", "tables-backup-verify.1"] {
        let page = std::fs::read_to_string(at.path().join(page)).unwrap();
        assert!(page.contains(".SH OPTIONS"), "{page}");
    }
}

/// Tests that a resumed import results in the same rows as an uninterrupted import.
#[test]
fn an_interrupted_import_continues_from_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let line = |row: u32| {
        let entity = TableEntity::new(format!("p{}", row % 7), format!("{row:06}")).unwrap().with("V", 1);
        serde_json::to_string(&entity).unwrap() + "\n"
    };
    let all: String = (0..2_000).map(line).collect();
    let broken = all.replacen(&line(1_500), "{ broken\n", 1);
    std::fs::write(at.join("in.jsonl"), broken).unwrap();
    let import = "import Things DIR/in.jsonl --store DB --state DIR/state";
    assert!(refused(at, import).1.contains("line 1501"));
    std::fs::write(at.join("in.jsonl"), all).unwrap();
    shown(at, import);
    assert_eq!(shown(at, "count Things --store DB -o csv"), "rows\n2000\n");
}

#[test]
fn a_copy_of_rows_that_are_selected_by_their_timestamps_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for row in 1..4 {
        shown(at, &format!("put Company Sales {row} Age=3{row} --store DB"));
    }
    // The copied rows have later Timestamps.
    let now = chrono::Utc::now().format("%Y-%m-%dT%H:%M:%S%.6fZ");
    let filter = format!("--filter \"Timestamp lt datetime'{now}'\"");
    for state in ["", " --state DIR/state"] {
        let text = shown(at, &format!("copy Company {filter} --store DB --to DIR/copy{state}"));
        assert!(text.contains("3 rows, verified"), "{text}");
    }
    shown(at, "put Company Sales 2 Age=99 --store DIR/copy");
    let (_, text) = refused(at, &format!("copy Company {filter} --store DB --to DIR/copy --state DIR/state"));
    assert!(text.contains("first at ('Sales', '2')"), "{text}");
}
