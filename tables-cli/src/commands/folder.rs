//! Commands of folders: backup, restore, verification, compaction, statistics.

use std::io::Write;
use std::path::PathBuf;

use table_core::Engine;

use crate::commands::{Context, count_of, say};
use crate::failure::{Exit, Failure, Result};
use crate::output;
use crate::store::Purpose;

/// Options of `backup`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example: tables backup /backups/company --store data/company\n\nA second backup to the same folder copies only what is new."
)]
pub(super) struct Backup {
    /// The folder that receives the backup: an empty one, or an earlier backup of the same store
    to: PathBuf,
}

impl Backup {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let store = context.store.open(Purpose::Write)?;
        let report = store.engine("backup")?.backup(&self.to).await?;
        let files = report.copied_files + report.kept_files;
        let line = format!(
            "{} in {}: {} copied ({} bytes), {} kept",
            count_of(files, "file"),
            self.to.display(),
            report.copied_files,
            report.copied_bytes,
            report.kept_files
        );
        say(out, &line)?;
        Ok(Exit::Done)
    }
}

/// Options of `restore`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: tables restore /backups/company data/restored")]
pub(super) struct Restore {
    /// The backup
    from: PathBuf,
    /// The folder that receives the store: a new or an empty one
    to: PathBuf,
}

impl Restore {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<Exit> {
        let report = Engine::restore(&self.from, &self.to)?;
        say(out, &format!("{} restored to {}", count_of(report.copied_files, "file"), self.to.display()))?;
        Ok(Exit::Done)
    }
}

/// Reads every checksum of a folder.
pub(super) fn verify(context: &Context, out: &mut dyn Write) -> Result<Exit> {
    let store = context.store.open(Purpose::Read)?;
    let found = store.engine("verify")?.verify()?;
    for error in &found.damage {
        say(out, &error.to_string())?;
    }
    let line = format!(
        "{} in {} of {}",
        count_of(found.entries, "entry"),
        count_of(found.blocks, "block"),
        count_of(found.runs, "run")
    );
    say(out, &line.replace("entrys", "entries"))?;
    match found.damage.len() {
        0 => Ok(Exit::Done),
        damaged => {
            let parts = count_of(damaged as u64, "damaged part");
            Err(Failure::Refused(format!(
                "{parts}; restore the store from a backup, or export what can be read"
            )))
        }
    }
}

/// Merges the files of a folder.
pub(super) async fn compact(context: &Context, out: &mut dyn Write) -> Result<Exit> {
    let store = context.store.open(Purpose::Write)?;
    let engine = store.engine("compact")?;
    let before = engine.statistics()?.base_bytes;
    engine.compact().await?;
    say(out, &format!("{before} bytes before, {} bytes after", engine.statistics()?.base_bytes))?;
    Ok(Exit::Done)
}

/// Shows what an engine holds and has done.
pub(super) fn stats(context: &Context, out: &mut dyn Write) -> Result<Exit> {
    let store = context.store.open(Purpose::Read)?;
    let found = store.engine("stats")?.statistics()?;
    let rows = [
        ("tables", found.tables as u64),
        ("recent rows", found.recent_rows as u64),
        ("recent bytes", found.recent_bytes as u64),
        ("base bytes", found.base_bytes),
        ("runs", found.runs as u64),
        ("segments", found.segments as u64),
        ("layers", found.layers as u64),
        ("unmerged bytes", found.unmerged_bytes),
    ];
    let rows: Vec<_> =
        rows.into_iter().map(|(name, number)| vec![name.to_owned(), number.to_string()]).collect();
    output::rows(context.output, out, &["figure", "value"], &rows)?;
    Ok(Exit::Done)
}
