//! The page for the sizes of a table's partitions, available only for the embedded engine. The counts are exact, because the page reads the entire table.

use std::cmp::Reverse;

use chrono::Utc;
use maud::{Markup, html};
use table_core::embedded::TableStatistics;
use table_core::{Engine, TableName};

use crate::failure::{Failure, Result};
use crate::frame::{self, Frame};
use crate::link;
use crate::pages::Context;
use crate::show;

/// The maximum number of partitions shown, largest first.
const SHOWN: usize = 100;
/// The width of the bar for the largest partition.
const BAR: u64 = 320;

/// A partition's key, number of rows, and bytes.
type Size = (String, u64, u64);

pub(crate) async fn page(context: &Context<'_>, table: &TableName) -> Result<Markup> {
    let missing = || Failure::NotFound("only the embedded engine counts its partitions".to_owned());
    let engine = context.state.source.engine.clone().ok_or_else(missing)?;
    let (of, name) = (engine, table.clone());
    let counted = tokio::task::spawn_blocking(move || count(&of, &name)).await;
    let (total, sizes) =
        counted.map_err(|error| Failure::Refused(format!("the count was stopped: {error}")))??;
    let (names, counts) = ([table.clone()], [Some(total.clone())]);
    context.state.growth.counted(context.state.source.names(), &names, &counts, Utc::now()).await;
    let main = html! {
        h1 { "Partitions of " (table) " by size" }
        p.sub { (show::count_of(total.rows, "row")) " and " (show::scaled(total.bytes)) " in " (show::count_of(total.partitions, "partition")) ". The table was read once." }
        @if sizes.is_empty() { p.empty { "The table has no rows." } } @else { (grid(table, &total, &sizes)) }
        @if total.partitions > sizes.len() as u64 { p.note { "The " (SHOWN) " largest partitions are shown." } }
    };
    let frame = Frame {
        title: "By size".to_owned(),
        crumbs: vec![(table.as_str().to_owned(), link::table(table, ""))],
        table: Some(table),
        main,
        ..Frame::default()
    };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

/// Counts a table's rows and bytes. Only the largest partitions are kept, so memory use is independent of the number of partitions.
fn count(engine: &Engine, table: &TableName) -> Result<(TableStatistics, Vec<Size>)> {
    let mut sizes: Vec<Size> = Vec::new();
    let shorten = |sizes: &mut Vec<Size>| {
        sizes.sort_by_key(|(_, rows, bytes)| Reverse((*bytes, *rows)));
        sizes.truncate(SHOWN);
    };
    let total = engine.partition_statistics(table, |found| {
        sizes.push((found.partition_key.to_owned(), found.rows, found.bytes));
        if sizes.len() > 10 * SHOWN {
            shorten(&mut sizes);
        }
    })?;
    shorten(&mut sizes);
    Ok((total, sizes))
}

fn grid(table: &TableName, total: &TableStatistics, sizes: &[Size]) -> Markup {
    let most = sizes.iter().map(|(_, _, bytes)| *bytes).max().unwrap_or(1).max(1);
    let share = |bytes: u64| bytes.saturating_mul(1_000) / total.bytes.max(1);
    html! {
        div.wrap tabindex="0" role="region" aria-label="Partitions by size" {
            table.grid {
                thead { tr { th scope="col" { "Partition" } th.num scope="col" { "Rows" } th.num scope="col" { "Bytes" } th.num scope="col" { "Share" } th scope="col" { "Size" } } }
                tbody { @for (partition_key, rows, bytes) in sizes { tr {
                    td { a.key href=(link::partition(table, partition_key)) { (show::raw_key(partition_key)) } }
                    td.num { (show::thousands(*rows)) }
                    td.num { (show::scaled(*bytes)) }
                    td.num { (share(*bytes) / 10) "." (share(*bytes) % 10) " %" }
                    td { (frame::bar(bytes.saturating_mul(BAR) / most, BAR)) }
                } } }
            }
        }
    }
}
