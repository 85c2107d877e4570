//! `tables describe`: shows the stored schemas of a table, with sample rows.

use std::io::Write;

use table_core::query::KeyRange;
use table_core::schema::{IndexKind, StoredIndex, StoredSchema};
use table_core::{FromEntity, Query, TableEntity};

use crate::commands::{Context, end, say, say_json, table};
use crate::failure::{Exit, Failure, Result};
use crate::output::{Entities, Format};
use crate::rows::{Pages, require};
use crate::schemas;
use crate::store::Purpose;
use crate::terminal::Printable;
use table_inspect::keys;
use table_inspect::kind::Kinds;

/// Options of `describe`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: tables describe Company --store data/company --sample 3")]
pub(super) struct Describe {
    /// The table
    table: String,
    /// The number of sample rows
    #[arg(long, default_value_t = 5, value_name = "N")]
    sample: usize,
}

impl Describe {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let store = context.store.open(Purpose::Read).await?;
        let name = table(&self.table)?;
        require(&store.tables, &name).await?;
        let stored = schemas::of_table(&store.tables, &name).await?;
        if context.output == Format::Json {
            let schemas = stored.noted();
            for schema in &schemas {
                say_json(out, schema)?;
            }
            return Ok(if schemas.is_empty() { Exit::Nothing } else { Exit::Done });
        }
        for stored in &stored.0 {
            let text = match &stored.schema {
                Ok(schema) => of_schema(schema),
                Err(error) => format!("{}\n  schema        cannot be read: {error}\n\n", stored.entity),
            };
            write!(out, "{}", Printable(text)).map_err(Failure::file("-"))?;
        }
        if stored.0.is_empty() {
            say(out, &format!("No schema is stored for {name}; keys are shown as they are stored."))?;
        }
        let query = Query { top: Some(self.sample.clamp(1, 1_000)), ..Query::new(KeyRange::ALL) };
        let mut pages = Pages::new(&store.tables, &name, query);
        let all = context.output.schemas(&store.tables, &name).await?;
        let kinds = Kinds::new(name.as_str(), &all);
        let mut entities = Entities::new(context.output, out, Some(kinds));
        let mut left = self.sample;
        while left > 0 {
            let Some(page) = pages.next().await? else { break };
            for entity in page.rows.iter().take(left) {
                entities.push(TableEntity::from_entity(entity)?)?;
            }
            left = left.saturating_sub(page.rows.len());
        }
        entities.finish()?;
        Ok(end(Exit::Done, pages.omitted()))
    }
}

/// Returns the description of one entity type.
fn of_schema(schema: &StoredSchema) -> String {
    let mut text = format!("{}\n", schema.entity);
    let mut line = |name: &str, value: String| text.extend(["  ", &format!("{name:13}"), " ", &value, "\n"]);
    line("PartitionKey", keys::pattern(&schema.partition_key));
    line("RowKey", keys::pattern(&schema.row_key));
    for property in &schema.properties {
        let optional = if property.optional { ", optional" } else { "" };
        line("property", format!("{} {}{optional}", property.name, property.edm));
    }
    for index in &schema.indexes {
        line("index", of_index(index));
    }
    for word in &schema.keeps {
        line("keeps", word.clone());
    }
    text.push('\n');
    text
}

fn of_index(index: &StoredIndex) -> String {
    let place = match (&index.table, &index.partition_key) {
        (Some(table), Some(key)) => format!("table {table}, PartitionKey {}, ", keys::pattern(key)),
        (Some(table), None) => format!("table {table}, "),
        (None, Some(key)) => format!("PartitionKey {}, ", keys::pattern(key)),
        (None, None) => String::new(),
    };
    let kind = match index.kind {
        IndexKind::Copies => "",
        IndexKind::List => ", list of keys",
    };
    let unique = if index.unique { ", unique" } else { "" };
    format!("{}: {place}RowKey {}{unique}{kind}", index.name, keys::pattern(&index.row_key))
}
