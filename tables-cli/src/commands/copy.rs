//! `tables copy`: copies tables from one store to another. A copy can be resumed, and is verified at the end.

mod admission;
mod equal;
mod pattern;

use std::io::Write;
use std::path::PathBuf;

use table_core::{EntityKey, FromEntity, TableEntity, TableName};

use crate::commands::{Context, count_of, omitted_part, say, table};
use crate::failure::{Exit, Failure, Result};
use crate::rows::{Pages, Selected, Selection, all_tables, require};
use crate::store::{Purpose, Store};
use crate::transfer::checksum::Checksum;
use crate::transfer::contained::first_not_contained;
use crate::transfer::copy::Copying;
use crate::transfer::schema::SchemaRows;
use crate::transfer::state::StateFile;
use crate::transfer::writer::Mode;
use pattern::fill;

/// Options of `copy`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables copy --store data/company --to UseDevelopmentStorage=true\n  tables copy Company --store @production --to data/company --state copy.state\n  tables copy Company --partition Sales --rename Sales2026 --to data/company"
)]
pub(super) struct Copy {
    /// The table [default: every table of the store]
    table: Option<String>,
    #[command(flatten)]
    selection: Selection,
    /// The store that receives the rows
    #[arg(long, value_name = "STORE")]
    to: String,
    /// The name of the table in the other store [default: same name]
    #[arg(long, value_name = "TABLE", requires = "table")]
    rename: Option<String>,
    /// A pattern of the new PartitionKey, with properties and keys in braces: {Region}_{PartitionKey}. Rows with equal new keys are refused
    #[arg(long, value_name = "PATTERN")]
    partition_key: Option<String>,
    /// A pattern of the new RowKey
    #[arg(long, value_name = "PATTERN")]
    row_key: Option<String>,
    /// Keep the Timestamp as a property of this name, because the target assigns a new one
    #[arg(long, value_name = "NAME")]
    keep_timestamp: Option<String>,
    /// The operation used to write entities
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,
    /// Keep the progress of one table in this file: the same command continues after an interruption
    #[arg(long, value_name = "FILE", requires = "table")]
    state: Option<PathBuf>,
    /// Copy at most ROWS rows per second
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Do not read both tables again to compare them
    #[arg(long)]
    no_verify: bool,
    /// Copy rows even if indexes, copies or feeds in the target would then lack them
    #[arg(long)]
    bypass_derived: bool,
}

