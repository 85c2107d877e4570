//! Large values. The value is in a blob, and the entity contains the address of the blob. Unreferenced blobs are deleted (PAT-LARGE).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use table_core::embedded::Clock;
use table_core::{Entity, Error, IfMatch, Result, TableStoreExt};
use table_patterns::large::{LargeTable, whole};

use crate::grid::{Grid, thousands};
use crate::inputs::Inputs;
use crate::model::weather_files::{WeatherFile, csv};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "blob-value",
    question: "Seattle's weather of 2014 as one file: how is it read and replaced, and when is the old one removed?",
    schema: WeatherFile::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const TICKS_A_DAY: u64 = 24 * 3_600 * 10_000_000;

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    // This recipe advances the clock for the collection of unreferenced blobs. An ordinary program omits `with_clock`.
    let ahead = Arc::new(AtomicU64::new(0));
    let hand = Arc::clone(&ahead);
    let system = Clock::default();
    store.unmetered().table::<WeatherFile>().create_if_missing().await?;
    let files = LargeTable::new(store.table::<WeatherFile>(), store.blobs(), "weather")
        .grace(DAY)
        .with_clock(Clock::new(move || system.now() + hand.load(Ordering::SeqCst)));
    let forward = |days| ahead.fetch_add(days * TICKS_A_DAY, Ordering::SeqCst);
    let key = || WeatherFile::key("Seattle", 2014);
    let away = async || {
        match files.table().delete(key(), IfMatch::Any).await {
            Err(error) if error.is_not_found() => {}
            outcome => outcome?,
        }
        for _ in 0..2 {
            forward(2);
            files.collect_orphans().await?;
        }
        Ok::<_, Error>(())
    };
    away().await?; // the data of an earlier run that was stopped

    // The blob is written before the entity with its address. A reader therefore never finds an address without a file (PAT-LARGE-2).
    let half = csv(&inputs.weather[..912], "Seattle", 2014);
    let year = csv(&inputs.weather, "Seattle", 2014);
    let days = |text: &str| i32::try_from(text.lines().count()).unwrap_or_default() - 1;
    let entity =
        |text: &str| WeatherFile { location: "Seattle".into(), year: 2014, days: days(text), file: None };
    files.insert(entity(&half), [WeatherFile::FILE_BLOB.content(whole(half.clone()))]).await?;
    let plan = files.table().plan(key())?;
    let Some(in_june) = files.table().get(key()).await? else { panic!("just inserted") };

    // Readers see either the old file or the new file, because one write changes the address.
    let replaced = files
        .replace(entity(&year), in_june.etag(), [WeatherFile::FILE_BLOB.content(whole(year.clone()))])
        .await?;
    let mut answer = Grid::new(["Read", "#Days", "#Bytes", "#Requests"]);
    let mut row = |what: &str, days: i32, bytes: u64, requests: &str| {
        answer.row([what, &days.to_string(), &thousands(bytes), requests]);
    };
    let Some(found) = files.table().get(key()).await? else { panic!("just replaced") };
    row("the entity alone", found.days, 0, "1 of the table");
    let Some(file) = files.open(&found, WeatherFile::FILE_BLOB).await? else { panic!("it has a file") };
    row("the entity and its file", found.days, file.len(), "1 of the table, 1 of the blobs");
    assert_eq!((found.value(), file.bytes().await?), (replaced.value(), year.clone().into()));
    let Some(old) = files.open(&in_june, WeatherFile::FILE_BLOB).await? else { panic!("it had a file") };
    row("an entity read before", in_june.days, old.len(), "1 of the blobs");
    assert_eq!(old.bytes().await?, half, "whole, as long as the grace period lasts");

    // A blob is removed only if two collections, at least a grace period apart, find it unreferenced. A collection therefore does not disturb concurrent
    // writers.
    let young = files.collect_orphans().await?;
    forward(2);
    let marked = files.collect_orphans().await?;
    forward(2);
    let removed = files.collect_orphans().await?;
    assert_eq!((young.kept, young.marked, marked.kept, marked.marked), (2, 0, 1, 1));
    assert_eq!((removed.kept, removed.removed), (1, 1), "the file of June");
    assert!(
        files.open(&in_june, WeatherFile::FILE_BLOB).await.is_err_and(|error| error.is_not_found()),
        "and it is said so"
    );
    assert!(files.open(&found, WeatherFile::FILE_BLOB).await?.is_some());

    away().await?;
    let name = found.file.as_ref().and_then(|file| file.path().rsplit_once('/')).map_or("", |(name, _)| name);
    Ok(Report::new(plan, answer).note(format!("Each upload has a unique name: `{name}/…`.")).note(format!(
        "The old file: {} marked two days later, {} removed two days after that.",
        marked.marked, removed.removed
    )))
}
