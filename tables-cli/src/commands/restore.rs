//! `tables restore`: restores a generation, a table, a partition or a key of a backup to any store.

use std::io::Write;
use std::path::PathBuf;

use table_core::{Query, TableName};

use crate::backup::files::{restore_files, restore_folder};
use crate::backup::generation::Contents;
use crate::backup::opened::Opened;
use crate::backup::restore::{Existing, Restoring};
use crate::backup::{Generation, Repository, storage};
use crate::check::refuse_torn;
use crate::commands::{Context, count_of, omitted_part, say, table};
use crate::failure::{Exit, Failure, Result};
use crate::rows::{KeySelection, all_tables};
use crate::store::{Location, Purpose, Store};
use crate::transfer::derived::{OtherTables, admit, refuse_alone};
use crate::transfer::parts::refuse_mixed_parts;
use crate::transfer::writer::Mode;
use table_inspect::derived;

/// Options of `restore`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables restore backups data/restored\n  tables restore backups UseDevelopmentStorage=true Company --generation ~1 --replace\n  tables restore backups data/company Company --partition Sales --row empid_000223 --replace\n\nA restore that was interrupted is completed by the same command."
)]
pub(super) struct Restore {
    /// The folder or URL that contains the backups, or a folder written by `Engine::backup`
    from: PathBuf,
    /// The store that receives the rows; a folder that does not exist is created
    to: String,
    /// The table [default: all tables]
    table: Option<String>,
    #[command(flatten)]
    keys: KeySelection,
    /// The beginning of the generation's name, or ~1 for the one before the newest [default: the newest generation]
    #[arg(long, value_name = "NAME")]
    generation: Option<String>,
    /// The name of the restored table [default: same name]
    #[arg(long, value_name = "TABLE", requires = "table")]
    rename: Option<String>,
    /// Make the selected rows equal to the backup: overwrite and delete rows of the target
    #[arg(long, conflicts_with = "keep")]
    replace: bool,
    /// Overwrite rows of the target, and keep rows that the backup does not contain
    #[arg(long)]
    keep: bool,
    /// Restore part of the tables even if indexes, copies or feeds are derived from their entities
    #[arg(long)]
    bypass_derived: bool,
    /// Write at most ROWS rows per second
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
}

