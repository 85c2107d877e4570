//! The list of tables.

use std::sync::Arc;

use http::Response;
use maud::{Markup, html};
use table_core::embedded::TableStatistics;
use table_core::{Engine, TableName};

use crate::failure::Result;
use crate::frame::Frame;
use crate::link;
use crate::pages::Context;
use crate::response::{self, Body};
use crate::show;

/// The maximum size of an engine, in bytes, whose tables are counted automatically.
const SMALL: u64 = 64 << 20;

/// Shows the tables of the store, and refreshes the catalog.
pub(crate) async fn page(context: &Context<'_>) -> Result<Markup> {
    let known = context.state.catalog.read(&context.state.source.tables).await?;
    let counts = match &context.state.source.engine {
        Some(engine) if context.request.query("count").is_some() || is_small(engine)? => {
            Some(count(engine.clone(), Arc::clone(&known)).await)
        }
        _ => None,
    };
    let count_of = |at: usize| counts.as_ref().and_then(|counts| counts.get(at)).and_then(Option::as_ref);
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
                        @if counts.is_some() { th.num scope="col" { "Rows" } th.num scope="col" { "Partitions" } th.num scope="col" { "Bytes" } }
                    } }
                    tbody { @for (at, name) in known.tables.iter().enumerate() { (row(&known, name, counts.is_some(), count_of(at))) } }
                }
            }
            @if counts.is_none() && context.state.source.engine.is_some() {
                p.foot { a.btn href="/?count=1" { "Count rows and bytes" } span { "reads every table once" } }
            }
        }
    };
    let frame = Frame { title: "Tables".to_owned(), here: "/", main, ..Frame::default() };
    Ok(frame.render(context.state, &known))
}

fn row(
    known: &crate::catalog::Known,
    name: &TableName,
    is_counted: bool,
    count: Option<&TableStatistics>,
) -> Markup {
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
            @if is_counted {
                @match count {
                    Some(found) => {
                        td.num { (show::thousands(found.rows)) }
                        td.num { (show::thousands(found.partitions)) }
                        td.num { (show::scaled(found.bytes)) }
                    }
                    None => { td.num.faint { "–" } td.num.faint { "–" } td.num.faint { "–" } }
                }
            }
        }
    }
}

fn is_small(engine: &Engine) -> Result<bool> {
    let found = engine.statistics()?;
    Ok(found.base_bytes.saturating_add(found.memtable_bytes as u64) <= SMALL)
}

/// Counts tables on a blocking thread. A table that was deleted in the meantime has no count.
async fn count(engine: Engine, known: Arc<crate::catalog::Known>) -> Vec<Option<TableStatistics>> {
    let all = move || known.tables.iter().map(|name| engine.table_statistics(name).ok()).collect();
    tokio::task::spawn_blocking(all).await.unwrap_or_default()
}

/// Opens the first table whose name starts with the text, or the list.
pub(crate) fn find(context: &Context<'_>) -> Response<Body> {
    let text = context.request.query("q").unwrap_or_default().to_ascii_lowercase();
    let begins = |name: &&TableName| name.folded().starts_with(&text);
    let exact = context.known.tables.iter().find(|name| name.folded() == text);
    let found = exact.or_else(|| context.known.tables.iter().find(begins).filter(|_| !text.is_empty()));
    response::see_other(&found.map_or_else(|| "/".to_owned(), |name| link::table(name, "")))
}
