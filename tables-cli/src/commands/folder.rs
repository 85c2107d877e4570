//! Commands for folders of the embedded engine: `verify`, `compact` and `stats`.

use std::io::Write;

use crate::commands::{Context, count_of, say};
use crate::failure::{Exit, Failure, Result};
use crate::output;
use crate::store::Purpose;

/// Verifies every checksum in the folder of an engine.
pub(super) async fn verify(context: &Context, out: &mut dyn Write) -> Result<Exit> {
    let store = context.store.open(Purpose::Read).await?;
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

/// Merges the files in the folder of an engine.
pub(super) async fn compact(context: &Context, out: &mut dyn Write) -> Result<Exit> {
    let store = context.store.open(Purpose::Write).await?;
    let engine = store.engine("compact")?;
    let before = engine.statistics()?.base_bytes;
    engine.compact().await?;
    say(out, &format!("{before} bytes before, {} bytes after", engine.statistics()?.base_bytes))?;
    Ok(Exit::Done)
}

/// Shows the size and the counters of an engine.
pub(super) async fn stats(context: &Context, out: &mut dyn Write) -> Result<Exit> {
    let store = context.store.open(Purpose::Read).await?;
    let found = store.engine("stats")?.statistics()?;
    let rows = [
        ("tables", found.tables as u64),
        ("memtable rows", found.memtable_rows as u64),
        ("memtable bytes", found.memtable_bytes as u64),
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
