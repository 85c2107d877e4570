//! The page that draws one partition in the style of the pattern catalogue's examples, with each property as a name above a value.

use maud::{Markup, html};
use table_core::query::KeyRange;
use table_core::{Query, TableName, Value};
use table_inspect::kind::Kind;

use crate::columns;
use crate::failure::Result;
use crate::frame::Frame;
use crate::grid;
use crate::keyed::Keyed;
use crate::link;
use crate::pages::Context;
use crate::show;

/// The maximum number of rows read.
const ROWS: usize = 200;
/// The maximum number of rows drawn per run, and of properties drawn per row.
const DRAWN: usize = 2;
const PROPERTIES: usize = 12;

/// A run of consecutive rows of one kind.
struct Run<'a> {
    kind: Kind<'a>,
    drawn: Vec<&'a Keyed<'a>>,
    count: usize,
}

pub(crate) async fn page(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    let partition_key = context.request.required("pk")?;
    let query = Query { top: Some(ROWS), ..Query::new(KeyRange::partition(partition_key)) };
    let page = context.reader.first(table, &query).await?;
    let rows = Keyed::all(table.as_str(), &page.rows, context.known.of_rows(table));
    let runs = runs(&rows);
    let main = html! {
        h1 { "Layout of " span.part { (rows.first().map_or_else(|| show::raw_key(partition_key), Keyed::partition_key)) } }
        p.sub {
            "The rows of a partition in the order of their keys, as the catalogue of patterns draws them. "
            a href=(link::partition(table, partition_key)) { "All rows" }
        }
        @if runs.is_empty() { p.empty { "No rows here." @if !page.is_all { " The store returned empty pages, and more follow." } } } @else {
            div.wrap tabindex="0" role="region" aria-label="Layout of the partition" {
                table.grid.layout {
                    thead { tr { th scope="col" { "PartitionKey" } th scope="col" { "RowKey" } th scope="col" { "Kind" small { "of row" } } th scope="col" { "Properties" small { "names above values" } } } }
                    tbody { @for run in &runs { (drawn(table, run)) } }
                }
            }
            @if !page.is_all && !runs.is_empty() { p.note { "Only the first " (show::thousands(rows.len() as u64)) " rows of the partition were read." } }
        }
    };
    let frame = Frame {
        title: "Layout".to_owned(),
        crumbs: vec![
            (table.as_str().to_owned(), link::table(table, "")),
            (partition_key.to_owned(), link::partition(table, partition_key)),
        ],
        table: Some(table),
        partition: Some(partition_key),
        main,
        ..Frame::default()
    };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

fn runs<'a>(rows: &'a [Keyed<'a>]) -> Vec<Run<'a>> {
    let mut found: Vec<Run<'a>> = Vec::new();
    for row in rows {
        match found.last_mut().filter(|run| run.kind == row.kind) {
            Some(run) => {
                run.count += 1;
                if run.drawn.len() < DRAWN {
                    run.drawn.push(row);
                }
            }
            None => found.push(Run { kind: row.kind, drawn: vec![row], count: 1 }),
        }
    }
    found
}

fn drawn(table: &TableName, run: &Run<'_>) -> Markup {
    let left_out = run.count - run.drawn.len();
    html! {
        @for row in &run.drawn {
            tr {
                td.mono { (row.partition_key()) }
                td.mono { a.key href=(link::entity(table, row.row.key())) { (row.row_key()) } }
                td.kind { (grid::kind_label(&run.kind)) }
                td { (properties(table, row)) }
            }
        }
        @if left_out > 0 {
            tr.other { td {} td { "⋮" } td.kind { (grid::kind_label(&run.kind)) } td { (show::count_of(left_out as u64, "further row")) " of this kind" } }
        }
    }
}

/// Returns a row's properties in columns, each as a name above a value.
fn properties(table: &TableName, row: &Keyed<'_>) -> Markup {
    let later = columns::later_pieces(row.row);
    let shown: Vec<(&str, &Value)> = row.row.iter().filter(|(name, _)| !later.contains(*name)).collect();
    let address = |name: &str| link::value(table, row.row.key(), name, "text");
    html! {
        @if shown.is_empty() { span.faint { "no properties" } }
        dl.bag {
            @for (name, value) in shown.iter().take(PROPERTIES) {
                div { dt { (show::stored(name)) } dd class=(show::class(value.edm_type())) { (show::cell(value, &address(name))) } }
            }
        }
        @if shown.len() > PROPERTIES { span.faint { "and " (shown.len() - PROPERTIES) " more" } }
    }
}
