//! `tables delete`: counts the selected entities, asks for confirmation, and deletes the entities in batches. Each delete is conditional on the entity's
//! `ETag`.

use std::io::{BufRead, IsTerminal, Write};

use table_core::query::{EntityRef, KeyRange, Select, TextRange};
use table_core::{DynTableStore, TableName, TableStoreExt};

use crate::check::refuse_torn;
use crate::commands::{Context, count_of, end, omitted_part, say, table};
use crate::failure::{Exit, Failure, Result};
use crate::rows::{Pages, Selection};
use crate::store::Purpose;
use crate::terminal;
use crate::transfer::delete::{Deleted, delete};
use table_inspect::{derived, keys};

/// Options of `delete`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables delete Company department=Sales id=100..199\n  tables delete Logs --partitions 2024* --yes\n  tables delete Company --drop-table\n\nA delete that was interrupted is completed by the same command."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Delete {
    /// The table
    table: String,
    #[command(flatten)]
    selection: Selection,
    /// Delete the table itself instead of its rows
    #[arg(long)]
    drop_table: bool,
    /// Delete every row; required if no selection is given
    #[arg(long)]
    all: bool,
    /// Delete entities even if they have changed since they were read
    #[arg(long)]
    ignore_etag: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Count the entities without deleting them
    #[arg(long)]
    dry_run: bool,
    /// Delete even if this makes indexes, copies or feeds of the entities incorrect
    #[arg(long)]
    bypass_derived: bool,
    /// Delete at most ROWS rows per second
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
}

impl Delete {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let name = table(&self.table)?;
        if self.selection.is_all() && !self.all && !self.drop_table {
            let help = "select rows, or pass `--all` for every row, or `--drop-table`";
            return Err(Failure::Usage(format!("nothing is selected in {name}; {help}")));
        }
        if !self.selection.is_all() && (self.all || self.drop_table) {
            let help = "omit the selection, or the option";
            return Err(Failure::Usage(format!(
                "`--all` and `--drop-table` delete every row of {name}, and other options select some; {help}"
            )));
        }
        let purpose = if self.dry_run { Purpose::Read } else { Purpose::Write };
        let store = context.store.open(purpose).await?;
        let mut selected = self.selection.rows(&store.tables, &name).await?;
        let is_every_row = selected.query.keys == KeyRange::ALL && selected.query.filter.is_none();
        if is_every_row && selected.entities.is_none() && !self.all && !self.drop_table {
            let help = "select fewer rows, or pass `--all` instead";
            return Err(Failure::Usage(format!("every row of {name} is selected; {help}")));
        }
        selected.query.select = Select::names(["PartitionKey", "RowKey"]);
        let (mut count, mut last) = (0_u64, None);
        let mut pages = Pages::new(&store.tables, &name, selected.clone());
        while let Some(page) = pages.next().await? {
            count += page.rows.len() as u64;
            let key = |row: EntityRef<'_>| (row.partition_key.to_owned(), row.row_key.to_owned());
            last = page.rows.iter().last().map(key).or(last);
        }
        let omitted = pages.omitted();
        let rows = count_of(count, "row");
        if self.dry_run {
            let left = omitted_part(omitted);
            say(out, &format!("would delete {rows} of {name} in {}{left}", store.shown))?;
            return Ok(if count == 0 { Exit::Nothing } else { Exit::Done }.after_omitting(omitted));
        }
        if count == 0 && !self.drop_table {
            return Ok(end(Exit::Nothing, omitted));
        }
        if !self.drop_table {
            derived::refuse_plain_writes(&store.tables, &name, self.bypass_derived).await?;
            if !self.bypass_derived && !self.selection.is_all() {
                refuse_torn(&store.tables, &name, &selected).await?;
            }
        } else if !self.bypass_derived {
            refuse_remote(&store.tables, &name).await?;
        }
        if count > 1 || self.drop_table {
            let what = if self.drop_table {
                format!("table {name} with {rows}{}", omitted_part(omitted))
            } else {
                format!("{rows} of {name}")
            };
            confirm(self.yes, &format!("delete {what} in {}?", store.shown))?;
        } else if let (false, Some((partition, row))) = (self.yes, last) {
            // A single row is deleted without confirmation, so only this row may be deleted. Matching rows added after the count must be kept.
            selected.query.keys = KeyRange::rows(partition, TextRange::exactly(row));
        }
        if self.drop_table {
            store.tables.untyped(name.as_str())?.delete_table().await?;
            say(out, &format!("deleted table {name} with {rows}{}", omitted_part(omitted)))?;
            return Ok(Exit::Done);
        }
        let Deleted { deleted, kept, omitted } =
            delete(&store.tables, &name, selected, self.ignore_etag, self.rate).await?;
        say(out, &format!("deleted {}{}", count_of(deleted, "row"), omitted_part(omitted)))?;
        if kept > 0 {
            let rows = count_of(kept, "row");
            return Err(Failure::Refused(format!(
                "{rows} were kept, because they or other parts of their wide entities changed in the meantime; run the command again, or pass `--ignore-etag`"
            )));
        }
        Ok(Exit::Done.after_omitting(omitted))
    }
}

/// Returns an error if a table contains derived rows, or if rows in other tables are derived from its entities. Such a table must not be deleted on its own.
async fn refuse_remote(store: &DynTableStore, name: &TableName) -> Result<()> {
    let help = "or pass `--bypass-derived`";
    for schema in keys::schemas(store, name).await? {
        let is_remote = |word: &&String| word.starts_with("copied_by ");
        let indexes = schema.indexes.iter().filter(|index| index.table.is_some());
        let indexes = indexes.map(|index| format!("index {}", index.name));
        let remote: Vec<_> = indexes.chain(schema.keeps.iter().filter(is_remote).cloned()).collect();
        if !remote.is_empty() {
            let (entity, remote) = (&schema.entity, remote.join(", "));
            return Err(Failure::Refused(format!(
                "{entity} of table {name} declares {remote}, whose rows in other tables would remain; delete the entities through a program with the \
                 declaration, {help}"
            )));
        }
    }
    match derived::purpose(store, name).await? {
        None => Ok(()),
        Some(purpose) => Err(Failure::Refused(format!("{purpose}; delete the entities first, {help}"))),
    }
}

/// Asks for confirmation on the terminal, unless `yes` is `true`.
pub(super) fn confirm(yes: bool, question: &str) -> Result<()> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::Refused(format!("{question} The input is not a terminal; pass `--yes`")));
    }
    terminal::print(format_args!("{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(Failure::file("-"))?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::Refused("nothing was changed".to_owned())),
    }
}
