//! Tests that the queries in `duckdb/queries.sql` return the same rows as in DuckDB, which reads a Parquet export of the same tables.
//!
//! `TABLES_DUCKDB=python cargo test --test duckdb` exports the tables and regenerates DuckDB's answers. The Python installation needs the `duckdb` package.

mod common;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::arrow::util::display::array_value_to_string;
use table_core::{DynTableStore, TableEntity, TableStoreExt};
use table_sql::{SqlOptions, session};
use tables_cli::parquet::{ParquetWriter, Survey};

/// Exports a table as `tables export` does.
async fn export(store: &DynTableStore, table: &str, folder: &std::path::Path) {
    let scan = store.untyped(table).unwrap().scan("all are exported").max_rows(100_000);
    let entities: Vec<TableEntity> = scan.collect().await.unwrap();
    let mut survey = Survey::default();
    entities.iter().for_each(|entity| survey.add(entity).unwrap());
    let file = std::fs::File::create(folder.join(format!("{table}.parquet"))).unwrap();
    let mut writer = ParquetWriter::new(file, survey.layout()).unwrap();
    entities.iter().for_each(|entity| writer.write(entity).unwrap());
    writer.finish().unwrap();
}

/// Returns the rows of a batch in the format written by `answers.py`.
fn lines(batch: &RecordBatch) -> Vec<String> {
    let cell = |column: &dyn Array, at: usize| match column.data_type() {
        _ if column.is_null(at) => String::new(),
        DataType::Float64 => format!("{:.4}", column.as_primitive::<Float64Type>().value(at)),
        _ => array_value_to_string(column, at).unwrap(),
    };
    let line = |at| batch.columns().iter().map(|column| cell(column, at)).collect::<Vec<_>>().join("|");
    (0..batch.num_rows()).map(line).collect()
}

#[tokio::test]
async fn the_answers_are_those_of_duckdb() {
    let store = common::store().await;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/duckdb");
    if let Some(python) = std::env::var_os("TABLES_DUCKDB") {
        let to = tempfile::tempdir().unwrap();
        for table in ["Company", "Reviews"] {
            export(&store, table, to.path()).await;
        }
        let script = format!("{folder}/answers.py");
        assert!(std::process::Command::new(python).arg(script).arg(to.path()).status().unwrap().success());
    }
    let session = session(&store, &SqlOptions::default()).await.unwrap();
    let mut answers = String::new();
    let queries = std::fs::read_to_string(format!("{folder}/queries.sql")).unwrap();
    for query in queries.lines() {
        let batches = session.sql(query).await.unwrap().collect().await.unwrap();
        answers.push_str(&format!("> {query}\n"));
        batches.iter().flat_map(lines).for_each(|line| answers.push_str(&(line + "\n")));
    }
    assert!(queries.lines().count() >= 20);
    let recorded = std::fs::read_to_string(format!("{folder}/answers.txt")).unwrap();
    assert_eq!(answers, recorded);
}
