//! Runs the recovery that the documentation of the patterns prescribes. Then compares all stored data with the evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::TryStreamExt;
use table_core::embedded::Clock;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::{PartitionKey, Result, TableStore, ticks};
use table_patterns::feed::Cursor;
use table_patterns::work::Sweep;

use super::books;
use super::copies::{holders, people};
use super::helpdesk;
use super::indexes::check_indexes;
use super::ledger::{Kind, Ledger, Values};
use super::lists::{collect_lists, readers};
use super::stores::{
    Attempt, Counts, DEPARTMENTS, Document, Employee, Event, FED, Sheet, Stores, content, hour_text, instant,
    summary,
};
use super::views::sales;
use super::workload::number_of;

/// A limit for reads. It is greater than the number of rows that the workload can create.
const MOST: u64 = 10_000_000;

/// The recovery steps to run before the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Runs sweeps and workers until nothing is pending. Then collects orphans (blobs to which nothing refers).
    Whole,
    /// Runs everything except sweeps. If the queue message of some work was lost, this work is never done.
    WithoutSweep,
    /// Runs everything except the collection of orphans.
    WithoutCollection,
}

/// Runs the recovery, and compares the stores with the evidence in `ledger`. Returns a description of each defect.
///
/// The stored data then becomes the expected state for the next round.
///
/// # Errors
/// Any error from the stores. It counts as a failed check, because the data must be readable after a crash.
pub async fn check(stores: &Stores, ledger: &mut Ledger, recovery: Recovery) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    settle(stores, recovery, &mut wrong).await?;
    if recovery != Recovery::WithoutCollection {
        collect(stores).await?;
    }
    let mut employees = Vec::new();
    for department in DEPARTMENTS {
        employees.extend(stores.company.query(Employee::partition(department)).collect().await?);
    }
    check_indexes(stores, &employees, &mut wrong).await?;
    let periods = periods(stores, ledger, &mut wrong).await?;
    let people = people(stores).await?;
    let desk = helpdesk::stored(&stores.desk, &mut wrong).await?;
    let held: [(Kind, Values); 14] = [
        (Kind::Index, employees.iter().map(Employee::entry).collect()),
        (Kind::Series, series(stores).await?),
        (Kind::Log, log(stores, &mut wrong).await?),
        (Kind::Wide, sheets(stores).await?),
        (Kind::Large, documents(stores, &mut wrong).await?),
        (Kind::Feed, fed(stores, &mut wrong).await?),
        (Kind::Period, periods),
        (Kind::Holder, holders(stores, &people, &mut wrong).await?),
        (Kind::Source, people),
        (Kind::Viewed, sales(stores, &mut wrong).await?),
        (Kind::Listed, readers(stores, &mut wrong).await?),
        (Kind::Agent, desk.agents),
        (Kind::Ticket, desk.tickets),
        (Kind::Entry, books::stored(&stores.books, &mut wrong).await?),
    ];
    for (kind, held) in held {
        ledger.compare(kind, &held, &mut wrong);
        ledger.adopt(kind, held);
    }
    ledger.adopt(Kind::Expire, Values::new());
    Ok(wrong)
}

/// Completes the pending work in the outboxes (PAT-EC-8).
async fn settle(stores: &Stores, recovery: Recovery, wrong: &mut Vec<String>) -> Result<()> {
    stores.later_worker(1).run_until_idle().await?;
    if recovery == Recovery::WithoutSweep {
        return Ok(());
    }
    let mut pending = 0;
    // The next sweep retries work that failed. Work that keeps failing is reported.
    for hours in 1..=10 {
        let report =
            Sweep::new(stores.later_outbox(hours)).min_age(Duration::ZERO).sweep_registered().await?;
        pending = report.pending;
        if pending == 0 {
            break;
        }
        stores.later_worker(hours).run_until_idle().await?;
    }
    let poison = stores.outbox.backlog().await?.poison;
    if pending > 0 || poison > 0 {
        wrong.push(format!("outbox: {pending} intents are pending after ten sweeps, {poison} are poison"));
    }
    Ok(())
}

/// Collects orphans twice, with clocks past the grace period. The first collection marks the orphans, and the second deletes them (PAT-LARGE-2).
pub(super) async fn collect(stores: &Stores) -> Result<()> {
    for days in [3, 6] {
        let clock = Clock::new(move || {
            ticks::from_datetime(ticks::now() + chrono::TimeDelta::days(days)).unwrap_or_default()
        });
        stores.documents.clone().with_clock(clock.clone()).collect_orphans().await?;
        stores.desk.collect_orphans(clock.clone()).await?;
        collect_lists(stores, clock).await?;
    }
    Ok(())
}

async fn series(stores: &Stores) -> Result<Values> {
    let mut held = Values::new();
    for row in stores.counts.query(Counts::partition(1)).collect().await? {
        let day = row.entity.day;
        for slot in 0..24 {
            if let Some(sum) = row.slot(slot) {
                held.insert(format!("{day}/{slot}"), sum.to_string());
            }
        }
    }
    Ok(held)
}

/// Returns the log events. Each event must occur exactly once. The events of each writer must be sorted, newest first (PAT-LOG-4).
async fn log(stores: &Stores, wrong: &mut Vec<String>) -> Result<Values> {
    let (mut held, mut last) = (Values::new(), BTreeMap::new());
    for event in stores.events.table().query(Event::partition(1)).collect().await? {
        let (key, value) = event.entry();
        if let Some(later) = last.insert((event.round, event.hand), event.number)
            && later <= event.number
        {
            wrong.push(format!(
                "log {key}: it stands behind number {later} of its writer, which is not newer"
            ));
        }
        if held.insert(key.clone(), value).is_some() {
            wrong.push(format!("log {key}: the event is there twice"));
        }
    }
    Ok(held)
}

