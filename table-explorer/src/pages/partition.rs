//! The page for one partition, which shows a page of rows in key order.

use std::ops::Bound;

use http::Response;
use maud::{Markup, html};
use table_core::query::{KeyRange, TextRange};
use table_core::schema::{StoredPiece, StoredSchema};
use table_core::{Continuation, Query, TableName};
use table_inspect::kind::{self, Kind, RESERVED};

use crate::design;
use crate::failure::Result;
use crate::frame::Frame;
use crate::grid::{self, Grid};
use crate::index_state;
use crate::keyed::Keyed;
use crate::link;
use crate::pages::{Context, bulk, entity, load};
use crate::response::{self, Body};
use crate::selection::Selection;
use crate::show;

/// The default and maximum number of rows per page.
const ROWS: usize = 50;
const MOST: usize = 1_000;

pub(crate) async fn page(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    let request = context.request;
    let partition_key = request.required("pk")?;
    let under = request.query("under").unwrap_or_default();
    let from: Option<Continuation> = request.query("from").map(str::parse).transpose()?;
    let mut row_key = TextRange::prefix(under);
    if let Some(at) = request.query("at") {
        row_key.intersect(&TextRange { lower: Bound::Included(at.to_owned()), upper: Bound::Unbounded });
    }
    let top = request.query("rows").and_then(|rows| rows.parse().ok()).unwrap_or(ROWS).clamp(1, MOST);
    let query = Query { top: Some(top), ..Query::new(KeyRange::rows(partition_key, row_key)) };
    let page = context.reader.page(table, &query, from.as_ref()).await?;
    let rows = Keyed::all(table.as_str(), &page.rows, context.known.of_rows(table));
    let grid = Grid::new(table, &rows).with_marks(bulk::is_allowed(context, table)).with_selection();
    let label = rows.first().map_or_else(|| show::raw_key(partition_key), Keyed::partition_key);
    let main = html! {
        h1 { span.part { (label) } }
        p.sub {
            "A partition of " a href=(link::table(table, "")) { (table) }
            " · " a href=(Selection::of_partition(partition_key).link(table, "q", &[])) { "Query" }
            " · " a href=(link::to(&link::table(table, "layout"), &[("pk", partition_key)])) { "Layout" }
            @if has_feed(context, table) { " · " a href=(link::to(&link::table(table, "feed"), &[("pk", partition_key)])) { "Change feed" } }
        }
        @if let Kind::Entity(schema) | Kind::Index(schema, _) = grid.main() { (design::line(schema, states(context, table, schema).as_ref())) }
        (tabs(context, table, partition_key, under))
        @if rows.is_empty() {
            p.empty { "No rows here." @if page.next.is_some() { " The store returned an empty page, and more follow." } }
        }
        // The script appends the rows of further pages to the first page's grid, so the grid is rendered even without rows.
        @if !rows.is_empty() || from.is_some() || page.next.is_some() { (grid.render("Rows of the partition")) }
        (foot(context, table, (partition_key, under), rows.len(), page.read, page.next.as_ref()))
    };
    let frame = Frame {
        title: if partition_key.is_empty() { "(empty)".to_owned() } else { partition_key.to_owned() },
        crumbs: vec![(table.as_str().to_owned(), link::table(table, ""))],
        table: Some(table),
        partition: Some(partition_key),
        here: "",
        main,
        aside: Some(aside(context, table, partition_key, &rows)),
    };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

fn has_feed(context: &Context<'_>, table: &TableName) -> bool {
    context.known.of(table).any(|schema| schema.keeps.iter().any(|word| word == "feed"))
}

/// Returns the `RowKey` prefixes that distinguish kinds of rows, each with the names of its kinds.
fn beginnings(context: &Context<'_>, table: &TableName) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for kind in kind::of_table(table.as_str(), context.known.of_rows(table)) {
        let Some((_, row_key)) = kind.pieces() else { continue };
        let Some(StoredPiece::Literal(beginning)) = row_key.first() else { continue };
        match found.iter_mut().find(|(known, _)| known == beginning) {
            Some((_, names)) => names.push(kind.name().to_owned()),
            None => found.push((beginning.clone(), vec![kind.name().to_owned()])),
        }
    }
    found
}

