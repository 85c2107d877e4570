//! Change feeds. All changes in a partition are read in order, starting from a stored position (PAT-EC-8).

use std::collections::BTreeMap;

use chrono::Datelike;
use table_core::{
    Entity, EntityKey, Error, ErrorCode, Operation, OperationKind, PartitionKey, Result, TableStore,
    TableStoreExt, Transaction,
};
use table_patterns::feed::{Cursor, Feed, FeedChange};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::weather_reports::RainReport;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "change-feed",
    question: "How much rain did Seattle report in January 2015, summed by a reader that follows every change and is interrupted?",
    schema: RainReport::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    store.unmetered().table::<RainReport>().create_if_missing().await?;
    let reports = store.table::<RainReport>();
    let (table, seattle) = (reports.name()?, PartitionKey::new("Seattle")?);
    let feed = Feed::new(store.clone());
    let end = |entries: &[table_patterns::feed::FeedEntry]| entries.last().map(|entry| entry.cursor.clone());
    // The feed entries of an earlier run are deleted.
    if let Some(last) = end(&feed.read(table, &seattle, &Cursor::default(), usize::MAX).await?) {
        feed.trim(table, &seattle, &last).await?;
    }

    // The station writes each report and its feed entry in one transaction. The first report is wrong, and is corrected at the end.
    let january = |day: &&crate::data::weather::DailyWeather| {
        day.location == "Seattle" && (day.date.year(), day.date.month()) == (2015, 1)
    };
    let days: Vec<RainReport> = inputs.weather.iter().filter(january).map(RainReport::from).collect();
    let wrong = RainReport { precipitation: 999.0, ..days[0].clone() };
    let reported: Vec<_> = [&wrong].into_iter().chain(&days[1..]).map(|day| (day, "reported")).collect();
    for (day, kind) in reported.into_iter().chain([(&days[0], "corrected")]) {
        let EntityKey { partition_key, row_key } = day.key_of()?;
        let mut change = Transaction::new(partition_key, store.capabilities().limits)?;
        let write = OperationKind::InsertOrReplace(day.to_row()?);
        let payload = day.precipitation.to_string();
        change.push(Operation { row_key: row_key.clone(), kind: write })?;
        let entry = FeedChange { source: &row_key, kind, payload: payload.as_bytes() };
        feed.submit(table, change, &[entry]).await?;
    }

    // Each reader keeps a model of the rows and stores its position as a string.
    let mut rain: BTreeMap<String, f64> = BTreeMap::new();
    let mut answer = Grid::new(["Reader", "#Changes", "Last", "#Days known", "#Millimetres"]);
    let mut stored = to_text(&Cursor::default())?;
    for (reader, most) in [("first, stops after 20", 20), ("second, from the stored place", usize::MAX)] {
        let from: Cursor = serde_json::from_str(&stored).map_err(no_text)?;
        let changes = feed.read(table, &seattle, &from, most).await?;
        for change in &changes {
            let millimetres = String::from_utf8_lossy(&change.payload).parse().unwrap_or_default();
            rain.insert(change.source.as_str().to_owned(), millimetres);
        }
        stored = to_text(&end(&changes).unwrap_or(from))?;
        let last = changes.last().map(|change| format!("{} {}", change.source.as_str(), change.kind));
        answer.row([
            reader.to_owned(),
            changes.len().to_string(),
            last.unwrap_or_default(),
            rain.len().to_string(),
            format!("{:.1}", rain.values().sum::<f64>()),
        ]);
    }
    let expected = days.iter().map(|day| (day.date.format("%Y%m%d").to_string(), day.precipitation));
    assert!(rain.into_iter().eq(expected), "each change once, the correction after the wrong report");

    let done: Cursor = serde_json::from_str(&stored).map_err(no_text)?;
    let trimmed = feed.trim(table, &seattle, &done).await?;
    assert_eq!(trimmed, 32, "31 days and a correction");
    let left = reports.query(RainReport::partition("Seattle")).collect().await?;
    assert_eq!(left, days, "entries of the feed were never among the reports");
    Ok(Report::new(reports.plan(RainReport::partition("Seattle"))?, answer)
        .note("The position is JSON: another process can continue on another day.")
        .note("At the end all readers have read the entries, and the feed is trimmed."))
}

fn to_text(cursor: &Cursor) -> Result<String> {
    serde_json::to_string(cursor).map_err(no_text)
}

fn no_text(error: serde_json::Error) -> Error {
    Error::new(ErrorCode::InvalidInput, "the stored place is not to be read").with_source(error)
}
