//! The page about pending work: intents (recorded work) that wait for a worker, and poison intents, which failed repeatedly, with their errors.

use chrono::{DateTime, Utc};
use http::Response;
use maud::{Markup, html};
use table_core::query::{KeyRange, TextRange};
use table_core::{Query, QueueName, TableEntity, TableName, Value, ticks};
use table_patterns::outbox::{OUTBOX_PREFIX, Outbox, POISON_PREFIX, REGISTRY};
use table_patterns::work::PoisonEntry;

use crate::failure::{Failure, Result};
use crate::form_text::returned;
use crate::frame::Frame;
use crate::link;
use crate::pages::{Context, queues};
use crate::response::{self, Body};
use crate::show;

/// The maximum number of partitions that the page reads, and the maximum number of rows in each of them.
const PARTITIONS: usize = 20;
const ROWS: usize = 50;
/// The maximum number of queues that are searched for outbox queues.
const QUEUES: usize = 1_000;
/// The maximum number of entries in the poison queue that the page shows.
const ENTRIES: usize = 32;

/// The pending work in one partition.
struct Waiting {
    table: TableName,
    partition_key: String,
    pending: Vec<TableEntity>,
    poison: Vec<TableEntity>,
}

pub(crate) async fn page(context: &Context<'_>) -> Result<Markup> {
    let (partitions, is_all) = partitions(context).await?;
    let mut found = Vec::new();
    for (table, partition_key) in partitions {
        found.push(read(context, table, partition_key).await?);
    }
    let queue = context.request.query("queue");
    let entries = match queue {
        Some(queue) => Some(entries(context, queue).await?),
        None => None,
    };
    let known = outbox_queues(context)?;
    let main = html! {
        h1 { "Outbox and poison" }
        p.sub { "Work that changes have recorded, by the partition of the change." @if !is_all { " Only the first " (PARTITIONS) " partitions are shown." } }
        @if found.is_empty() { p.empty { "No partition has recorded work." } }
        @else { (summary(&found)) (overview(&found)) }
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
            @if let Some(entries) = &entries { (poison(context, queue.unwrap_or_default(), entries)) }
        }
    };
    let frame = Frame { title: "Outbox and poison".to_owned(), here: "/work", main, ..Frame::default() };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

/// Returns the partitions in which outboxes are registered, and `true` if the list is complete.
async fn partitions(context: &Context<'_>) -> Result<(Vec<(TableName, String)>, bool)> {
    let query = Query { top: Some(PARTITIONS), ..Query::new(KeyRange::ALL) };
    let page = match context.reader.page(&TableName::new(REGISTRY)?, &query, None).await {
        Err(Failure::Store(error)) if error.is_table_not_found() => return Ok((Vec::new(), true)),
        page => page?,
    };
    let entry = |row: &TableEntity| match row.get("Table") {
        Some(Value::String(table)) => {
            Some((TableName::new(table).ok()?, row.key().row_key.as_str().to_owned()))
        }
        _ => None,
    };
    Ok((page.rows.iter().filter_map(entry).collect(), page.next.is_none()))
}

async fn read(context: &Context<'_>, table: TableName, partition_key: String) -> Result<Waiting> {
    let (mut pending, mut poison) = (Vec::new(), Vec::new());
    for (prefix, rows) in [(OUTBOX_PREFIX, &mut pending), (POISON_PREFIX, &mut poison)] {
        let keys = KeyRange::rows(partition_key.as_str(), TextRange::prefix(prefix));
        let query = Query { top: Some(ROWS), ..Query::new(keys) };
        match context.reader.page(&table, &query, None).await {
            Err(Failure::Store(error)) if error.is_table_not_found() => {}
            page => *rows = page?.rows,
        }
    }
    Ok(Waiting { table, partition_key, pending, poison })
}

/// Returns the names of the queues that have a poison queue, which marks the queues of outboxes.
fn outbox_queues(context: &Context<'_>) -> Result<Vec<String>> {
    let names = queues::names(context, QUEUES)?;
    context.reader.count(u64::from(names.is_some()));
    let names = names.unwrap_or_default();
    let has_poison = |name: &&QueueName| name.poison().is_ok_and(|poison| names.contains(&poison));
    Ok(names.iter().filter(has_poison).map(ToString::to_string).collect())
}

