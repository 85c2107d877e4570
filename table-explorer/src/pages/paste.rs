//! The page for inserting pasted rows: cells from a spreadsheet, CSV or JSON lines. It shows the resulting rows before anything is written.

mod parse;

use http::{Response, StatusCode};
use maud::{Markup, html};
use table_core::{Operation, OperationKind, TableEntity, TableName};

use crate::catalog::Known;
use crate::failure::Result;
use crate::form_text::returned;
use crate::grid::Grid;
use crate::keyed::Keyed;
use crate::link;
use crate::pages::{Context, bulk, change};
use crate::response::{self, Body};
use crate::show;
use table_inspect::record::Record;

/// The maximum number of rows that can be pasted at once.
pub(super) const MOST: usize = 1_000;

/// Shows the empty form.
pub(crate) async fn page(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    change::permit(context, table).await?;
    let main = html! { h1 { "Paste rows into " (table) } (form(context, table, "", false)) };
    Ok(bulk::frame(context, table, "Paste rows", main))
}

/// Shows the rows parsed from the pasted text, or writes them if the user has confirmed.
pub(crate) async fn post(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    change::permit(context, table).await?;
    let text = returned(context.request.field("text").unwrap_or_default());
    let replaces = context.request.field("replace").is_some();
    // A program may have stored a new schema since the catalog was read.
    let known = Known::read(&context.reader.shared()).await?;
    let lines = parse::lines(&text, table, &known.schemas)?;
    let faults = faults(&lines);
    if context.request.field("sure").is_some() && faults.is_empty() {
        let entities = lines.into_iter().filter_map(Result::ok);
        return write(context, table, entities.collect(), replaces).await;
    }
    let rows =
        Keyed::all(table.as_str(), lines.iter().filter_map(|line| line.as_ref().ok()), known.of_rows(table));
    Ok(preview(context, table, (&text, replaces), &rows, (lines.len(), &faults)))
}

/// Writes entities in batches, one or more per partition.
async fn write(
    context: &Context<'_>,
    table: &TableName,
    mut entities: Vec<TableEntity>,
    replaces: bool,
) -> Result<Response<Body>> {
    entities.sort_by(|one, other| one.key().cmp(other.key()));
    let mut operations = Vec::new();
    for entity in entities {
        let row = entity.to_row()?;
        let kind = if replaces { OperationKind::InsertOrReplace(row) } else { OperationKind::Insert(row) };
        let key = entity.key().clone();
        operations.push((key.partition_key, Operation { row_key: key.row_key, kind }));
    }
    let report = bulk::submit(context, table, "written", operations).await?;
    Ok(bulk::answer(context, table, "Paste rows", "written", &report))
}

/// Returns the errors in pasted rows: lines that are not entities, and keys that occur on more than one line.
fn faults(lines: &[Record]) -> Vec<String> {
    let mut keys: Vec<_> = lines.iter().filter_map(|line| line.as_ref().ok()).map(TableEntity::key).collect();
    keys.sort();
    let repeated = keys.chunk_by(|one, other| one == other).filter(|equal| equal.len() > 1);
    let repeated =
        repeated.filter_map(|equal| equal.first().map(|key| (key, equal.len()))).map(|(key, count)| {
            let (partition_key, row_key) = (&key.partition_key, &key.row_key);
            format!("{count} rows have the key ('{partition_key}', '{row_key}'); keep one")
        });
    let unreadable = lines.iter().filter_map(|line| line.as_ref().err()).map(ToString::to_string);
    unreadable.chain(repeated).collect()
}

/// Shows the parsed rows with their errors or, if they have none, with the button that writes them.
fn preview(
    context: &Context<'_>,
    table: &TableName,
    (text, replaces): (&str, bool),
    rows: &[Keyed<'_>],
    (lines, faults): (usize, &[String]),
) -> Response<Body> {
    let status = if faults.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let main = html! {
        h1 { (show::count_of(lines as u64, "row")) " for " (table) }
        @if !faults.is_empty() {
            div.report role="alert" {
                p { "Nothing is written before every row can be read:" }
                ul { @for fault in faults { li { (show::text(fault)) } } }
            }
        }
        @if !rows.is_empty() { (Grid::new(table, rows).render("Preview")) }
        @if faults.is_empty() { (confirm(context, table, text, replaces, lines)) }
        h2 { "Text" }
        (form(context, table, text, replaces))
    };
    response::page(status, bulk::frame(context, table, "Paste rows", main))
}

fn confirm(context: &Context<'_>, table: &TableName, text: &str, replaces: bool, rows: usize) -> Markup {
    html! {
        form.edit.confirm method="post" action=(link::table(table, "paste")) {
            input type="hidden" name="csrf" value=(context.state.session.form_token());
            input type="hidden" name="text" value=(text);
            @if replaces { input type="hidden" name="replace" value="1"; }
            input type="hidden" name="sure" value="1";
            div.row.end {
                span { @if replaces { "Stored rows of the same keys are replaced." } @else { "A row whose key is stored already refuses its group; nothing of the group is written." } }
                span.grow {}
                button.go type="submit" { "Write " (show::count_of(rows as u64, "row")) }
            }
        }
    }
}

fn form(context: &Context<'_>, table: &TableName, text: &str, replaces: bool) -> Markup {
    html! {
        form.edit method="post" action=(link::table(table, "paste")) {
            input type="hidden" name="csrf" value=(context.state.session.form_token());
            div.row {
                label.text for="text" { "Rows of a spreadsheet, CSV, or JSON lines. The first line of a spreadsheet or CSV names the columns, PartitionKey and RowKey among them; a column Age@type has the types of Age." }
                textarea #text name="text" rows="9" spellcheck="false" required placeholder="PartitionKey,RowKey,Age" { "\n" (text) }
            }
            div.row.end {
                label { input type="checkbox" name="replace" value="1" checked[replaces]; " replace stored rows of the same keys" }
                span.grow {}
                button.btn type="submit" { "Preview" }
            }
        }
    }
}