/// Returns the wide entities. The read fails if one of them is incomplete (PAT-WIDE-4).
async fn sheets(stores: &Stores) -> Result<Values> {
    let mut parts = BTreeSet::new();
    let engine = stores.sheets.table().store();
    let table = stores.sheets.table().name()?;
    let everything = Query::new(KeyRange::ALL);
    let mut from = None;
    loop {
        let page = engine.query(table, &everything, from.as_ref()).await?;
        for entity in page.rows.iter() {
            let id = entity.row_key.split_once('_').map_or(entity.row_key, |(id, _)| id);
            if let (Ok(book), Ok(id)) = (entity.partition_key.parse::<u32>(), id.parse::<u32>()) {
                parts.insert((book, id));
            }
        }
        from = page.continuation;
        if from.is_none() {
            break;
        }
    }
    let mut held = Values::new();
    for (book, id) in parts {
        if let Some((whole, _)) = stores.sheets.get(Sheet::key(book, id)).await? {
            held.extend([whole.entry()]);
        }
    }
    Ok(held)
}

/// Returns the documents. Each document must have complete blobs, and each blob must belong to a document (PAT-LARGE-2).
async fn documents(stores: &Stores, wrong: &mut Vec<String>) -> Result<Values> {
    let (mut held, mut named) = (Values::new(), BTreeSet::new());
    for document in stores.documents.table().scan("check after a crash").max_rows(MOST).collect().await? {
        let key = format!("{}/{}", document.shelf, document.id);
        let number = document.number;
        for (blob, number) in [(Document::CONTENT_BLOB, number), (Document::SUMMARY_BLOB, summary(number))] {
            let property = blob.property();
            match stores.documents.open(&document, blob).await {
                Ok(Some(reader)) => match reader.bytes().await {
                    Ok(bytes) if bytes == content(number) => {}
                    Ok(_) => wrong.push(format!("large {key}: {property} holds another value")),
                    Err(error) => wrong.push(format!("large {key}: {property}: {error}")),
                },
                Ok(None) => wrong.push(format!("large {key}: the document names no {property}")),
                Err(error) => wrong.push(format!("large {key}: {property}: {error}")),
            }
            named.extend(blob.address_in(&document).map(|blob| blob.path().to_owned()));
        }
        held.insert(key, document.number.to_string());
    }
    let mut listing = stores.blobs.list(None);
    loop {
        match listing.try_next().await {
            Ok(None) => break,
            Ok(Some(meta)) if named.contains(meta.location.as_ref()) => {}
            Ok(Some(meta)) => wrong.push(format!("large: no row names the blob {}", meta.location)),
            Err(error) => {
                wrong.push(format!("large: the blobs cannot be listed: {error}"));
                break;
            }
        }
    }
    Ok(held)
}

/// Returns the rows whose changes are recorded in a feed. The feed must contain each change exactly once, in order (PAT-EC-8).
async fn fed(stores: &Stores, wrong: &mut Vec<String>) -> Result<Values> {
    let (mut held, mut reported) = (Values::new(), BTreeMap::<String, i64>::new());
    let query = Query::new(KeyRange::rows(FED, TextRange::prefix("row_")));
    let page = stores.engine.query(&stores.fed, &query, None).await?;
    for entity in page.rows.iter() {
        let number = number_of(entity.row.find("Number", &mut 0)?);
        held.insert(entity.row_key.to_owned(), number.to_string());
    }
    let entries =
        stores.feed.read(&stores.fed, &PartitionKey::new(FED)?, &Cursor::default(), usize::MAX).await?;
    for entry in entries {
        let number = String::from_utf8_lossy(&entry.payload).parse().unwrap_or(-1);
        let last = reported.entry(entry.source.as_str().to_owned()).or_default();
        if number != *last + 1 {
            wrong.push(format!("feed {}: {number} follows {last}", entry.source.as_str()));
        }
        *last = number;
    }
    let reported: Values =
        reported.into_iter().map(|(source, number)| (source, number.to_string())).collect();
    if reported != held {
        wrong.push(format!("feed: it reports {reported:?}, stored is {held:?}"));
    }
    Ok(held)
}

/// Returns the rows in the hourly tables. If the drop of a table was interrupted, the table must either contain all of its rows or not exist.
async fn periods(stores: &Stores, ledger: &mut Ledger, wrong: &mut Vec<String>) -> Result<Values> {
    let mut held = Values::new();
    let mut there = BTreeSet::new();
    for (_, start) in stores.attempts(0).tables().await? {
        let hours = (start - instant(0, 0)).num_hours();
        let hour = hour_text(u32::try_from(hours).unwrap_or_default());
        if let Some(first) = ledger.acknowledged(Kind::Expire, "tables")
            && hour.as_str() < first
        {
            wrong.push(format!("period {hour}: its table is there, all before {first} were dropped"));
        }
        there.insert(hour.clone());
        let table = stores.attempts(u32::try_from(hours).unwrap_or_default()).table_of(start)?;
        for attempt in table.query(Attempt::partition(1)).collect().await? {
            if attempt.key.split_once('_').is_none_or(|(of, _)| of != hour) {
                wrong.push(format!("period {hour}: holds {} of another hour", attempt.key));
            }
            held.insert(attempt.key, "made".to_owned());
        }
    }
    if let Some(first) = ledger.dropping_before().map(str::to_owned) {
        for hour in ledger.hours().into_iter().filter(|hour| *hour < first && !there.contains(hour)) {
            ledger.dropped(&hour);
        }
    }
    Ok(held)
}
