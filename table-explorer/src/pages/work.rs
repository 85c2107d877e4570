//! The page for pending work: intents (recorded work) waiting for a worker, and poison intents, which failed repeatedly, with their errors.

mod poison;

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use table_core::query::{KeyRange, TextRange};
use table_core::{Continuation, Query, QueueName, TableEntity, TableName, Value, ticks};
use table_patterns::outbox::{OUTBOX_PREFIX, POISON_PREFIX, REGISTRY};

use crate::failure::{Failure, Result};
use crate::frame::Frame;
use crate::link;
use crate::pages::{Context, queues};
use crate::reader::{First, Found};
use crate::show;

pub(crate) use poison::requeue;

/// Once this many partitions with work have been found, the page stops reading further partitions. `ROWS` is the maximum number of pending rows, and of poison
/// rows, read in each partition.
const PARTITIONS: usize = 20;
const ROWS: usize = 50;
/// Once this many registered partitions have been read, the page stops reading further partitions. `REQUESTS` is the maximum number of requests for listing
/// them.
const LOOKED_AT: usize = 60;
const REQUESTS: usize = 24;
/// The maximum number of queue names searched for outbox queues.
const QUEUES: usize = 1_000;

/// The pending work in one partition.
struct Waiting {
    table: TableName,
    partition_key: String,
    pending: First,
    poison: First,
}

/// One page of partitions with work.
#[derive(Default)]
struct Waitings {
    found: Vec<Waiting>,
    /// The number of registered partitions read for the page.
    read: usize,
    /// The continuation token after the partitions read, or `None` at the end of the registry.
    next: Option<Continuation>,
    /// `true` if the page covers all registered partitions.
    is_all: bool,
}

