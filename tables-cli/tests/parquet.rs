//! Tests the export and import of Parquet files, and the import of files written by other programs (`tests/foreign/write.py`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{refused, shown};
use tables_cli::Exit;

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_names_the_feature() {
    let folder = tempfile::tempdir().unwrap();
    shown(folder.path(), "put Company Sales 1 Age=36 --store DB");
    for line in
        ["export Company DIR/a.parquet --store DB", "import Company DIR/a --format parquet --store DB"]
    {
        let (exit, text) = refused(folder.path(), line);
        assert!(exit == Exit::Usage && text.contains("--features parquet"), "{line}: {text}");
    }
}

#[cfg(feature = "parquet")]
mod with_parquet {
    use std::path::Path;

    use super::*;

    const CHECKSUM: &str = "count Company --checksum --store";

    /// Writes rows with values of every type, a property with values of two types, and times in the distant past and future.
    fn fill(at: &Path) {
        shown(
            at,
            "put Company Sales 1 Age=36 Name=Ada Badge:Int64=9007199254740993 Score:Double=0.1 Active:Boolean=true --store DB",
        );
        shown(at, "put Company Sales 2 Age=old Name= Seen:DateTime=2026-11-25T13:00:00.1234567Z --store DB");
        shown(
            at,
            "put Company Sales 3 Seen:DateTime=9999-12-31T23:59:59.9999999Z Photo:Binary=AP8= --store DB",
        );
        shown(at, "put Company é 4 Age=37 Id:Guid=67e55044-10b1-426f-9247-bb680e5fe0c8 --store DB");
    }

    #[test]
    fn a_table_is_exported_verified_and_imported_without_loss() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fill(at);
        shown(at, "export Company DIR/a.parquet --store DB");
        assert!(!at.join("a.part").exists());
        let import = "import Company DIR/a.parquet --state DIR/state --mode replace --store DIR/to";
        assert_eq!(shown(at, import), "imported 4 rows into Company\n");
        assert_eq!(shown(at, &format!("{CHECKSUM} DIR/to")), shown(at, &format!("{CHECKSUM} DB")));
        shown(at, "export Company DIR/sales.parquet --partition Sales --columns Age --store DB");
        shown(at, "import Company DIR/sales.parquet --store DIR/sales");
        let rows = "{\"PartitionKey\":\"Sales\",\"RowKey\":\"1\",\"Age\":36}\n\
            {\"PartitionKey\":\"Sales\",\"RowKey\":\"2\",\"Age\":\"old\"}\n{\"PartitionKey\":\"Sales\",\"RowKey\":\"3\"}\n";
        assert_eq!(rows_of(at, "Company --store DIR/sales"), rows);
    }

    #[test]
    fn a_damaged_file_is_refused_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fill(at);
        shown(at, "export Company DIR/a.parquet --store DB");
        let mut bytes = std::fs::read(at.join("a.parquet")).unwrap();
        let name = bytes.windows(3).position(|window| window == b"Ada").unwrap();
        bytes[name] ^= 1;
        std::fs::write(at.join("a.parquet"), bytes).unwrap();
        let (exit, text) = refused(at, "import Company DIR/a.parquet --store DIR/to");
        assert!(exit == Exit::Refused && text.contains("the checksum of its rows differs"), "{text}");
        assert!(!at.join("to").exists());
        for (line, exit, message) in [
            ("import Company - --format parquet --store DIR/to", Exit::Usage, "name the file"),
            ("import Company DIR/none.parquet --store DIR/to", Exit::Store, "No such file"),
            (
                "import Company DIR/db/LOCK --format parquet --store DIR/to",
                Exit::Refused,
                "the Parquet file cannot be read",
            ),
        ] {
            let (found, text) = refused(at, line);
            assert!(found == exit && text.contains(message), "{line}: {found:?} {text}");
        }
    }

    /// Returns the rows of a table as JSON lines, without their versions.
    fn rows_of(at: &Path, table: &str) -> String {
        let mut words = table.split(' ');
        let (name, store) = (words.next().unwrap(), words.collect::<Vec<_>>().join(" "));
        shown(at, &format!("export {name} DIR/rows.jsonl --force {store}"));
        let text = std::fs::read_to_string(at.join("rows.jsonl")).unwrap();
        let row = |line: &str| {
            let mut row: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
            row.shift_remove("odata.etag");
            row.shift_remove("Timestamp");
            serde_json::to_string(&row).unwrap() + "\n"
        };
        text.lines().map(row).collect()
    }

    fn fixture(name: &str) -> String {
        format!("{}/tests/foreign/{name}.parquet", env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn files_of_other_programs_are_read_with_their_types() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        shown(at, &format!("import Company {} --store DB", fixture("pyarrow")));
        insta::assert_snapshot!("pyarrow", rows_of(at, "Company --store DB"));
        let (exit, text) =
            refused(at, &format!("import Other {} --errors DIR/wrong --store DB", fixture("duckdb")));
        assert!(exit == Exit::Refused && text.starts_with("2 rows rejected"), "{text}");
        assert_eq!(
            std::fs::read_to_string(at.join("wrong")).unwrap(),
            "('p', '2'): property `Big`: the number exceeds 64 bits with a sign\na key is null\n"
        );
        insta::assert_snapshot!("duckdb", rows_of(at, "Other --store DB"));
        shown(at, &format!("import Legacy {} --store DB", fixture("int96")));
        insta::assert_snapshot!("int96", rows_of(at, "Legacy --store DB"));
    }

    #[test]
    fn columns_that_no_property_can_have_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for (name, message) in
            [("decimal", "column `Amount` is "), ("nested", "is nested; properties have single values")]
        {
            let (exit, text) =
                refused(folder.path(), &format!("import Company {} --store DB", fixture(name)));
            assert!(exit == Exit::Refused && text.contains(message), "{name}: {text}");
        }
    }
}
