//! The `tables-sql` command, which runs a statement on the tables of a store.

use std::io::Write;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::DataFusionError;
use datafusion::prelude::SQLOptions;
use tables_cli::failure::Result;
use tables_cli::omitted;
use tables_cli::output::{self, Format};
use tables_cli::store::{Purpose, StoreOptions};
use tables_cli::terminal::Printable;
use tables_cli::{Exit, Failure};

use crate::{SqlOptions, collect, session};

/// Query the tables of a store with SQL.
///
/// Columns are PartitionKey, RowKey, Timestamp, the parts of the keys, and the properties. Names are case-sensitive without quotes.
/// `EXPLAIN SELECT …` shows the requests of a statement.
#[derive(Debug, clap::Parser)]
#[command(
    name = "tables-sql",
    version,
    max_term_width = 120,
    after_help = "Examples:\n  tables sql \"SELECT department, count(*) FROM Company GROUP BY department\" --store data/company\n  tables sql \"EXPLAIN SELECT Age FROM Company WHERE department = 'Sales' AND id BETWEEN 100 AND 199\" --store data/company"
)]
pub struct TablesSql {
    #[command(flatten)]
    store: StoreOptions,
    /// The format of the output
    #[arg(long, short, value_enum, default_value_t)]
    output: Format,
    /// The statement: one SELECT or EXPLAIN
    statement: String,
    /// The number of rows of each table whose properties become columns; 0 reads all rows first
    #[arg(long, value_name = "ROWS", default_value_t = 10_000)]
    sample: usize,
    /// Do not rely on the key order, which differs from SQL order for characters above U+FFFF
    #[arg(long)]
    no_key_order: bool,
}

/// Runs the statement and writes the resulting rows to `out`. The entire result is kept in memory.
///
/// # Errors
/// `Usage` if the statement is invalid or would write. `Refused` if its execution fails. Any error from the store.
pub async fn run(command: &TablesSql, out: &mut dyn Write) -> Result<Exit> {
    let store = command.store.open(Purpose::Read).await?;
    let sample = (command.sample > 0).then_some(command.sample);
    let options = SqlOptions { sample, key_order: !command.no_key_order };
    let session = session(&store.tables, &options).await.map_err(|error| failure(&error))?;
    let only_reads =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let answer =
        session.sql_with_options(&command.statement, only_reads).await.map_err(|error| failure(&error))?;
    let answer = collect(answer).await.map_err(|error| failure(&error))?;
    let names: Vec<String> = answer.schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut rows = Vec::new();
    for batch in &answer.batches {
        rows.extend(texts(batch).map_err(|error| failure(&error))?);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if command.output == Format::Table && names == ["plan_type", "plan"] {
        // A plan has several lines, but a cell of a table has only one.
        for row in &rows {
            writeln!(out, "{}", Printable(row.join("\n").trim_end())).map_err(Failure::file("-"))?;
        }
    } else {
        output::rows(command.output, out, &names, &rows)?;
    }
    Ok(omitted::end(if rows.is_empty() { Exit::Nothing } else { Exit::Done }, answer.omitted))
}

/// Returns the rows of a batch as strings. A missing value becomes an empty string.
fn texts(batch: &RecordBatch) -> Result<Vec<Vec<String>>, DataFusionError> {
    let options = FormatOptions::default();
    let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let row = |at| columns.iter().map(|column| column.value(at).to_string()).collect();
    Ok((0..batch.num_rows()).map(row).collect())
}

/// Converts a statement's error to a failure according to its root cause, because joins and aggregates wrap errors from tables.
fn failure(error: &DataFusionError) -> Failure {
    match error.find_root() {
        DataFusionError::External(cause) => match cause.downcast_ref::<table_core::Error>() {
            Some(error) => Failure::Store(error.clone()),
            None => Failure::Refused(cause.to_string()),
        },
        DataFusionError::Execution(text) => Failure::Refused(text.clone()),
        other => Failure::Usage(other.strip_backtrace()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use table_core::Query;
    use table_core::query::KeyRange;

    use super::*;

    #[test]
    fn an_error_from_the_store_keeps_its_code_in_joins_and_aggregates() {
        let query = Query { top: Some(2), ..Query::new(KeyRange::ALL) };
        let error = || DataFusionError::External(Box::new(query.check(1).unwrap_err()));
        let shared = DataFusionError::Shared(Arc::new(error()));
        for error in [error(), shared, error().context("in a join")] {
            let failure = failure(&error);
            assert!(matches!(&failure, Failure::Store(error) if error.rule() == Some("TOP-2")), "{failure}");
        }
    }
}