pub(crate) async fn page(context: &Context<'_>) -> Result<Markup> {
    let waiting = waiting(context).await?;
    let queue = context.request.query("queue");
    let entries = match queue {
        Some(queue) => Some(poison::entries(context, queue).await?),
        None => None,
    };
    let known = outbox_queues(context)?;
    let main = html! {
        h1 { "Outbox and poison" }
        p.sub { "Work that changes have recorded, by the partition of the change." }
        @if waiting.found.is_empty() && waiting.is_all { p.empty { "No partition has recorded work." } }
        @else { (summary(&waiting)) }
        @if !waiting.found.is_empty() { (overview(&waiting.found)) }
        (more(&waiting, queue))
        section aria-label="Poison" {
            h2 { "Set aside" }
            @if !known.is_empty() {
                nav.tabs aria-label="Queues of outboxes" {
                    @for name in &known { a href=(link::to("/work", &[("queue", name)])) aria-current=[(queue == Some(name.as_str())).then_some("true")] { (name) } }
                }
            }
            @else { form.row action="/work" aria-label="Queue" {
                span.fld { label for="queue" { "queue" } input #queue name="queue" value=(queue.unwrap_or_default()) placeholder="name of the outbox's queue" autocomplete="off" spellcheck="false"; }
                button.btn type="submit" { "Show its poison" }
            } }
            @if let Some(entries) = &entries { (poison::render(context, queue.unwrap_or_default(), entries)) }
        }
    };
    let frame = Frame { title: "Outbox and poison".to_owned(), here: "/work", main, ..Frame::default() };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

/// Reads registered partitions until enough of them have work. A partition stays registered after its work is done, so most of them may have none.
async fn waiting(context: &Context<'_>) -> Result<Waitings> {
    let query = Query { top: Some(PARTITIONS), ..Query::new(KeyRange::ALL) };
    let mut waiting =
        Waitings { next: context.request.query("from").map(str::parse).transpose()?, ..Waitings::default() };
    let is_first = waiting.next.is_none();
    let registry = TableName::new(REGISTRY)?;
    for _ in 0..REQUESTS {
        let page = match context.reader.page(&registry, &query, waiting.next.as_ref()).await {
            Err(Failure::Store(error)) if error.is_table_not_found() => Found::default(),
            page => page?,
        };
        for row in &page.rows {
            // Only registry rows of partitions have a `Table` property.
            let Some(Value::String(table)) = row.get("Table") else { continue };
            let Ok(table) = TableName::new(table) else { continue };
            let found = read(context, table, row.key().row_key.as_str().to_owned()).await?;
            waiting.read += 1;
            waiting.found.extend((!found.pending.is_none() || !found.poison.is_none()).then_some(found));
        }
        waiting.next = page.next;
        waiting.is_all = is_first && waiting.next.is_none();
        if waiting.next.is_none() || waiting.found.len() >= PARTITIONS || waiting.read >= LOOKED_AT {
            break;
        }
    }
    Ok(waiting)
}

/// Returns a link to the next partitions and, unless all were read, the number of partitions read.
fn more(waiting: &Waitings, queue: Option<&str>) -> Markup {
    let address = |next: Option<&Continuation>| {
        let next = next.map(|next| ("from", next.to_string()));
        let queue = queue.map(|queue| ("queue", queue.to_owned()));
        let pairs: Vec<_> = next.into_iter().chain(queue).collect();
        link::to("/work", &pairs)
    };
    html! {
        @if !waiting.is_all {
            div.foot {
                span { (show::count_of(waiting.read as u64, "registered partition")) " read" @if waiting.next.is_some() { ", and more follow" } }
                span.grow {}
                a.btn.first href=(address(None)) { "First partitions" }
                @if let Some(next) = &waiting.next { a.btn.next href=(address(Some(next))) { "More partitions" } }
            }
        }
    }
}

async fn read(context: &Context<'_>, table: TableName, partition_key: String) -> Result<Waiting> {
    let (mut pending, mut poison) = (First::default(), First::default());
    for (prefix, rows) in [(OUTBOX_PREFIX, &mut pending), (POISON_PREFIX, &mut poison)] {
        let keys = KeyRange::rows(partition_key.as_str(), TextRange::prefix(prefix));
        let query = Query { top: Some(ROWS), ..Query::new(keys) };
        *rows = match context.reader.first(&table, &query).await {
            Err(Failure::Store(error)) if error.is_table_not_found() => {
                First { is_all: true, ..First::default() }
            }
            first => first?,
        };
    }
    Ok(Waiting { table, partition_key, pending, poison })
}

/// Returns the names of outbox queues, recognized by having a poison queue.
fn outbox_queues(context: &Context<'_>) -> Result<Vec<String>> {
    let names = queues::names(context, QUEUES)?;
    context.reader.count(u64::from(names.is_some()));
    let names = names.unwrap_or_default();
    let has_poison = |name: &&QueueName| name.poison().is_ok_and(|poison| names.contains(&poison));
    Ok(names.iter().filter(has_poison).map(ToString::to_string).collect())
}

/// Returns the numbers of pending and poison intents and the age of the oldest pending one, which shows how far workers lag behind. A `+` marks a lower bound.
fn summary(waiting: &Waitings) -> Markup {
    let sum = |rows: fn(&Waiting) -> &First| {
        let is_whole = waiting.is_all && waiting.found.iter().all(|waiting| rows(waiting).is_all);
        let count: usize = waiting.found.iter().map(|waiting| rows(waiting).rows.len()).sum();
        html! { (show::thousands(count as u64)) @if !is_whole { "+" } }
    };
    let oldest = waiting.found.iter().filter_map(|waiting| oldest(&waiting.pending.rows)).min();
    let age = oldest.map(|at| show::age(ticks::now() - at));
    let bound = if waiting.is_all { "" } else { "+" };
    html! {
        dl.figures {
            div { dt { "pending" } dd { (sum(|waiting| &waiting.pending)) } }
            div { dt { "oldest pending" } dd { @match &age { Some(age) => { (age) (bound) }, None => { @if waiting.is_all { "–" } @else { "unknown" } } } } }
            div { dt { "set aside" } dd { (sum(|waiting| &waiting.poison)) } }
            div { dt { "partitions" } dd { (show::thousands(waiting.found.len() as u64)) (bound) } }
        }
        p.note { "Intents become pending with the change that records them; the age of the oldest is the lag of the workers. At most 50 intents of a partition are read." @if !waiting.is_all { " Not all registered partitions were read, so each figure is a lower bound." } }
    }
}

/// Returns the time at which the oldest intent was recorded. Recording an attempt changes the row's `Timestamp`; the original time is then in `Version`.
fn oldest(rows: &[TableEntity]) -> Option<DateTime<Utc>> {
    let recorded = |row: &TableEntity| match row.get("Version") {
        Some(Value::Int64(ticks)) => u64::try_from(*ticks).ok().and_then(ticks::to_datetime),
        _ => row.timestamp(),
    };
    rows.iter().filter_map(recorded).min()
}

fn overview(found: &[Waiting]) -> Markup {
    html! {
        div.wrap tabindex="0" role="region" aria-label="Work by partition" {
            table.grid {
                thead { tr { th scope="col" { "Table" } th scope="col" { "Partition" } th.num scope="col" { "Pending" } th scope="col" { "Oldest" small { "since" } } th.num scope="col" { "Set aside" } th scope="col" { "Reason" } } }
                tbody { @for waiting in found {
                    tr {
                        td { a href=(link::table(&waiting.table, "")) { (waiting.table) } }
                        td { a.key href=(under(waiting, OUTBOX_PREFIX)) { (show::raw_key(&waiting.partition_key)) } }
                        td.num { (count(&waiting.pending)) }
                        td { @match oldest(&waiting.pending.rows) { Some(at) => (show::instant(at)), None => span.faint { "–" } } }
                        td.num { @if waiting.poison.is_none() { "0" } @else { a href=(under(waiting, POISON_PREFIX)) { span.badge.warn { (count(&waiting.poison)) } } } }
                        td { @if let Some(reason) = waiting.poison.rows.iter().chain(&waiting.pending.rows).find_map(reason) { (show::stored(reason)) } }
                    }
                } }
            }
        }
    }
}

fn under(waiting: &Waiting, prefix: &str) -> String {
    link::to(&link::table(&waiting.table, "p"), &[("pk", waiting.partition_key.as_str()), ("under", prefix)])
}

fn count(first: &First) -> String {
    format!("{}{}", first.rows.len(), if first.is_all { "" } else { "+" })
}

fn reason(row: &TableEntity) -> Option<&str> {
    match row.get("Error") {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_intent_is_found_by_the_time_at_which_it_was_recorded() {
        let row = |row_key: &str| TableEntity::new("p", row_key).unwrap();
        let version = |ticks: u64| Value::Int64(i64::try_from(ticks).unwrap());
        let at =
            |hour: i64| ticks::from_datetime(DateTime::from_timestamp(hour * 3_600, 0).unwrap()).unwrap();
        // Attempts have been recorded in the first two rows, so the times of these intents are in `Version`.
        let rows =
            [row("1").with("Version", version(at(7))), row("2").with("Version", version(at(5))), row("3")];
        assert_eq!(oldest(&rows), DateTime::from_timestamp(5 * 3_600, 0));
    }
}