/// Returns the number of intents in the outbox, and the age of the oldest one, which shows how far the workers lag behind.
fn summary(found: &[Waiting]) -> Markup {
    let sum = |rows: fn(&Waiting) -> &Vec<TableEntity>| {
        let is_bound = found.iter().any(|waiting| rows(waiting).len() == ROWS);
        let count: usize = found.iter().map(|waiting| rows(waiting).len()).sum();
        html! { (show::thousands(count as u64)) @if is_bound { "+" } }
    };
    let oldest = found.iter().filter_map(|waiting| oldest(&waiting.pending)).min();
    let age = oldest.map(|at| show::age(ticks::now() - at));
    html! {
        dl.figures {
            div { dt { "pending" } dd { (sum(|waiting| &waiting.pending)) } }
            div { dt { "oldest pending" } dd { (age.as_deref().unwrap_or("–")) } }
            div { dt { "set aside" } dd { (sum(|waiting| &waiting.poison)) } }
            div { dt { "partitions" } dd { (show::thousands(found.len() as u64)) } }
        }
        p.note { "Intents become pending with the change that records them; the age of the oldest is the lag of the workers. At most 50 intents of a partition are read." }
    }
}

/// Returns the time at which the oldest intent in the given rows was recorded. If an attempt was noted in a row, the row's Timestamp has changed; the
/// recorded time is then in `Version`.
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
                        td.num { (count(waiting.pending.len())) }
                        td { @match oldest(&waiting.pending) { Some(at) => (show::instant(at)), None => span.faint { "–" } } }
                        td.num { @if waiting.poison.is_empty() { "0" } @else { a href=(under(waiting, POISON_PREFIX)) { span.badge.warn { (count(waiting.poison.len())) } } } }
                        td { @if let Some(reason) = waiting.poison.iter().chain(&waiting.pending).find_map(reason) { (show::stored(reason)) } }
                    }
                } }
            }
        }
    }
}

fn under(waiting: &Waiting, prefix: &str) -> String {
    link::to(&link::table(&waiting.table, "p"), &[("pk", &waiting.partition_key), ("under", prefix)])
}

fn count(rows: usize) -> String {
    if rows == ROWS { format!("{rows}+") } else { rows.to_string() }
}

fn reason(row: &TableEntity) -> Option<&str> {
    match row.get("Error") {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Returns the outbox that uses a queue, for access to its poison queue.
fn outbox(
    context: &Context<'_>,
    queue: &str,
) -> Result<Outbox<table_core::DynTableStore, table_core::queue::DynQueueStore>> {
    let missing = || Failure::Refused("the explorer has no queues of this store".to_owned());
    let queues = context.state.source.queues.clone().ok_or_else(missing)?;
    Ok(Outbox::new(context.reader.shared(), queues, QueueName::new(queue)?))
}

async fn entries(context: &Context<'_>, queue: &str) -> Result<Vec<PoisonEntry>> {
    context.reader.count(1);
    Ok(outbox(context, queue)?.poison(ENTRIES).await?)
}

fn poison(context: &Context<'_>, queue: &str, entries: &[PoisonEntry]) -> Markup {
    html! {
        @if entries.is_empty() { p.empty { "The queue has no poison." } }
        @else {
            div.wrap tabindex="0" role="region" aria-label="Poison" {
                table.grid {
                    thead { tr { th scope="col" { "Set aside" } th scope="col" { "Reason" } th.num scope="col" { "Attempts" } th scope="col" { "Work" } th scope="col" { span.hidden { "Requeue" } } } }
                    tbody { @for entry in entries { tr {
                        td { @if let Some(at) = ticks::to_datetime(entry.at) { (show::instant(at)) } }
                        td.long { (show::stored(entry.error.as_deref().unwrap_or("unknown"))) }
                        td.num { (entry.attempts) }
                        td.mono.long { (show::stored(&entry.work)) }
                        td {
                            @if context.state.is_writable {
                                form method="post" action="/work/requeue" {
                                    input type="hidden" name="csrf" value=(context.state.session.form_token());
                                    input type="hidden" name="queue" value=(queue);
                                    input type="hidden" name="work" value=(entry.work);
                                    button.btn type="submit" { "Requeue" }
                                }
                            }
                        }
                    } } }
                }
            }
        }
    }
}

/// Requeues one entry of the poison queue.
pub(crate) async fn requeue(context: &Context<'_>) -> Result<Response<Body>> {
    if !context.state.is_writable {
        let text = "changes are off; start the explorer with `--write` to requeue work";
        return Err(Failure::Refused(text.to_owned()));
    }
    let field = |name| context.request.field(name).unwrap_or_default();
    let (queue, work) = (field("queue"), returned(field("work")));
    if outbox(context, queue)?.requeue_poison_if(|entry| returned(&entry.work) == work).await? == 0 {
        let text =
            "the queue has no such entry, or another process has taken it; load the page of the queue again";
        return Err(Failure::Refused(text.to_owned()));
    }
    Ok(response::see_other(&link::to("/work", &[("queue", queue)])))
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
        // The notes in the rows were written later.
        let rows =
            [row("1").with("Version", version(at(7))), row("2").with("Version", version(at(5))), row("3")];
        assert_eq!(oldest(&rows), DateTime::from_timestamp(5 * 3_600, 0));
    }
}
