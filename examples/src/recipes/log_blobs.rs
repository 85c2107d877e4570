//! Log lines. They do not belong in a table. They are stored in blobs whose names contain the time (PAT-ANTI-2).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::TryStreamExt;
use table_core::embedded::Clock;
use table_core::{Entity, Error, ErrorCode, Result, TableStoreExt, ticks};
use table_patterns::blob::object_store::{ObjectStore, ObjectStoreExt, path::Path};
use table_patterns::log_blobs::{LogKind, LogReader, LogWriter};

use crate::grid::{Grid, thousands};
use crate::inputs::Inputs;
use crate::model::earthquake_log::LoggedEarthquake;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "log-blobs",
    question: "A week of earthquakes as log lines: which were on 6 February from 15:00 to 18:00, read from blobs and from a table?",
    schema: LoggedEarthquake::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

const SERVICE: &str = "earthquakes";

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let blobs = store.blobs();
    clear(&*blobs).await?;

    // The writer's clock shows the times of the events. An ordinary program omits `with_clock`.
    let now = Arc::new(AtomicU64::new(0));
    let hand = Arc::clone(&now);
    let clock = Clock::new(move || hand.load(Ordering::SeqCst));
    let mut log = LogWriter::new(store.blobs(), SERVICE)?
        .flush_at(8 * 1024) // larger blocks need fewer requests, but more lines can be lost
        .flush_after(Duration::from_secs(60 * 60))
        .with_clock(clock);
    let mut written = 0;
    for event in inputs.earthquakes.iter().rev() {
        now.store(ticks::from_datetime(event.time).unwrap_or_default(), Ordering::SeqCst);
        let magnitude = event.magnitude.to_string();
        log.append(LogKind::Write, [event.id.as_str(), magnitude.as_str(), event.place.as_str()])?;
        written += log.flush_if_due().await?;
    }
    written += log.flush().await?;

    // The reader finds the hours by prefix, the blobs by the first and last time in their metadata, and the lines by their times.
    let from = "2018-02-06T15:00:00Z".parse::<DateTime<Utc>>().map_err(no_instant)?;
    let to = from + TimeDelta::hours(3);
    let lines = LogReader::new(store.blobs(), SERVICE)?.collect(from, to, &[LogKind::Write]).await?;
    let is_wanted = |at: DateTime<Utc>| from <= at && at < to;
    let expected = inputs.earthquakes.iter().rev().filter(|event| is_wanted(event.time));
    let found = lines.iter().map(|line| (line.at, line.fields[0].as_str(), line.fields[2].as_str()));
    assert!(found.eq(expected.map(|event| (event.time, event.id.as_str(), event.place.as_str()))));

    // In a table that is partitioned by network, the same query must read the entire table. The reader knows only the time.
    let before = store.cost();
    let scan = store.table::<LoggedEarthquake>().scan("comparison with the log in blobs").max_rows(10_000);
    let plan = scan.plan()?;
    let mut in_table = 0;
    scan.for_each(|event| in_table += usize::from(is_wanted(event.stamp.instant()))).await?;
    assert_eq!(in_table, lines.len());
    let scanned = store.cost() - before;

    let mut names = Vec::new();
    for hour in 15..=19 {
        let folder = Path::from(format!("{SERVICE}/2018/02/06/{hour}00"));
        names.extend(blobs.list(Some(&folder)).try_collect::<Vec<_>>().await.map_err(no_blobs)?);
    }
    let bytes: u64 = names.iter().map(|blob| blob.size).sum();
    let mut answer = Grid::new(["From", "#Lines", "#Looked at", "#Requests"]);
    let found = lines.len().to_string();
    answer.row([
        "blobs",
        &found,
        &format!("{} bytes", thousands(bytes)),
        &format!("5 listings, {} blobs", names.len()),
    ]);
    let rows = thousands(scanned.rows_returned);
    answer.row(["the table", &found, &format!("{rows} rows"), &scanned.requests.to_string()]);
    let name = names.iter().map(|blob| blob.location.to_string()).min().unwrap_or_default();
    Ok(Report::new(plan, answer)
        .note(format!("The week is {written} blobs, one request each; the first of these hours is `{name}`."))
        .note("For lookups of single events, or frequent reads of the newest, use a table: see `log-tail`."))
}

/// Deletes the log of an earlier run. Its blobs would otherwise be read as well.
async fn clear(blobs: &dyn ObjectStore) -> Result<()> {
    let mut listing = blobs.list(Some(&Path::from(SERVICE)));
    while let Some(blob) = listing.try_next().await.map_err(no_blobs)? {
        blobs.delete(&blob.location).await.map_err(no_blobs)?;
    }
    Ok(())
}

fn no_blobs(error: object_store::Error) -> Error {
    Error::new(ErrorCode::Io, "the blobs cannot be asked").with_source(error)
}

fn no_instant(error: chrono::ParseError) -> Error {
    Error::new(ErrorCode::InvalidInput, "no instant").with_source(error)
}
