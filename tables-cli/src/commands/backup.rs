//! `tables backup`: backs up any store as generations in one folder or object store.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::backup::capture::{CaptureOptions, Captured, capture};
use crate::backup::files::{CapturedFiles, capture_files};
use crate::backup::generation::{Consistency, Contents, Generation, TableRows};
use crate::backup::retention::Retention;
use crate::backup::{Repository, storage, verify};
use crate::commands::{Context, count_of, omitted_part, say};
use crate::failure::{Exit, Failure, Result};
use crate::output;
use crate::store::{Location, Purpose, Store};
use crate::terminal;

/// The storage format of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// The rows of each table, and the changes between generations. Works for every store that returns rows in key order.
    Rows,
    /// A consistent snapshot of the files of a folder. Works for the embedded engine.
    Files,
}

/// Options of `backup`.
#[derive(clap::Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  tables backup backups --store data/company --keep 7d,4w,12m\n  tables backup account --store @production --settle\n  tables backup ls backups\n  tables backup verify backups\n\nA folder is backed up at one moment. The rows of an account are read page by page: each page shows its own moment, unless `--settle` finds a pass without differences. An interrupted backup is continued by the same command."
)]
pub(super) struct Backup {
    #[command(subcommand)]
    action: Option<Action>,
    /// The folder that receives the backup, or the URL of an object store such as `s3://bucket/path`: empty, or with earlier backups of the same store
    #[arg(required = true)]
    to: Option<PathBuf>,
    /// The format of the backup [default: files for a folder, rows for any other store]
    #[arg(long, value_enum)]
    format: Option<Form>,
    /// Read each table again, at most four times, until a pass finds no difference; the backup of the table is then a snapshot
    #[arg(long)]
    settle: bool,
    /// The generations to keep, such as 7d,4w,12m: the newest one of each of 7 days, 4 weeks and 12 months [default: all]
    #[arg(long, value_name = "TIMES")]
    keep: Option<Retention>,
    /// Read at most ROWS rows per second
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// List the generations in a backup folder
    Ls {
        /// The backup folder
        folder: PathBuf,
    },
    /// Verify every checksum in a backup folder
    Verify {
        /// The backup folder
        folder: PathBuf,
    },
}

impl Backup {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        match (&self.action, &self.to) {
            (Some(Action::Ls { folder }), _) => list(context, folder, out),
            (Some(Action::Verify { folder }), _) => verify_all(folder, out).await,
            (None, Some(to)) => self.back_up(context, to, out).await,
            (None, None) => Err(Failure::Usage("name the folder that receives the backup".to_owned())),
        }
    }

    async fn back_up(&self, context: &Context, to: &Path, out: &mut dyn Write) -> Result<Exit> {
        let location = context.store.location()?;
        let is_folder = matches!(location, Location::Folder(_));
        let form = self.format.unwrap_or(if is_folder { Form::Files } else { Form::Rows });
        if form == Form::Files && (self.settle || self.rate.is_some()) {
            let help =
                "a backup of files is a snapshot; omit `--settle` and `--rate`, or pass `--format rows`";
            return Err(Failure::Usage(help.to_owned()));
        }
        let purpose = if form == Form::Files { Purpose::Write } else { Purpose::Read };
        let store = Store::open(&location, purpose).await?;
        let engine = store.engine("backup --format files");
        let repository = Repository::create_in(storage::locate(to)?, &store.identity)?;
        let mut omitted = 0;
        match form {
            Form::Files => {
                let captured = capture_files(&repository, engine?).await?;
                say_files(&captured, out)?;
                warn(captured.collected);
            }
            Form::Rows => {
                let (settle, rate) = (self.settle, self.rate);
                let options =
                    CaptureOptions { settle, rate, is_snapshot: is_folder, ..CaptureOptions::default() };
                let captured = capture(&repository, &store.tables, &options).await?;
                say_rows(&captured, out)?;
                warn(captured.collected);
                if let Contents::Rows { tables } = &captured.generation.contents {
                    omitted = omitted_of(tables);
                }
            }
        }
        if let Some(keep) = &self.keep {
            warn(prune(&repository, keep, out));
        }
        Ok(Exit::Done.after_omitting(omitted))
    }
}

/// Prints a warning if the cleanup after a complete backup failed.
fn warn<T>(outcome: Result<T>) {
    if let Err(failure) = outcome {
        let help = "delete a damaged file of `generations`; the next backup then deletes the rows to which no generation refers";
        terminal::print_line(format_args!(
            "warning: the backup is complete, but no old data was deleted: {failure}; {help}"
        ));
    }
}

fn say_files(captured: &CapturedFiles, out: &mut dyn Write) -> Result<()> {
    let CapturedFiles { generation, copied, copied_bytes, kept, .. } = captured;
    let files = count_of(copied + kept, "file");
    let line = format!("{}: {files}, {copied} copied ({copied_bytes} bytes), {kept} kept", generation.id);
    say(out, &line)?;
    say(out, "consistency: one moment, when the backup began")
}