impl Copy {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        if self.state.is_some() && self.mode == Mode::Insert {
            let help = "a resumed copy repeats the last rows, which `insert` rejects; use `--mode replace`";
            return Err(Failure::Usage(help.to_owned()));
        }
        let (from, to) = (context.store.location()?, context.store.locate(&self.to)?);
        let is_renamed = match (&self.table, &self.rename) {
            (Some(name), Some(new)) => !name.eq_ignore_ascii_case(new),
            _ => false,
        };
        if from.is_same(&to) && !is_renamed {
            return Err(Failure::Usage(
                "a table cannot be copied onto itself; pass `--rename`, or another `--to`".to_owned(),
            ));
        }
        let source = Store::open(&from, Purpose::Read).await?;
        let names = match &self.table {
            Some(name) => {
                let name = table(name)?;
                // Opening the target creates its folder, so the source is examined first.
                self.selection.rows(&source.tables, &name).await?;
                require(&source.tables, &name).await?;
                vec![name]
            }
            None => all_tables(&source.tables).await?,
        };
        let target = Store::open(&to, Purpose::Create).await?;
        let renamed = |name: &TableName| self.rename.as_deref().map_or_else(|| Ok(name.clone()), table);
        if self.table.is_none() && !self.bypass_derived {
            // All tables are checked before any row is written.
            for name in &names {
                self.admit((&source, name), (&target, &renamed(name)?)).await?;
            }
        }
        if self.table.is_none() {
            for name in &names {
                let selected = self.selection.rows(&source.tables, name).await?;
                self.refuse_equal_keys((&source, name), selected).await?;
            }
        }
        let mut omitted = 0;
        for name in &names {
            let new = renamed(name)?;
            omitted += self.copy(&source, &target, (name, &new), out).await?;
        }
        Ok(if names.is_empty() { Exit::Nothing } else { Exit::Done }.after_omitting(omitted))
    }

    const fn rewrites_keys(&self) -> bool {
        self.partition_key.is_some() || self.row_key.is_some()
    }

    /// Copies a table. Returns the number of rows that the source omitted.
    async fn copy(
        &self,
        source: &Store,
        target: &Store,
        (name, new): (&TableName, &TableName),
        out: &mut dyn Write,
    ) -> Result<u64> {
        let selected = self.selection.rows(&source.tables, name).await?;
        let plain = format!(
            "copy {name} of {} to {new} of {}, {:?}, {:?}, {:?}",
            source.identity,
            target.identity,
            selected.query.filter_text(),
            (&self.partition_key, &self.row_key, &self.keep_timestamp),
            self.mode
        );
        let transfer = match &selected.entities {
            Some(_) => format!("{plain}, {:?}, {:?}", self.selection.entity, self.selection.parts),
            None => plain,
        };
        let mut state = StateFile::open(self.state.as_deref(), &transfer)?;
        let (done, was_complete) = (state.state().records, state.state().is_done);
        if self.table.is_some() && !self.bypass_derived && !was_complete {
            self.admit((source, name), (target, new)).await?;
        }
        if self.table.is_some() && !was_complete {
            self.refuse_equal_keys((source, name), selected.clone()).await?;
        }
        // The schemas are read before the rows. If an index backfill finished while the rows were being read, schemas read later would declare an index
        // complete, although some of its rows were not copied.
        let takes_schemas = self.table.is_some() && !self.rewrites_keys();
        let schemas =
            if takes_schemas { SchemaRows::read(&source.tables, name).await? } else { SchemaRows::default() };
        let copying = Copying {
            source: (&source.tables, name),
            target: (&target.tables, new),
            selected: selected.clone(),
            rewrite: &|entity| self.rewrite(entity),
            mode: self.mode,
            guards_parts: !self.bypass_derived && self.rewrites_keys(),
            rate: self.rate,
        };
        let copied = copying.run(&mut state).await?;
        schemas.store(&target.tables, new).await?;
        let omitted = state.state().omitted;
        let rows = format!("{}{}", count_of(copied, "row"), omitted_part(omitted));
        if self.no_verify
            || self.rewrites_keys()
            || self.keep_timestamp.is_some()
            || self.mode != Mode::Replace
        {
            if was_complete {
                let help = "delete the state file to copy the table again";
                say(out, &format!("{name} was copied to {new} before: {rows}, not verified; {help}"))?;
                return Ok(omitted);
            }
            state.finish(copied)?;
            say(out, &format!("copied {name} to {new}: {rows}, not verified"))?;
            return Ok(omitted);
        }
        let checksum = match verify((source, name), (target, new), selected).await? {
            Ok(checksum) => checksum,
            Err(EntityKey { partition_key, row_key }) => {
                let help = if was_complete {
                    "a program has written to one of them since the copy was completed; delete the state file to copy the table again"
                } else {
                    state.restart()?;
                    "a program writes to one of them; copy the table again"
                };
                return Err(Failure::Refused(format!(
                    "the tables differ after the copy, first at ('{partition_key}', '{row_key}'): {help}"
                )));
            }
        };
        // The state is marked as complete only after verification, so a later command does not treat a copy with differences as complete.
        state.finish(copied)?;
        let resumed = if done > 0 { format!(", resumed behind {done}") } else { String::new() };
        say(out, &format!("copied {name} to {new}: {rows}{resumed}, verified, checksum {checksum}"))?;
        Ok(omitted)
    }

    fn rewrite(&self, mut entity: TableEntity) -> Result<TableEntity> {
        if let (Some(name), Some(timestamp)) = (&self.keep_timestamp, entity.timestamp()) {
            if entity.get(name).is_some() {
                let EntityKey { partition_key, row_key } = entity.key();
                let help = "give `--keep-timestamp` the name of a property that no row has";
                return Err(Failure::Refused(format!(
                    "('{partition_key}', '{row_key}') has a property `{name}`, which the copy would replace; {help}"
                )));
            }
            entity.insert(name.as_str(), timestamp);
        }
        if !self.rewrites_keys() {
            return Ok(entity);
        }
        let partition_key = fill(self.partition_key.as_deref().unwrap_or("{PartitionKey}"), &entity)?;
        let row_key = fill(self.row_key.as_deref().unwrap_or("{RowKey}"), &entity)?;
        let mut moved = TableEntity::from(EntityKey::new(partition_key, row_key)?);
        for (name, value) in entity.iter() {
            moved.insert(name, value.clone());
        }
        Ok(moved)
    }
}

/// Verifies the copied rows by reading both tables. Returns the checksum of the rows, or the key of the first missing or different row.
async fn verify(
    (source, name): (&Store, &TableName),
    (target, new): (&Store, &TableName),
    selected: Selected,
) -> Result<Result<Checksum, EntityKey>> {
    let mut checksum = Checksum::default();
    let mut pages = Pages::new(&source.tables, name, selected.clone());
    while let Some(page) = pages.next().await? {
        for entity in page.rows.iter() {
            checksum.add(&TableEntity::from_entity(entity)?);
        }
    }
    // Rows that only the target contains are not reported.
    let different = first_not_contained((&source.tables, name), &selected, (&target.tables, new)).await?;
    Ok(different.map_or(Ok(checksum), Err))
}
