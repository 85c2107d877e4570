//! The page for the list of tables.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use http::Response;
use maud::{Markup, html};
use table_core::TableName;
use table_core::embedded::TableStatistics;

use crate::catalog::Known;
use crate::failure::Result;
use crate::frame::Frame;
use crate::growth::{self, Sample};
use crate::link;
use crate::pages::Context;
use crate::response::{self, Body};
use crate::show;

/// The maximum engine size, in bytes, for counting tables automatically.
const SMALL: u64 = 64 << 20;

/// Shows the tables of the store, and refreshes the catalog.
pub(crate) async fn page(context: &Context<'_>) -> Result<Markup> {
    let known = context.state.catalog.read(&context.reader.shared()).await?;
    let counts = counts(context, &known).await?;
    let main = html! {
        h1 { "Tables" }
        p.sub { (show::count_of(known.tables.len() as u64, "table")) " in " code { (show::text(&context.state.source.name)) } }
        @if known.tables.is_empty() {
            p.empty { "The store has no tables. A program creates them, or " code { "tables put" } " writes the first entity." }
        } @else {
            div.wrap tabindex="0" role="region" aria-label="Tables" {
                table.grid {
                    thead { tr {
                        th scope="col" { "Table" }
                        th scope="col" { "Entities" }
                        th scope="col" { "Follows" }
                        @if counts.is_shown() { th.num scope="col" { "Rows" } @if counts.is_new { th.num scope="col" { "Partitions" } } th.num scope="col" { "Bytes" } }
                    } }
                    tbody { @for (at, name) in known.tables.iter().enumerate() { (row(&known, name, &counts, at)) } }
                }
            }
            @if counts.is_new { p.note { "Rows and bytes were counted by reading every table once. " a href="/growth" { "Growth" } } }
            @else if let Some(at) = counts.oldest { p.note { "Rows and bytes are those of the last counts, the oldest of " (show::instant(at)) ". " a href="/growth" { "Growth" } } }
            @if !counts.is_new && context.state.source.engine.is_some() {
                p.foot { a.btn href="/?count=1" { "Count rows and bytes" } span { "reads every table once" } }
            }
        }
    };
    let frame = Frame { title: "Tables".to_owned(), here: "/", main, ..Frame::default() };
    Ok(frame.render(context.state, &known, context.reader.cost()))
}

/// The table sizes, in page order.
#[derive(Default)]
struct Counts {
    sizes: Vec<Option<Size>>,
    /// `true` if the tables were counted for this request.
    is_new: bool,
    /// The time of the oldest count, or `None` if the tables were counted for this request or have never been counted.
    oldest: Option<DateTime<Utc>>,
}

/// The size of a table. The number of partitions is 0 if the size comes from a sample.
struct Size {
    rows: u64,
    bytes: u64,
    partitions: u64,
}

impl Counts {
    const fn is_shown(&self) -> bool {
        self.is_new || self.oldest.is_some()
    }
}

/// Counts the tables if the store is small or the user requests a count. Otherwise, returns the last counts.
async fn counts(context: &Context<'_>, known: &Arc<Known>) -> Result<Counts> {
    let (growth, store) = (&context.state.growth, context.state.source.names());
    let Some(engine) = &context.state.source.engine else { return Ok(Counts::default()) };
    if context.request.query("count").is_some() || growth::bytes(&engine.statistics()?) <= SMALL {
        let found = growth::count(engine.clone(), Arc::clone(known)).await?;
        growth.counted(store, &known.tables, &found, Utc::now()).await;
        let size = |found: TableStatistics| Size {
            rows: found.rows,
            bytes: found.bytes,
            partitions: found.partitions,
        };
        let sizes = found.into_iter().map(|found| found.map(size)).collect();
        return Ok(Counts { sizes, is_new: true, oldest: None });
    }
    // An unreadable file is reported on the growth page.
    let samples = growth.of(store).await.unwrap_or_default();
    let last = |name: &TableName| samples.get(name.as_str()).and_then(|of| of.last().copied());
    let oldest = known.tables.iter().filter_map(last).map(Sample::at).min();
    let size = |last: Sample| Size { rows: last.rows(), bytes: last.bytes(), partitions: 0 };
    let sizes = known.tables.iter().map(|name| last(name).map(size)).collect();
    Ok(Counts { sizes, is_new: false, oldest })
}

fn row(known: &Known, name: &TableName, counts: &Counts, at: usize) -> Markup {
    let schemas: Vec<_> = known.of(name).collect();
    let entities: Vec<&str> = schemas.iter().map(|schema| schema.entity.as_str()).collect();
    let indexes: usize = schemas.iter().map(|schema| schema.indexes.len()).sum();
    let mut keeps: Vec<&str> = schemas.iter().flat_map(|schema| &schema.keeps).map(String::as_str).collect();
    keeps.sort_unstable();
    keeps.dedup();
    html! {
        tr {
            td { a.key href=(link::table(name, "")) { b { (name) } } }
            td { @if entities.is_empty() { span.faint { "no stored schema" } } @else { (show::text(&entities.join(", "))) } }
            td {
                @if indexes > 0 { span.badge { (show::count_of(indexes as u64, "index")) } " " }
                @for word in keeps { span.badge { (show::text(word)) } " " }
            }
            @if counts.is_shown() {
                @match counts.sizes.get(at).and_then(Option::as_ref) {
                    Some(found) => {
                        td.num { (show::thousands(found.rows)) }
                        @if counts.is_new { td.num { (show::thousands(found.partitions)) } }
                        td.num { (show::scaled(found.bytes)) }
                    }
                    None => { td.num.faint { "–" } @if counts.is_new { td.num.faint { "–" } } td.num.faint { "–" } }
                }
            }
        }
    }
}

/// Redirects to the table with the requested name, otherwise to the first table whose name starts with it, otherwise to the list of tables.
pub(crate) fn find(context: &Context<'_>) -> Response<Body> {
    let text = context.request.query("q").unwrap_or_default().to_ascii_lowercase();
    let begins = |name: &&TableName| name.folded().starts_with(&text);
    let exact = context.known.tables.iter().find(|name| name.folded() == text);
    let found = exact.or_else(|| context.known.tables.iter().find(begins).filter(|_| !text.is_empty()));
    response::see_other(&found.map_or_else(|| "/".to_owned(), |name| link::table(name, "")))
}