fn say_rows(captured: &Captured, out: &mut dyn Write) -> Result<()> {
    let Generation { id, began, ended, contents } = &captured.generation;
    let Contents::Rows { tables } = contents else { return Ok(()) };
    let resumed = if captured.is_resumed { ", continued an unfinished backup" } else { "" };
    let (counted, rows) = (count_of(tables.len() as u64, "table"), count_of(rows_of(tables), "row"));
    say(out, &format!("{id}: {counted}, {rows}, {}{resumed}", changes_of(tables)))?;
    let open: Vec<_> = tables.iter().filter(|table| table.consistency == Consistency::Pages).collect();
    if open.is_empty() {
        return say(out, "consistency: one moment for each table");
    }
    let names: Vec<_> = open.iter().map(|table| table.name.as_str()).collect();
    let (from, to) = (began.format("%H:%M:%S"), ended.format("%H:%M:%S"));
    let line = format!(
        "consistency of {}: each page of at most 1000 rows is of its own moment between {from} and {to} UTC; `--settle` reads again until nothing differs",
        names.join(", ")
    );
    say(out, &line)
}

/// Describes when the rows of a generation were read. The tables were read one after another, possibly by several commands.
fn consistency_of(tables: &[TableRows]) -> String {
    if tables.iter().any(|table| table.consistency == Consistency::Pages) {
        Consistency::Pages.to_string()
    } else if tables.len() > 1 {
        format!("{} for each table", Consistency::OneMoment)
    } else {
        Consistency::OneMoment.to_string()
    }
}

fn rows_of(tables: &[TableRows]) -> u64 {
    tables.iter().map(|table| table.rows).sum()
}

fn omitted_of(tables: &[TableRows]) -> u64 {
    tables.iter().map(|table| table.omitted).sum()
}

fn changes_of(tables: &[TableRows]) -> String {
    let sum = |number: fn(&TableRows) -> u64| tables.iter().map(number).sum::<u64>();
    let (added, changed) = (sum(|table| table.changes.added), sum(|table| table.changes.changed));
    let (deleted, settled) = (sum(|table| table.changes.deleted), sum(|table| table.changes.settled));
    let settled = if settled > 0 { format!(", {settled} settled") } else { String::new() };
    let left = omitted_part(omitted_of(tables));
    format!("{added} added, {changed} changed, {deleted} deleted{settled}{left}")
}

/// Removes the generations not selected by the rules in `keep`.
fn prune(repository: &Repository, keep: &Retention, out: &mut dyn Write) -> Result<()> {
    let generations: Vec<_> =
        repository.ids()?.iter().map(|id| repository.read(id)).collect::<Result<Vec<_>>>()?;
    let times: Vec<_> = generations.iter().map(|generation| generation.began).collect();
    let mut removed = 0;
    for (generation, kept) in generations.iter().zip(keep.kept(&times)) {
        if !kept {
            repository.remove(&generation.id)?;
            removed += 1;
        }
    }
    repository.collect()?;
    if removed > 0 {
        say(out, &format!("removed {}", count_of(removed, "generation")))?;
    }
    Ok(())
}

/// Lists the generations in a backup folder.
fn list(context: &Context, folder: &Path, out: &mut dyn Write) -> Result<Exit> {
    let repository = Repository::open_in(storage::locate(folder)?)?;
    let row = |id: &String| {
        let generation = repository.read(id)?;
        let began = generation.began.format("%Y-%m-%d %H:%M:%S").to_string();
        Ok(match &generation.contents {
            Contents::Rows { tables } => {
                let consistency = consistency_of(tables);
                let bytes: u64 = tables.iter().filter_map(|table| Some(table.layers.last()?.end.bytes)).sum();
                let (tables, rows, changes) =
                    (tables.len().to_string(), rows_of(tables).to_string(), changes_of(tables));
                let bytes = bytes.to_string();
                vec![id.clone(), began, "rows".to_owned(), tables, rows, bytes, changes, consistency]
            }
            Contents::Files { files, .. } => {
                let bytes: u64 = files.iter().map(|file| file.bytes).sum();
                let (none, bytes) = (String::new(), bytes.to_string());
                let one = Consistency::OneMoment.to_string();
                vec![id.clone(), began, "files".to_owned(), none.clone(), none.clone(), bytes, none, one]
            }
        })
    };
    let rows = repository.ids()?.iter().map(row).collect::<Result<Vec<_>>>()?;
    let names = ["generation", "began", "form", "tables", "rows", "bytes", "changes", "consistency"];
    output::rows(context.output, out, &names, &rows)?;
    Ok(if rows.is_empty() { Exit::Nothing } else { Exit::Done })
}

/// Verifies every checksum in a backup folder.
async fn verify_all(folder: &Path, out: &mut dyn Write) -> Result<Exit> {
    let repository = Repository::open_in(storage::locate(folder)?)?;
    let found = verify::verify(&repository).await?;
    for damage in &found.damage {
        say(out, damage)?;
    }
    let (generations, files) = (count_of(found.generations, "generation"), count_of(found.files, "file"));
    let left = omitted_part(found.omitted);
    // Engine files are verified without reading their rows.
    let rows = if found.rows == 0 { String::new() } else { format!(", {}", count_of(found.rows, "row")) };
    say(out, &format!("{generations}, {files}{rows}{left}"))?;
    match found.damage.len() as u64 {
        0 if found.generations == 0 => Ok(Exit::Nothing),
        0 => Ok(Exit::Done.after_omitting(found.omitted)),
        damaged => Err(Failure::Refused(format!(
            "{}; generations that contain none of them can be restored",
            count_of(damaged, "damaged part")
        ))),
    }
}
