//! The change feed of a partition: its newest entries, and later entries as they are written.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use maud::{Markup, html};
use table_core::{DynTableStore, EntityKey, PartitionKey, TableName, ticks};
use table_patterns::feed::{Cursor, Feed, FeedEntry};

use crate::failure::Result;
use crate::frame::Frame;
use crate::link;
use crate::pages::Context;
use crate::response::{self, Body};
use crate::show;

/// The number of entries that the page shows initially.
const ENTRIES: usize = 100;
/// The polling interval if the feed has no new entries.
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn page(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    let partition_key = PartitionKey::new(context.request.required("pk")?)?;
    let feed = Feed::new(context.state.source.tables.clone());
    let entries = feed.read(table, &partition_key, &Cursor::default(), ENTRIES).await?;
    let events = link::to(&link::table(table, "events"), &[("pk", partition_key.as_str())]);
    let main = html! {
        h1 { "Change feed" }
        p.sub {
            "Of partition " a href=(link::partition(table, partition_key.as_str())) { (show::raw_key(partition_key.as_str())) }
            " · " span #feed-state role="status" { (show::count_of(entries.len() as u64, "entry")) }
        }
        ol #feed data-events=(events) reversed {
            @for entry in entries.iter().rev() { (item(table, &partition_key, entry)) }
        }
        @if entries.is_empty() { p.empty #feed-empty { "The feed has no entries." } }
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
    Ok(frame.render(context.state, &context.known))
}

fn item(table: &TableName, partition_key: &PartitionKey, entry: &FeedEntry) -> Markup {
    let key = EntityKey { partition_key: partition_key.clone(), row_key: entry.source.clone() };
    html! {
        li {
            @if let Some(at) = ticks::to_datetime(entry.timestamp) { (show::instant(at)) " " }
            b { (show::text(&entry.kind)) } " "
            a.key href=(link::entity(table, &key)) { (show::raw_key(entry.source.as_str())) }
        }
    }
}

/// The position of a stream of events.
struct Events {
    feed: Feed<DynTableStore>,
    table: TableName,
    partition_key: PartitionKey,
    /// The end of the last event; `None` before the first read.
    cursor: Option<Cursor>,
    /// The end of the feed at the last look without an entry.
    is_idle: bool,
}

/// Streams the entries that are written from now on, as server-sent events. Each is the markup of one item.
pub(crate) fn events(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    let begin = Events {
        feed: Feed::new(context.state.source.tables.clone()),
        table: table.clone(),
        partition_key: PartitionKey::new(context.request.required("pk")?)?,
        cursor: None,
        is_idle: false,
    };
    let chunks = stream::unfold(begin, |mut events| async move {
        let chunk = events.next().await?;
        Some((chunk, events))
    });
    Ok(response::stream("text/event-stream", chunks))
}

impl Events {
    /// Waits for the next event. `None` ends the stream, and the browser reconnects.
    async fn next(&mut self) -> Option<Bytes> {
        let Some(cursor) = self.cursor.clone() else {
            self.cursor = Some(self.feed.end(&self.table, &self.partition_key).await.ok()?);
            return Some(Bytes::from_static(b"event: live\ndata: \n\n"));
        };
        if std::mem::take(&mut self.is_idle) {
            tokio::time::sleep(PAUSE).await;
        }
        let entries = self.feed.read(&self.table, &self.partition_key, &cursor, ENTRIES).await.ok()?;
        let Some(last) = entries.last() else {
            self.is_idle = true;
            // An SSE comment, whose failure reveals a closed connection.
            return Some(Bytes::from_static(b": still here\n\n"));
        };
        self.cursor = Some(last.cursor.clone());
        let event = |entry: &FeedEntry| {
            let markup = item(&self.table, &self.partition_key, entry).into_string();
            format!("data: {}\n\n", markup.replace('\n', "&#10;"))
        };
        Some(entries.iter().map(event).collect::<String>().into())
    }
}
