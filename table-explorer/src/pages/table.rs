//! The page about one table: its schema, its partitions, and an inferred declaration if no schema is stored.

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
use crate::tree::{self, Branch, Branches};

/// The number of rows from which keys are inferred if no schema is stored.
const SAMPLE: usize = 200;
/// The width of the largest partition's bar.
const BAR: usize = 120;

pub(crate) async fn page(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    let schemas: Vec<&StoredSchema> = context.known.of(table).collect();
    let (after, at) = (context.request.query("after"), context.request.query("at"));
    let lower = match (after, at) {
        (Some(after), _) => Bound::Excluded(after.to_owned()),
        (None, Some(at)) => Bound::Included(at.to_owned()),
        (None, None) => Bound::Unbounded,
    };
    let is_first = lower == Bound::Unbounded;
    let found = tree::branches(&context.reader, table, lower).await?;
    if is_first {
        context.state.catalog.keep_tree(table, &found.branches);
    }
    let names: Vec<&str> = schemas.iter().map(|schema| schema.entity.as_str()).collect();
    // The sample is only read for the first page of the tree.
    let looks = if schemas.is_empty() && is_first { Some(sample(context, table).await?) } else { None };
    let states = indexes::states(context, table).await?;
    let main = html! {
        h1 { (table) }
        p.sub {
            @if names.is_empty() { "No schema is stored for this table." }
            @else { "Holds " (show::text(&names.join(", "))) }
            " · " a href="#partitions" { "Partitions" }
            " · " a href=(link::table(table, "q")) { "Query" }
            @if context.state.is_writable && context.declared(table).is_empty() { " · " a href=(link::table(table, "new")) { "Insert" } " · " a href=(link::table(table, "paste")) { "Paste rows" } }
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
            (partitions(table, schemas.first().copied(), &found.branches))
            @if found.branches.is_empty() { p.empty { "The table has no rows" @if !is_first { " behind this place" } "." } }
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

/// Returns the field for jumping to a `PartitionKey`, and the links to other pages of partitions.
fn foot(context: &Context<'_>, table: &TableName, found: &Branches, is_first: bool) -> Markup {
    html! {
        div.foot {
            @if context.state.source.engine.is_some() { a.btn href=(link::table(table, "size")) { "Partitions by size" } span { "reads the table once" } }
            span.grow {}
            form.jump action=(link::table(table, "")) aria-label="Jump" {
                input name="at" aria-label="PartitionKey to jump to" placeholder="jump to a PartitionKey" value=(context.request.query("at").unwrap_or_default()) autocomplete="off" spellcheck="false";
            }
            @if !is_first { a.btn.first href={ (link::table(table, "")) "#partitions" } { "First partitions" } }
            @match &found.after {
                Some(next) => a.btn.next data-next href=(link::to(&link::table(table, ""), &[("after", next)])) { "More partitions" },
                None => span.faint data-next { "end of the table" },
            }
        }
    }
}

/// Returns the declaration inferred from the first rows.
async fn sample(context: &Context<'_>, table: &TableName) -> Result<String> {
    let query = Query { top: Some(SAMPLE), ..Query::new(KeyRange::ALL) };
    let rows = context.reader.page(table, &query, None).await?.rows;
    Ok(infer::infer(table.as_str(), &rows).to_string())
}

fn partitions(table: &TableName, schema: Option<&StoredSchema>, branches: &[Branch]) -> Markup {
    let most = branches.iter().map(|branch| branch.rows).max().unwrap_or(1).max(1);
    html! {
        @if !branches.is_empty() {
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
