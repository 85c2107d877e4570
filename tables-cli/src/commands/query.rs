//! `tables query`: shows entities selected by key, by parts of the key, or by a condition.

use std::io::Write;

use table_core::query::QueryClass;
use table_core::schema::StoredSchema;
use table_core::{DynTableStore, FromEntity, TableEntity, TableName};

use crate::commands::{Context, end, table};
use crate::failure::{Exit, Failure, Result};
use crate::output::{Entities, Format};
use crate::rows::{self, Pages, Selected, Selection};
use crate::store::Purpose;
use table_inspect::keys;
use table_inspect::kind::Kinds;

/// Options of `query`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables query Company department=Sales id=100..199\n  tables query Company --partition Sales --filter 'Age ge 30' --select FirstName,Age"
)]
pub(super) struct Query {
    /// The table
    table: String,
    #[command(flatten)]
    selection: Selection,
    /// Show only these properties (comma-separated)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    select: Vec<String>,
    /// Show at most N entities
    #[arg(long, default_value_t = 100, value_name = "N")]
    top: usize,
    /// Show all entities, regardless of their number
    #[arg(long, conflicts_with = "top")]
    all: bool,
    /// Show at most the N newest entities of one partition, whose row keys must sort newest first
    #[arg(long, value_name = "N", conflicts_with_all = ["top", "all"])]
    newest: Option<usize>,
    /// Allow a query that reads the whole table
    #[arg(long)]
    scan: bool,
    /// Show raw keys instead of their parts
    #[arg(long)]
    raw: bool,
}

impl Query {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let store = context.store.open(Purpose::Read).await?;
        let name = table(&self.table)?;
        let mut selected = self.selection.rows(&store.tables, &name).await?;
        let query = &mut selected.query;
        query.select = rows::select(&self.select);
        let most = if self.all { usize::MAX } else { self.newest.unwrap_or(self.top) };
        query.top = Some(most.clamp(1, 1_000));
        // Reading the first rows of a table is cheap, so `--scan` is required only for a search of the entire table.
        if query.keys.class() == QueryClass::TableScan && (query.filter.is_some() || self.all) && !self.scan {
            let help = "pass a part of the key or `--partition`, or add `--scan` to read every row";
            return Err(Failure::Refused(format!("the query reads the whole table {name}; {help}")));
        }
        if self.newest.is_some() {
            let schemas = keys::schemas(&store.tables, &name).await?;
            refuse_oldest_first(&store.tables, &name, &selected, &schemas).await?;
        }
        let has_parts = context.output == Format::Table && !self.raw;
        let all = if has_parts { context.output.schemas(&store.tables, &name).await? } else { Vec::new() };
        let kinds = has_parts.then(|| Kinds::new(name.as_str(), &all));
        let shown = selected.query.select.clone();
        if let Some(kinds) = &kinds {
            selected.query.select = kinds.select(&shown);
        }
        let mut pages = Pages::new(&store.tables, &name, selected);
        let mut entities = Entities::new(context.output, out, kinds).showing(shown);
        let mut found = 0;
        while found < most {
            let Some(page) = pages.next().await? else { break };
            for entity in page.rows.iter().take(most - found) {
                entities.push(TableEntity::from_entity(entity)?)?;
            }
            found += page.rows.len();
        }
        entities.finish()?;
        Ok(end(if found == 0 { Exit::Nothing } else { Exit::Done }, pages.omitted()))
    }
}

/// Returns an error for `--newest` unless the first rows of the query are the newest rows.
async fn refuse_oldest_first(
    store: &DynTableStore,
    name: &TableName,
    selected: &Selected,
    schemas: &[StoredSchema],
) -> Result<()> {
    let keys = &selected.query.keys;
    if keys.partition_key.single().is_none() {
        return Err(Failure::Usage("`--newest` needs one partition; pass `--partition`".to_owned()));
    }
    // Several keys are read, because a single key does not reveal which of its characters are literals.
    let sample = table_core::Query { top: Some(100), ..table_core::Query::new(keys.clone()) };
    let mut pages = Pages::new(store, name, Selected { query: sample, ..selected.clone() });
    let mut rows: Vec<TableEntity> = Vec::new();
    // An empty page may be followed by other pages.
    while rows.is_empty() {
        let Some(page) = pages.next().await? else { return Ok(()) };
        rows = page.rows.iter().map(TableEntity::from_entity).collect::<table_core::Result<_>>()?;
    }
    if keys::is_newest_first(&selected.schemas(schemas), &rows, &keys.row_key) {
        return Ok(());
    }
    let help = "name one kind of rows with `--entity` or `--rows`, and give one value of each part before the time; `tables tail` reads the partition to its end";
    Err(Failure::Refused(format!(
        "the RowKeys of {name} are not in descending order of time, so the newest rows are not first; {help}"
    )))
}
