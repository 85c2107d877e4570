//! The page for one table, which shows its partitions and its schemas or, if none is stored, an inferred declaration.

use std::ops::Bound;

use maud::{Markup, html};
use table_core::query::KeyRange;
use table_core::schema::StoredSchema;
use table_core::{Query, TableName};
use table_inspect::infer;
use table_inspect::kind::Kind;

use crate::design;
use crate::failure::Result;
use crate::frame::{self, Frame};
use crate::index_state;
use crate::keyed;
use crate::link;
use crate::pages::{Context, indexes};
use crate::show;
use crate::tree::{self, Branch, Branches, Place};

/// The number of rows sampled to infer a declaration if no schema is stored.
const SAMPLE: usize = 200;
/// The width of the bar for the largest partition.
const BAR: usize = 120;

pub(crate) async fn page(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    let schemas: Vec<&StoredSchema> = context.known.of(table).collect();
    let place = place(context)?;
    let is_first = place.lower == Bound::Unbounded && place.from.is_none();
    let found = tree::branches(&context.reader, table, place).await?;
    if is_first {
        context.state.catalog.keep_tree(table, &found.branches);
    }
    let names: Vec<&str> = schemas.iter().map(|schema| schema.entity.as_str()).collect();
    // The sample is read only on the first page of partitions.
    let looks = if schemas.is_empty() && is_first { Some(sample(context, table).await?) } else { None };
    let states = indexes::states(context, table).await?;
    let main = html! {
        h1 { (table) }
        p.sub {
            @if names.is_empty() { "No schema is stored for this table" @if context.known.unread_of(table).next().is_some() { " that this version can read" } "." }
            @else { "Holds " (show::text(&names.join(", "))) }
            " · " a href="#partitions" { "Partitions" }
            " · " a href=(link::table(table, "q")) { "Query" }
            @if context.state.is_writable && context.declared(table).is_empty() { " · " a href=(link::table(table, "new")) { "Insert" } " · " a href=(link::table(table, "paste")) { "Paste rows" } }
        }
        @for unread in context.known.unread_of_rows(table) {
            div.report role="status" { p {
                span.badge.warn { "unreadable" } " The schema of " (show::text(&unread.entity)) " is not shown, "
                @if unread.table == table.folded() { "the table is not changed here, " }
                "and keys are shown as they are stored"
                @if let Err(error) = &unread.schema { ": " (show::text(&error.to_string())) }
            } }
        }
        @if let Some(change) = context.state.catalog.change(table) {
            p.note {
                "Last change of several rows: " (show::count_of(change.done as u64, "row")) " " (change.verb)
                @if change.failed > 0 { ", " (show::thousands(change.failed as u64)) " refused or unknown" } ", " (show::instant(change.at)) "."
            }
        }
        @for schema in &schemas {
            section.entity aria-label={ "Design of " (show::text(&schema.entity)) } {
                h2 { (show::text(&schema.entity)) }
                (design::line(schema, Some(&index_state::badges(&states, &schema.entity))))
                (design::picture(schema))
                (design::properties(schema))
            }
        }
        @if let Some(text) = &looks {
            section aria-label="Keys" {
                h2 { "Inferred declaration" }
                p.note { "A declaration that reads and writes the first rows, as " code { "tables infer" } " writes it:" }
                pre.source tabindex="0" { (show::text(text)) }
            }
        }
        section aria-label="Partitions" {
            h2 #partitions { "Partitions" }
            @if !context.is_ordered() { p.note { "The store returns rows in no order: a partition may be on several pages, and a jump to a key has no effect." } }
            @if found.branches.is_empty() && found.next.is_some() { p.empty { "The store returned empty pages, and more follow." } }
            @else if found.branches.is_empty() { p.empty { "The table has no rows" @if !is_first { " behind this place" } "." } }
            @if !found.branches.is_empty() || !is_first || found.next.is_some() { (partitions(table, schemas.first().copied(), &found.branches)) }
            (foot(context, table, &found, is_first))
        }
    };
    let address = link::table(table, "");
    let frame = Frame {
        title: table.as_str().to_owned(),
        table: Some(table),
        here: &address,
        main,
        ..Frame::default()
    };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

/// Returns the start of the requested page of partitions.
fn place(context: &Context<'_>) -> Result<Place> {
    let key = |name: &str| context.request.required(name).ok().map(str::to_owned);
    let at = key("at").filter(|at| !at.is_empty());
    let lower =
        key("after").map(Bound::Excluded).or_else(|| at.map(Bound::Included)).unwrap_or(Bound::Unbounded);
    Ok(Place { lower, from: context.request.query("from").map(str::parse).transpose()? })
}

/// Returns the URL of the page of partitions that starts at `place`.
fn address(table: &TableName, Place { lower, from }: &Place) -> String {
    let lower = match lower {
        Bound::Excluded(after) => Some(("after", after.clone())),
        Bound::Included(at) => Some(("at", at.clone())),
        Bound::Unbounded => None,
    };
    let from = from.as_ref().map(|from| ("from", from.to_string()));
    let pairs: Vec<_> = lower.into_iter().chain(from).collect();
    link::to(&link::table(table, ""), &pairs)
}

/// Returns the form for jumping to a `PartitionKey`, and links to other pages of partitions.
fn foot(context: &Context<'_>, table: &TableName, found: &Branches, is_first: bool) -> Markup {
    html! {
        div.foot {
            @if context.state.source.engine.is_some() { a.btn href=(link::table(table, "size")) { "Partitions by size" } span { "reads the table once" } }
            span.grow {}
            form.jump action=(link::table(table, "")) aria-label="Jump" {
                input name="at" aria-label="PartitionKey to jump to" placeholder="jump to a PartitionKey" value=(context.request.query("at").unwrap_or_default()) autocomplete="off" spellcheck="false";
            }
            @if !is_first { a.btn.first href={ (link::table(table, "")) "#partitions" } { "First partitions" } }
            @match &found.next {
                Some(next) => a.btn.next data-next href=(address(table, next)) { "More partitions" },
                None => span.faint data-next { "end of the table" },
            }
        }
    }
}

/// Returns the declaration inferred from the table's first rows.
async fn sample(context: &Context<'_>, table: &TableName) -> Result<String> {
    let query = Query { top: Some(SAMPLE), ..Query::new(KeyRange::ALL) };
    let rows = context.reader.first(table, &query).await?.rows;
    Ok(infer::infer(table.as_str(), &rows).to_string())
}

fn partitions(table: &TableName, schema: Option<&StoredSchema>, branches: &[Branch]) -> Markup {
    let most = branches.iter().map(|branch| branch.rows).max().unwrap_or(1).max(1);
    html! {
        div.wrap.rows tabindex="0" role="region" aria-label="Partitions" {
            table.grid {
                thead { tr {
                    th scope="col" { @match schema { Some(schema) => (keyed::pattern(&Kind::Entity(schema), &schema.partition_key)), None => "PartitionKey" } small { "PartitionKey" } }
                    th.num scope="col" { "Rows" small { "counted" } }
                    th scope="col" { "Size" small { "of those counted" } }
                } }
                tbody { @for branch in branches { (row(table, schema, branch, most)) } }
            }
        }
        p.note { "A count with + is a lower bound: the tree reads at most 100 keys of a large partition and skips to the next one." }
    }
}

fn row(table: &TableName, schema: Option<&StoredSchema>, branch: &Branch, most: usize) -> Markup {
    let width = branch.rows * BAR / most;
    html! {
        tr {
            td { a.key href=(link::partition(table, &branch.partition_key)) { (frame::partition_name(schema, &branch.partition_key)) } }
            td.num { (show::thousands(branch.rows as u64)) @if !branch.is_whole { "+" } }
            td { (frame::bar(width as u64, BAR as u64)) }
        }
    }
}