impl Restore {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        if self.table.is_none() && !self.keys.is_all() {
            return Err(Failure::Usage("keys are selected in one table; name the table".to_owned()));
        }
        // An empty string, such as the value of an unset shell variable, is the beginning of every name.
        if self.generation.as_deref() == Some("") {
            let help = "omit `--generation` for the newest one";
            return Err(Failure::Usage(format!("the name of the generation is empty; {help}")));
        }
        let to = context.store.locate(&self.to)?;
        let is_all = self.table.is_none() && !self.replace && !self.keep;
        let backup = if storage::is_url(&self.from) || self.from.join("BACKUPS").exists() {
            let repository = Repository::open_in(storage::locate(&self.from)?)?;
            let generation = repository.find(self.generation.as_deref())?;
            if let (true, Some(folder)) = (is_all, new_folder(&to))
                && let Some(files) = whole(&repository, &generation, folder)?
            {
                say(out, &format!("{} of {} restored to {to}", count_of(files, "file"), generation.id))?;
                return Ok(Exit::Done);
            }
            Opened::generation(repository, generation)?
        } else if let (true, Some(folder)) = (is_all, new_folder(&to)) {
            let files = restore_folder(&self.from, folder)?.copied_files;
            say(out, &format!("{} restored to {to}", count_of(files, "file")))?;
            return Ok(Exit::Done);
        } else {
            Opened::folder(&self.from)?
        };
        // Opening the target creates its folder, so the tables of the backup are examined first.
        let all = backup.tables().await?;
        let names = match &self.table {
            None => all,
            Some(name) => vec![self.named(&all, name)?],
        };
        let target = Store::open(&to, Purpose::Create).await?;
        target.require_key_order("restore into a folder, and copy it with `tables copy`")?;
        let existing = match (self.replace, self.keep) {
            (true, _) => Existing::Replace,
            (_, true) => Existing::Keep,
            (false, false) => Existing::Refuse,
        };
        let range = self.keys.key_range();
        let others = match &self.table {
            Some(_) => OtherTables::default(),
            None => OtherTables::new(&names, all_tables(&target.tables).await?),
        };
        let (backup, store, rate) = (&backup, &target.tables, self.rate);
        let restoring = Restoring { backup, target: store, range: &range, existing, others, rate };
        let renamed = |name: &TableName| self.rename.as_deref().map_or_else(|| Ok(name.clone()), table);
        if !self.bypass_derived {
            for name in &names {
                self.admit(&restoring, (name, &renamed(name)?)).await?;
            }
        }
        let (mut rows, mut omitted) = (0, 0);
        for name in &names {
            let new = renamed(name)?;
            let restored = restoring.table(name, &new).await?;
            if self.table.is_some() {
                backup.schemas(name).await?.store(store, &new).await?;
            }
            rows += restored.rows;
            omitted += restored.omitted;
            let (counted, written, deleted) =
                (count_of(restored.rows, "row"), restored.written, restored.deleted);
            let left = omitted_part(restored.omitted);
            say(
                out,
                &format!(
                    "restored {name} to {new}: {counted}, {written} written, {deleted} deleted{left}, verified"
                ),
            )?;
        }
        let exit = if rows == 0 && self.table.is_some() { Exit::Nothing } else { Exit::Done };
        Ok(exit.after_omitting(omitted))
    }

    /// Returns an error if the restore would leave incorrect index rows, copies or feeds in the target.
    async fn admit(&self, restoring: &Restoring<'_>, (name, new): (&TableName, &TableName)) -> Result<()> {
        let (target, schemas) = (restoring.target, restoring.backup.schemas(name).await?);
        let is_missing =
            |error: &Failure| matches!(error, Failure::Store(error) if error.is_table_not_found());
        if self.table.is_some() {
            refuse_alone(restoring.backup.purpose(name).await?)?;
        }
        if !self.keys.is_all() {
            derived::refuse_declarations(name, &schemas.schemas())?;
            derived::refuse_plain_writes(target, new, false).await?;
            let outcome = refuse_torn(target, new, &Query::new(restoring.range.clone()).into()).await;
            outcome.or_else(|error| if is_missing(&error) { Ok(()) } else { Err(error) })?;
            return self.refuse_mixed_parts(restoring, (name, new)).await;
        }
        let has_derived = admit(&schemas, (target, new), self.table.is_none()).await?;
        if !self.keep {
            return Ok(());
        }
        if has_derived {
            let outcome = restoring.refuse_existing(name, new).await;
            return outcome.or_else(|error| if is_missing(&error) { Ok(()) } else { Err(error) });
        }
        self.refuse_mixed_parts(restoring, (name, new)).await
    }

    /// With `--keep`, returns an error if the restore would replace only some parts of a wide entity, or rewind a sequence.
    async fn refuse_mixed_parts(
        &self,
        restoring: &Restoring<'_>,
        (name, new): (&TableName, &TableName),
    ) -> Result<()> {
        if !self.keep {
            return Ok(());
        }
        let rows = || restoring.backup.rows(name, restoring.range);
        refuse_mixed_parts(rows, (restoring.target, new), Mode::Replace).await
    }

    fn named(&self, all: &[TableName], name: &str) -> Result<TableName> {
        let wanted = table(name)?;
        let found = all.iter().find(|found| found.as_str().eq_ignore_ascii_case(wanted.as_str()));
        found.cloned().ok_or_else(|| {
            let known: Vec<_> = all.iter().map(TableName::as_str).collect();
            let (from, known) = (self.from.display(), known.join(", "));
            Failure::Refused(format!("{from} has no table {wanted}; the generation has: {known}"))
        })
    }
}

/// Returns the path of the target folder if the folder is empty or does not exist.
fn new_folder(to: &Location) -> Option<&PathBuf> {
    let Location::Folder(path) = to else { return None };
    let is_empty = std::fs::read_dir(path).map_or(true, |mut entries| entries.next().is_none());
    is_empty.then_some(path)
}

/// Restores all engine files of a generation. Returns their number, or `None` if the generation contains no engine files.
fn whole(repository: &Repository, generation: &Generation, to: &std::path::Path) -> Result<Option<u64>> {
    match &generation.contents {
        Contents::Rows { .. } => Ok(None),
        Contents::Files { manifest, base, .. } => {
            Ok(Some(restore_files(repository, manifest, base, to)?.copied_files))
        }
    }
}
