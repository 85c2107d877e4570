//! `tables ls`: lists the tables of a store.

use std::io::Write;

use table_core::TableStore;

use crate::commands::Context;
use crate::failure::{Exit, Result};
use crate::output;
use crate::rows::next_page;
use crate::store::Purpose;
use table_inspect::keys::{self, Stored};

/// Options of `ls`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: tables ls --store data/company")]
pub(super) struct List {
    /// List only tables whose names have this prefix
    #[arg(default_value = "")]
    prefix: String,
    /// Also list the internal tables for schemas, feeds and outboxes
    #[arg(long)]
    all: bool,
}

impl List {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let store = context.store.open(Purpose::Read).await?;
        let stored = keys::stored_schemas(&store.tables).await?;
        let (mut from, mut rows) = (None, Vec::new());
        loop {
            let page = store.tables.list_tables(&self.prefix, from.as_deref(), 1_000).await?;
            for name in page.names.iter().filter(|name| self.all || !is_own(name.as_str())) {
                let of_table = stored.iter().filter(|stored| stored.table == name.folded());
                let entities: Vec<_> = of_table.map(entity_of).collect();
                let mut row = vec![name.as_str().to_owned(), entities.join(", ")];
                if let Some(engine) = &store.engine {
                    let found = engine.table_statistics(name)?;
                    row.extend([found.rows, found.bytes].map(|number| number.to_string()));
                }
                rows.push(row);
            }
            from = next_page(from.as_deref(), page.next)?;
            if from.is_none() {
                break;
            }
        }
        let names: &[&str] = if store.engine.is_some() {
            &["table", "entities", "rows", "bytes"]
        } else {
            &["table", "entities"]
        };
        output::rows(context.output, out, names, &rows)?;
        Ok(if rows.is_empty() { Exit::Nothing } else { Exit::Done })
    }
}

/// Returns the name of a schema's entity type, with a note if this version cannot read the schema.
fn entity_of(stored: &Stored) -> String {
    match &stored.schema {
        Ok(schema) => schema.entity.clone(),
        Err(_) => format!("{} (schema cannot be read)", stored.entity),
    }
}

/// Returns `true` if `name` is an internal table of the library.
pub(super) fn is_own(name: &str) -> bool {
    [table_core::table::LAYOUTS, table_core::table::OUTBOXES, table_core::table::FEEDS]
        .iter()
        .any(|own| own.eq_ignore_ascii_case(name))
}
