//! The page for the busiest partitions. Requests are counted as they are handled, and the browser receives updates as server-sent events.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use maud::{Markup, html};
use table_core::{QueueName, TableName};
use table_inspect::load::{BusyPartition, PartitionLoad};

use crate::catalog::Known;
use crate::chart;
use crate::failure::{Failure, Result};
use crate::frame::{self, Frame};
use crate::link;
use crate::pages::Context;
use crate::response::{self, Body};
use crate::show;
use crate::state::State;

/// The number of partitions shown.
const SHOWN: usize = 25;
/// The width of the bar for the busiest partition.
const BAR: u64 = 200;
/// The service's scalability target for a partition: 2,000 entities per second (SCL-1), here per minute.
const TARGET: u64 = 2_000 * 60;
/// The interval between two events.
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) fn page(context: &Context<'_>) -> Markup {
    let main = if let Some(load) = &context.state.source.load {
        html! {
            h1 { "Heat of partitions" }
            p.sub { "Requests of programs to each partition, as this process handles them. Requests of these pages, and requests that span partitions, are not counted." }
            (rows(load, &context.known))
            p.note { "The share is that of the 2,000 entities a second that the service lets a partition take." }
        }
    } else {
        html! {
            h1 { "Heat of partitions" }
            (without_source(context))
        }
    };
    let frame = Frame { title: "Heat of partitions".to_owned(), here: "/load", main, ..Frame::default() };
    frame.render(context.state, &context.known, context.reader.cost())
}

/// Returns an explanation of why no requests are counted, with links to partition sizes if known.
fn without_source(context: &Context<'_>) -> Markup {
    html! {
        p.empty { "No requests of other programs pass through this explorer. " code { "tables serve --explore" } " shows the requests that it serves." }
        @if context.state.source.engine.is_some() && !context.known.tables.is_empty() {
            h2 { "Sizes instead" }
            p.note { "The page of a table counts the sampled keys of its partitions; these links read a table once." }
            ul.plain { @for name in &context.known.tables { li { a href=(link::table(name, "size")) { (name) ", partitions by size" } } } }
        }
    }
}

/// Returns the live part of the page: a summary, and the busiest partitions of the last minute.
fn rows(load: &PartitionLoad, known: &Known) -> Markup {
    let mut busiest = load.busiest();
    busiest.sort_by_key(|one| std::cmp::Reverse((one.last_minute(), one.last_hour())));
    busiest.truncate(SHOWN);
    let most = busiest.iter().map(BusyPartition::last_minute).max().unwrap_or(0).max(1);
    html! {
        div #load data-events="/load/events" {
            p #load-sum { b { (show::thousands(load.last_minute())) } " requests in the last minute" @if let Some(first) = busiest.first() { ", most to " span.busiest { (name(first, known)) } } }
            @if busiest.is_empty() { p.empty { "No request in the last hour." } } @else {
                div.wrap tabindex="0" role="region" aria-label="Busiest partitions" {
                    table.grid {
                        thead { tr {
                            th scope="col" { "Partition" }
                            th scope="col" { "Table" }
                            th.num scope="col" { "Requests" small { "last minute" } }
                            th scope="col" { span.hidden { "Bar of requests" } }
                            th.num scope="col" { "Share" small { "of the target" } }
                            th.num scope="col" { "Requests" small { "last hour" } }
                            th scope="col" { "Minutes" small { "last hour" } }
                        } }
                        tbody { @for one in &busiest { (row(one, known, most)) } }
                    }
                }
            }
        }
    }
}

fn row(one: &BusyPartition, known: &Known, most: u64) -> Markup {
    let minute = one.last_minute();
    html! {
        tr {
            td { a.key href=(address(one)) { (name(one, known)) } }
            td { @if one.table.is_empty() { span.faint { "a queue" } } @else { (show::text(spelling(&one.table, known))) } }
            td.num { (show::thousands(minute)) }
            td { (frame::bar(minute.saturating_mul(BAR) / most, BAR)) }
            td.num { (share(minute)) }
            td.num { (show::thousands(one.last_hour())) }
            td { (chart::spark(&one.minutes, &describe(one))) }
        }
    }
}

/// Formats a number of requests in one minute as a percentage of the service's scalability target for a partition.
pub(crate) fn share(minute: u64) -> String {
    let tenths = minute.saturating_mul(1_000) / TARGET;
    if minute > 0 && tenths == 0 {
        "< 0.1 %".to_owned()
    } else {
        format!("{}.{} %", tenths / 10, tenths % 10)
    }
}

/// Returns the accessible description of a partition's sparkline.
pub(crate) fn describe(one: &BusyPartition) -> String {
    let most = one.minutes.iter().max().copied().unwrap_or(0);
    format!(
        "{} in the last hour, at most {} in a minute",
        show::count_of(one.last_hour(), "request"),
        show::thousands(u64::from(most))
    )
}

fn spelling<'a>(folded: &'a str, known: &'a Known) -> &'a str {
    known.tables.iter().find(|name| name.folded() == folded).map_or(folded, TableName::as_str)
}

fn address(one: &BusyPartition) -> String {
    match (TableName::new(&one.table), QueueName::new(&one.partition_key)) {
        (Ok(table), _) => link::partition(&table, &one.partition_key),
        (Err(_), Ok(queue)) => link::to("/queues", &[("name", queue.as_str())]),
        _ => "/".to_owned(),
    }
}

fn name(one: &BusyPartition, known: &Known) -> Markup {
    let table = TableName::new(&one.table).ok();
    let schema = table.as_ref().and_then(|table| known.of(table).next());
    frame::partition_name(schema, &one.partition_key)
}

/// Streams the live part of the page as server-sent events, one per change.
pub(crate) fn events(context: &Context<'_>) -> Result<Response<Body>> {
    let missing = || Failure::NotFound("no requests are counted here".to_owned());
    let load = context.state.source.load.clone().ok_or_else(missing)?;
    let begin = (Arc::clone(context.state), load, None::<String>);
    let chunks = stream::unfold(begin, |(state, load, last)| async move {
        if last.is_some() {
            tokio::time::sleep(PAUSE).await;
        }
        let known = state.catalog.known(&state.source.tables).await.ok()?;
        let markup = rows(&load, &known).into_string().replace(['\r', '\n'], " ");
        let chunk = if last.as_ref() == Some(&markup) {
            // A comment in the event stream. Sending it reveals a closed connection.
            Bytes::from_static(b": still here\n\n")
        } else {
            Bytes::from(format!("data: {markup}\n\n"))
        };
        Some((Ok(chunk), (state, load, Some(markup))))
    });
    Ok(response::stream("text/event-stream", chunks))
}

/// Returns one partition's load in the last hour, for its detail pane, or `None` if requests are not counted.
pub(crate) fn of_partition(state: &State, table: &TableName, partition_key: &str) -> Option<Markup> {
    let load = state.source.load.as_ref()?;
    let found = load.of(table.folded(), partition_key);
    Some(html! {
        h2 { "This partition, last hour" }
        @match &found {
            Some(one) => {
                (chart::spark(&one.minutes, &describe(one)))
                @let most = u64::from(one.minutes.iter().max().copied().unwrap_or(0));
                p.note { (show::count_of(most, "request")) " a minute at most: " (share(most)) " of the service's target for a partition. " a href="/load" { "All partitions" } }
            }
            None => p.note { "None of the busiest partitions. " a href="/load" { "All partitions" } },
        }
    })
}
