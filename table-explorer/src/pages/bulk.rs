//! Deletion of rows marked in a grid. After a preview, the rows are deleted in batches, on condition that their versions are unchanged.

use std::sync::Arc;

use http::{Response, StatusCode};
use maud::{Markup, html};
use table_core::{
    ETag, EntityKey, IfMatch, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore,
    Transaction, ticks,
};

use crate::catalog::Change;
use crate::failure::{Failure, Result};
use crate::frame::Frame;
use crate::link;
use crate::mark;
use crate::pages::{Context, change};
use crate::reader::Counted;
use crate::response::{self, Body};
use crate::show;

/// The maximum number of rows per form.
const MOST: usize = 1_000;

/// Returns the keys and versions of the rows marked in the form, in key order.
fn marked(context: &Context<'_>) -> Result<Vec<(EntityKey, ETag)>> {
    let fields = context.request.fields("row");
    if fields.is_empty() {
        return Err(Failure::Input("no row is marked; mark the rows to delete with their boxes".to_owned()));
    }
    if fields.len() > MOST {
        return Err(Failure::Input(format!(
            "{} rows are marked; at most {MOST} are deleted at once",
            fields.len()
        )));
    }
    let mut rows = Vec::new();
    for field in fields {
        let unknown = || Failure::Input("a mark of the form is not one of this page".to_owned());
        rows.push(mark::parse(field).ok_or_else(unknown)?);
    }
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    rows.dedup_by(|(one, _), (other, _)| one == other);
    Ok(rows)
}

/// Returns the form with the button for previewing the marked rows.
pub(crate) fn button(context: &Context<'_>, table: &TableName) -> Markup {
    html! {
        form #(mark::FORM) method="post" action=(link::table(table, "marked")) {
            input type="hidden" name="csrf" value=(context.state.session.form_token());
            button.btn type="submit" { "Delete marked rows…" }
        }
    }
}

/// Returns `true` if rows of the table can be marked: changes are enabled, and no derived rows are declared.
pub(crate) fn is_allowed(context: &Context<'_>, table: &TableName) -> bool {
    context.state.is_writable && context.declared(table).is_empty()
}

/// Shows the marked rows, and the button that deletes them.
pub(crate) async fn preview(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    change::permit(context, table).await?;
    let rows = marked(context)?;
    let count = show::count_of(rows.len() as u64, "row");
    let group = context.reader.store().capabilities().limits.operations;
    let main = html! {
        h1 { "Delete " (count) " of " (table) "?" }
        p.sub { "Each is deleted if it has the version that was shown. Rows of one partition are deleted together, up to " (show::thousands(group as u64)) " in a transaction." }
        div.wrap tabindex="0" role="region" aria-label="Marked rows" {
            table.grid {
                thead { tr { th scope="col" { "PartitionKey" } th scope="col" { "RowKey" } } }
                tbody { @for (key, _) in &rows { tr {
                    td.mono { (show::raw_key(key.partition_key.as_str())) }
                    td.mono { a.key href=(link::entity(table, key)) { (show::raw_key(key.row_key.as_str())) } }
                } } }
            }
        }
        form.edit.danger method="post" action=(link::table(table, "delete-marked")) {
            input type="hidden" name="csrf" value=(context.state.session.form_token());
            @for field in context.request.fields("row") { input type="hidden" name="row" value=(field); }
            div.row.end { label { input type="checkbox" name="sure" value="1" required; " delete " (count) } span.grow {} button.btn type="submit" { "Delete" } }
        }
    };
    Ok(response::page(StatusCode::OK, frame(context, table, "Delete", main)))
}

/// Deletes the marked rows, and reports the outcome of each batch.
pub(crate) async fn delete(context: &Context<'_>, table: &TableName) -> Result<Response<Body>> {
    change::permit(context, table).await?;
    if context.request.field("sure").is_none() {
        return Err(Failure::Input("mark the box next to the button to delete the rows".to_owned()));
    }
    let rows = marked(context)?;
    let operations = rows.into_iter().map(|(key, etag)| {
        (
            key.partition_key,
            Operation { row_key: key.row_key, kind: OperationKind::Delete(IfMatch::ETag(etag)) },
        )
    });
    let report = submit(context, table, "deleted", operations.collect()).await?;
    Ok(answer(context, table, "Delete", "deleted", &report))
}

/// The outcome of operations submitted in batches.
#[derive(Debug, Default)]
pub(crate) struct Report {
    done: usize,
    /// The failed batches: partition, row keys and error. No row of a failed batch was written, unless the error is ambiguous.
    failed: Vec<(PartitionKey, Vec<RowKey>, table_core::Error)>,
}

/// Operations on one partition to be written atomically.
type Unit = (PartitionKey, Vec<Operation>);