fn tabs(context: &Context<'_>, table: &TableName, partition_key: &str, under: &str) -> Markup {
    let mut beginnings = beginnings(context, table);
    if beginnings.is_empty() {
        return html! {};
    }
    beginnings.push((RESERVED.to_string(), vec!["feeds and pending work".to_owned()]));
    let address =
        |beginning: &str| link::to(&link::table(table, "p"), &[("pk", partition_key), ("under", beginning)]);
    html! {
        nav.tabs aria-label="Kinds of rows" {
            a href=(link::partition(table, partition_key)) aria-current=[under.is_empty().then_some("true")] { "All rows" }
            @for (beginning, names) in &beginnings {
                a href=(address(beginning)) aria-current=[(under == beginning).then_some("true")] {
                    (show::text(&names.join(", "))) @if !beginning.starts_with(RESERVED) { " " span.lit { (show::text(beginning)) } }
                }
            }
        }
    }
}

fn foot(
    context: &Context<'_>,
    table: &TableName,
    (partition_key, under): (&str, &str),
    rows: usize,
    read: u64,
    next: Option<&Continuation>,
) -> Markup {
    let address = |from: Option<&str>| {
        let mut query = vec![("pk", partition_key)];
        query.extend((!under.is_empty()).then_some(("under", under)));
        for name in ["at", "rows"] {
            query.extend(context.request.query(name).filter(|_| from.is_some()).map(|value| (name, value)));
        }
        query.extend(from.map(|from| ("from", from)));
        link::to(&link::table(table, "p"), &query)
    };
    let is_first = context.request.query("from").or(context.request.query("at")).is_none();
    html! {
        div.foot {
            span { (show::count_of(rows as u64, "row")) " shown, " (show::thousands(read)) " read · " @if context.is_ordered() { "order of the store" } @else { "in no order" } }
            span.grow {}
            form.jump action=(link::table(table, "jump")) aria-label="Jump" {
                input type="hidden" name="in" value=(form_urlencoded::Serializer::new(String::new()).extend_pairs([("pk", partition_key), ("under", under)]).finish());
                input name="at" aria-label="RowKey to jump to" placeholder="jump to a RowKey" value=(context.request.query("at").unwrap_or_default()) autocomplete="off" spellcheck="false";
            }
            span.hint aria-hidden="true" { kbd { "j" } " " kbd { "k" } " rows · " kbd { "r" } " raw keys" }
            @if (rows > 0 || next.is_some()) && bulk::is_allowed(context, table) { (bulk::button(context, table)) }
            @if !is_first { a.btn.first href=(address(None)) { "First page" } }
            @match next {
                Some(next) => a.btn.next data-next href=(address(Some(&next.to_string()))) { "Next page" },
                None => span.faint data-next { "end of the partition" },
            }
        }
    }
}

/// Opens the partition at a key. The form's partition key is encoded, because some characters could change the page's text direction.
pub(crate) fn jump(context: &Context<'_>, table: &TableName) -> Response<Body> {
    let within = context.request.query("in").unwrap_or_default();
    let mut pairs: Vec<(String, String)> = form_urlencoded::parse(within.as_bytes()).into_owned().collect();
    pairs.retain(|(name, value)| name == "pk" || name == "under" && !value.is_empty());
    pairs.extend(context.request.query("at").map(|at| ("at".to_owned(), at.to_owned())));
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    response::see_other(&link::to(&link::table(table, "p"), &pairs))
}

/// Returns the cached states of an entity type's indexes and the time they were read, or `None` if they have never been read.
fn states(context: &Context<'_>, table: &TableName, schema: &StoredSchema) -> Option<Markup> {
    let kept = context.state.catalog.states(table)?;
    let (at, states) = &*kept;
    Some(html! {
        (index_state::badges(states, &schema.entity))
        @if !schema.indexes.is_empty() { span.faint.as-of { "as of " (show::instant(*at)) } }
    })
}

/// Returns the detail pane, with the selected row (initially the first), the partition's load, and the kinds of rows on the page.
fn aside(context: &Context<'_>, table: &TableName, partition_key: &str, rows: &[Keyed<'_>]) -> Markup {
    let kinds = grid::counts(rows);
    html! {
        @if let Some(first) = rows.first() { (entity::detail(context, table, first)) }
        @if let Some(load) = load::of_partition(context.state, table, partition_key) { (load) }
        h2 { "On this page" }
        dl.counts { @for (kind, count) in &kinds { dt { (grid::kind_label(kind)) } dd { (count) } } }
    }
}
