//! The page for a partition's change feed, which shows the newest entries and adds new ones as they are written.

mod position;

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use maud::{Markup, html};
use table_core::{EntityKey, PartitionKey, TableName, ticks};
use table_patterns::feed::{Cursor, Feed, FeedEntry};

use crate::failure::Result;
use crate::frame::Frame;
use crate::link;
use crate::pages::Context;
use crate::reader::{Cost, Counted, Reader};
use crate::response::{self, Body};
use crate::show;

/// The number of entries shown initially.
const ENTRIES: usize = 100;
/// The polling interval while the feed has no new entries.
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn page(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    let partition_key = PartitionKey::new(context.request.required("pk")?)?;
    let feed = Feed::new(context.reader.store());
    let end = feed.end(table, &partition_key).await?;
    let upper = context.request.query("until").and_then(|until| until.parse().ok());
    let upper = upper.unwrap_or_else(|| position::number(&end)).min(position::number(&end));
    let from = position::at(&end, upper.saturating_sub(ENTRIES as u64));
    let mut entries = feed.read(table, &partition_key, &from, ENTRIES).await?;
    entries.retain(|entry| position::number(&entry.cursor) <= upper);
    let is_newest = upper == position::number(&end);
    let events = is_newest.then(|| {
        let from = position::text(&end);
        link::to(&link::table(table, "events"), &[("pk", partition_key.as_str()), ("from", &from)])
    });
    let main = html! {
        h1 { "Change feed" }
        p.sub {
            "Of partition " a href=(link::partition(table, partition_key.as_str())) { (show::raw_key(partition_key.as_str())) }
            " · " span #feed-state role="status" { (show::count_of(entries.len() as u64, "entry")) ", newest first" }
        }
        ol #feed data-events=[events] {
            @for entry in entries.iter().rev() { (item(table, &partition_key, entry)) }
        }
        @if entries.is_empty() { p.empty #feed-empty { "The feed has no entries" @if is_newest { "." } @else { " before this one." } } }
        (foot(table, &partition_key, &entries, is_newest))
    };
    let frame = Frame {
        title: "Change feed".to_owned(),
        crumbs: vec![
            (table.as_str().to_owned(), link::table(table, "")),
            (partition_key.as_str().to_owned(), link::partition(table, partition_key.as_str())),
        ],
        table: Some(table),
        partition: Some(partition_key.as_str()),
        main,
        ..Frame::default()
    };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

/// Returns the links to older entries and to the newest entries.
fn foot(table: &TableName, partition_key: &PartitionKey, entries: &[FeedEntry], is_newest: bool) -> Markup {
    let oldest = entries.first().map(|entry| position::number(&entry.cursor).saturating_sub(1));
    let address = |until: Option<&str>| {
        let until = until.map(|until| ("until", until));
        let query: Vec<_> = [("pk", partition_key.as_str())].into_iter().chain(until).collect();
        link::to(&link::table(table, "feed"), &query)
    };
    html! {
        div.foot {
            span.grow {}
            @if !is_newest { a.btn.first href=(address(None)) { "Newest entries" } }
            @match oldest.filter(|oldest| *oldest > 0) {
                Some(oldest) => a.btn.next href=(address(Some(&oldest.to_string()))) { "Older entries" },
                None => span.faint { "beginning of the feed" },
            }
        }
    }
}

fn item(table: &TableName, partition_key: &PartitionKey, entry: &FeedEntry) -> Markup {
    let key = EntityKey { partition_key: partition_key.clone(), row_key: entry.source.clone() };
    html! {
        li {
            span.number title="number of the change" { (show::thousands(position::number(&entry.cursor))) }
            @if let Some(at) = ticks::to_datetime(entry.timestamp) { (show::instant(at)) " " }
            b { (show::text(&entry.kind)) } " "
            a.key href=(link::entity(table, &key)) { (show::raw_key(entry.source.as_str())) }
        }
    }
}

/// The state of a stream of server-sent events.
struct Events {
    feed: Feed<Counted>,
    /// The reader that counts the feed's requests.
    reader: Reader,
    table: TableName,
    partition_key: PartitionKey,
    /// The cursor just after the last event; `None` if the stream starts at the end of the feed.
    cursor: Option<Cursor>,
    /// `true` once the client has been notified that the stream is live.
    is_begun: bool,
    /// `true` if the last poll found no new entries. The next poll is delayed by [`PAUSE`].
    is_idle: bool,
    /// `true` after a failed poll, which ends the stream.
    is_over: bool,
}

/// Streams the entries that follow the ones on the page as server-sent events, each with the markup of one entry.
///
/// An event's ID is the entry's cursor. A browser sends it back when it reconnects, so no entry is lost.
pub(crate) fn events(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    let last = context.request.headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let from = last.or_else(|| context.request.query("from"));
    let reader = context.state.reader();
    let begin = Events {
        feed: Feed::new(reader.store()),
        reader,
        table: table.clone(),
        partition_key: PartitionKey::new(context.request.required("pk")?)?,
        cursor: from.and_then(position::parse),
        is_begun: false,
        is_idle: false,
        is_over: false,
    };
    let chunks = stream::unfold(begin, |mut events| async move {
        let chunk = events.next().await?;
        Some((Ok(chunk), events))
    });
    Ok(response::stream("text/event-stream", chunks))
}

impl Events {
    /// Returns the next events. `None` ends the stream, and the browser reconnects. If polling fails, the last event contains the error.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        Some(self.poll().await.unwrap_or_else(|error| {
            self.is_over = true;
            let text = show::text(&error.to_string()).replace(['\r', '\n'], " ");
            format!("event: failed\ndata: {text}\n\n").into()
        }))
    }

    async fn poll(&mut self) -> table_core::Result<Bytes> {
        if !std::mem::replace(&mut self.is_begun, true) {
            return Ok(Bytes::from_static(b"event: live\ndata: \n\n"));
        }
        let cursor = match self.cursor.take() {
            Some(cursor) => cursor,
            None => self.feed.end(&self.table, &self.partition_key).await?,
        };
        if std::mem::take(&mut self.is_idle) {
            tokio::time::sleep(PAUSE).await;
        }
        let entries = self.feed.read(&self.table, &self.partition_key, &cursor, ENTRIES).await?;
        self.cursor = Some(entries.last().map_or(cursor, |last| last.cursor.clone()));
        self.is_idle = entries.is_empty();
        let event = |entry: &FeedEntry| {
            let markup = item(&self.table, &self.partition_key, entry).into_string();
            let (id, data) = (position::text(&entry.cursor), markup.replace(['\r', '\n'], " "));
            format!("id: {id}\ndata: {data}\n\n")
        };
        // The cost is sent after each poll, even without new entries, because only a failed send reveals a closed connection.
        let Cost { requests, rows, omitted } = self.reader.cost();
        let cost = format!("event: cost\ndata: {requests} {rows} {omitted}\n\n");
        Ok(entries.iter().map(event).chain([cost]).collect::<String>().into())
    }
}