/// Submits operations in batches within one partition. Operations on a wide entity stay in one batch. Each batch is submitted even if another was rejected or
/// the client has disconnected. After a disconnect, the table's page shows the outcome.
///
/// # Errors
/// `Refused`, before the first batch is sent, if the operations would delete only some parts of a wide entity (an entity stored in several rows), rewind a
/// sequence, or change the library's internal rows.
pub(crate) async fn submit(
    context: &Context<'_>,
    table: &TableName,
    verb: &'static str,
    operations: Vec<(PartitionKey, Operation)>,
) -> Result<Report> {
    let mut units: Vec<Unit> = Vec::new();
    for partition in operations.chunk_by(|(one, _), (other, _)| one == other) {
        let Some((partition_key, _)) = partition.first() else { continue };
        let operations = partition.iter().map(|(_, operation)| operation.clone()).collect();
        let admitted = change::admit(context, table, partition_key, operations).await?;
        units.extend(admitted.into_iter().map(|unit| (partition_key.clone(), unit)));
    }
    let (store, table, state) = (context.reader.store(), table.clone(), Arc::clone(context.state));
    let written = tokio::spawn(async move {
        let report = write(&store, &table, units).await;
        let failed = report.failed.iter().map(|(_, keys, _)| keys.len()).sum();
        state.catalog.keep_change(&table, Change { at: ticks::now(), verb, done: report.done, failed });
        report
    });
    let stopped = |error| {
        Failure::Refused(format!(
            "the writes were stopped, and some rows may have been {verb}; open the table to see its rows: {error}"
        ))
    };
    written.await.map_err(stopped)
}

/// Writes units in order. Consecutive units in one partition share a transaction, up to the store's limits. A unit that exceeds the limits by itself is not
/// written.
async fn write(store: &Counted, table: &TableName, units: Vec<Unit>) -> Report {
    let mut report = Report::default();
    let mut open: Option<Transaction> = None;
    for (partition_key, unit) in units {
        if let Some(group) = open.as_mut().filter(|group| *group.partition_key() == partition_key)
            && add(group, &unit).is_ok()
        {
            continue;
        }
        report.submit(store, table, open.take()).await;
        let group = Transaction::new(partition_key.clone(), store.capabilities().limits);
        match group.and_then(|mut group| add(&mut group, &unit).map(|()| group)) {
            Ok(group) => open = Some(group),
            Err(error) => report.failed.push((partition_key, keys(&unit), error)),
        }
    }
    report.submit(store, table, open).await;
    report
}

/// Adds a unit to a transaction. On error, the transaction is unchanged.
fn add(group: &mut Transaction, unit: &[Operation]) -> table_core::Result<()> {
    if let [operation] = unit {
        return group.push(operation.clone());
    }
    let mut longer = group.clone();
    for operation in unit {
        longer.push(operation.clone())?;
    }
    *group = longer;
    Ok(())
}

fn keys(operations: &[Operation]) -> Vec<RowKey> {
    operations.iter().map(|operation| operation.row_key.clone()).collect()
}

impl Report {
    async fn submit(&mut self, store: &Counted, table: &TableName, group: Option<Transaction>) {
        let Some(group) = group else { return };
        let partition_key = group.partition_key().clone();
        let keys = keys(group.operations());
        match store.submit(table, group).await {
            Ok(_) => self.done += keys.len(),
            Err(error) => self.failed.push((partition_key, keys, error)),
        }
    }
}

/// Shows the outcome of the submitted operations.
pub(crate) fn answer(
    context: &Context<'_>,
    table: &TableName,
    title: &str,
    verb: &str,
    report: &Report,
) -> Response<Body> {
    let main = html! {
        h1 { (show::count_of(report.done as u64, "row")) " " (verb) }
        @if report.failed.is_empty() { p.sub { span.badge.ok { "done" } " Every row was " (verb) "." } }
        @for (partition_key, keys, error) in &report.failed {
            section.report role="alert" {
                p {
                    span.badge.warn { (if error.is_ambiguous() { "unknown" } else { "refused" }) }
                    " " (show::count_of(keys.len() as u64, "row")) " of partition " (show::raw_key(partition_key.as_str()))
                    @if error.is_ambiguous() { " may have been " (verb) ". Read them again: " } @else { " were not " (verb) ": " }
                    (show::text(&error.to_string()))
                }
                details { summary { "Their keys" } ul { @for key in keys {
                    @let whole = EntityKey { partition_key: partition_key.clone(), row_key: key.clone() };
                    li { a href=(link::entity(table, &whole)) { (show::raw_key(key.as_str())) } }
                } } }
            }
        }
        p.foot { a.btn href=(link::table(table, "")) { "Back to the table" } }
    };
    let status = if report.failed.is_empty() { StatusCode::OK } else { StatusCode::CONFLICT };
    response::page(status, frame(context, table, title, main))
}

pub(crate) fn frame(context: &Context<'_>, table: &TableName, title: &str, main: Markup) -> Markup {
    let crumbs = vec![(table.as_str().to_owned(), link::table(table, ""))];
    let frame = Frame { title: title.to_owned(), crumbs, table: Some(table), main, ..Frame::default() };
    frame.render(context.state, &context.known, context.reader.cost())
}
