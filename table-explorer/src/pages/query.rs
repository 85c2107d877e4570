//! The page for building queries from key parts and properties, which shows a query's plan before it runs.

mod form;

use maud::{Markup, html};
use table_core::query::{Plan, QueryClass, Requests};
use table_core::{Continuation, Query, TableName};
use table_inspect::kind::Kinds;

use crate::failure::{Failure, Result};
use crate::frame::Frame;
use crate::grid::Grid;
use crate::keyed::Keyed;
use crate::link;
use crate::pages::form_query::{self, FormQuery};
use crate::pages::{Context, bulk, queries, recipe};
use crate::selection::Selection;
use crate::show;

/// The price of one request to a storage account, in 10⁻¹² dollars. This is 0.036 cents per 10,000 requests.
const PRICE: u64 = 36_000;

pub(crate) async fn page(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    let selection = form_query::selection(context, table);
    let built = FormQuery::new(context, table, &selection);
    let is_asked = context.request.query("run").is_some();
    let (plan, result) = match &built {
        Ok(built) => {
            let result = if is_asked {
                run(context, table, &selection, built).await?
            } else {
                html! {}
            };
            (plan(context, table, built), result)
        }
        Err(failure) => (refusal(failure), html! {}),
    };
    let copies =
        built.as_ref().map_or_else(|_| html! {}, |built| recipe::copies(context, table, &selection, built));
    let is_first = is_asked && built.is_ok() && context.request.query("from").is_none();
    // The result is shown even if the history cannot be written.
    let unrecorded = if is_first { queries::record(context, table, &selection).await.err() } else { None };
    let main = html! {
        h1 { "Query " (table) }
        (form::render(context, table, &selection, &plan))
        (result)
        @if let Some(failure) = &unrecorded { p.note { "The history was not written: " (show::text(&failure.to_string())) } }
        (copies)
        @if is_asked && built.is_ok() { (queries::form(context, table, &selection)) }
    };
    let address = link::table(table, "q");
    let frame = Frame {
        title: "Query".to_owned(),
        crumbs: vec![(table.as_str().to_owned(), link::table(table, ""))],
        table: Some(table),
        here: &address,
        main,
        ..Frame::default()
    };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

/// Returns only the plan, which the script shows while the user edits a condition.
pub(crate) fn fragment(context: &Context<'_>, table: &TableName) -> Markup {
    match FormQuery::new(context, table, &form_query::selection(context, table)) {
        Ok(built) => plan(context, table, &built),
        Err(failure) => refusal(&failure),
    }
}

fn refusal(failure: &Failure) -> Markup {
    html! { div #plan.plan role="status" { span.badge.warn { "not a query" } span { (show::text(&failure.to_string())) } } }
}

fn plan(context: &Context<'_>, table: &TableName, built: &FormQuery) -> Markup {
    let plan = built.query.plan(table);
    let filter = plan.lookups.first().and_then(|lookup| lookup.filter.clone());
    html! {
        div #plan.plan role="status" {
            span { b { (class(plan.class)) } }
            span { (requests(&plan)) }
            @if context.state.source.engine.is_none() { span title="0.036 cents for 10,000 requests of a storage account" { "$" (price()) " a request" } }
            code.filter { @match &filter { Some(filter) => (show::text(filter)), None => "no $filter" } }
            @for warning in &plan.warnings { span.warning { span.badge.warn { (warning.rule) } " " (show::text(&warning.message)) } }
        }
    }
}

fn price() -> String {
    format!("0.{PRICE:012}").trim_end_matches('0').to_owned()
}

const fn class(class: QueryClass) -> &'static str {
    match class {
        QueryClass::Point => "Point query",
        QueryClass::Range => "Range of one partition",
        QueryClass::PartitionScan => "Whole partition",
        QueryClass::PartitionRange => "Range of partitions",
        QueryClass::TableScan => "Whole table",
        QueryClass::FanOut(_) => "Several partitions",
    }
}

fn requests(plan: &Plan) -> Markup {
    html! {
        @match plan.requests {
            Requests::AtMost(count) => { "at most " b { (show::count_of(count as u64, "request")) } }
            Requests::OnePerPage { entities, .. } => { b { "1 request" } " for each page of at most " (show::count_of(entities as u64, "row")) }
        }
    }
}

/// Runs the query with one request. A full table scan with a filter runs only after the user confirms it with another click.
async fn run(
    context: &Context<'_>,
    table: &TableName,
    selection: &Selection,
    built: &FormQuery,
) -> Result<Markup> {
    let is_scan = built.query.keys.class() == QueryClass::TableScan && built.query.filter.is_some();
    let is_confirmed = context.request.query("scan").is_some();
    if is_scan && !is_confirmed {
        return Ok(html! {
            section.report aria-label="Scan" {
                p { "This query reads the whole table to find its rows. Give a part of the key to read less." }
                p { a.btn href=(selection.link(table, "q", &[("run", "1"), ("scan", "1")])) { "Scan the table, page by page" } }
            }
        });
    }
    let from: Option<Continuation> = context.request.query("from").map(str::parse).transpose()?;
    // The kind of a row may depend on `EntityType`, so this property is read even if it is not selected. The grid does not show it.
    let select = Kinds::new(table.as_str(), context.known.of_rows(table)).select(&built.query.select);
    let query = Query { select, ..built.query.clone() };
    let page = context.reader.page_of(table, &query, built.entities.as_ref(), from.as_ref()).await?;
    let rows = Keyed::all(table.as_str(), &page.rows, context.known.of_rows(table));
    let next = page.next.as_ref().map(ToString::to_string);
    let address = |from: Option<&str>| {
        let scan = is_confirmed.then_some(("scan", "1"));
        let more: Vec<_> =
            [("run", "1")].into_iter().chain(scan).chain(from.map(|from| ("from", from))).collect();
        selection.link(table, "q", &more)
    };
    let has_marks = bulk::is_allowed(context, table);
    Ok(html! {
        section aria-label="Result" {
            @if rows.is_empty() { p.empty { "No rows on this page." } }
            @if !rows.is_empty() || from.is_some() || next.is_some() { (Grid::new(table, &rows).with_marks(has_marks).render("Result")) }
            div.foot {
                span { (show::count_of(rows.len() as u64, "row")) " found, " (show::thousands(page.read)) " read" }
                span.grow {}
                @if has_marks && (!rows.is_empty() || next.is_some()) { (bulk::button(context, table)) }
                @if from.is_some() { a.btn.first href=(address(None)) { "First page" } }
                @match &next { Some(next) => a.btn.next data-next href=(address(Some(next))) { "Next page" }, None => span.faint data-next { "end of the result" } }
            }
        }
    })
}
