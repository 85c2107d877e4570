//! The page for the growth of a store and its tables, drawn from samples.

use chrono::{DateTime, TimeDelta, Utc};
use maud::{Markup, html};
use table_core::Engine;
use table_core::TableName;

use crate::chart;
use crate::failure::{Failure, Result};
use crate::frame::Frame;
use crate::growth::{self, Sample, Samples, WHOLE};
use crate::link;
use crate::pages::Context;
use crate::show;

/// The maximum number of samples listed below a chart, newest first.
const LISTED: usize = 100;
/// The number of points in a sparkline.
const POINTS: u32 = 48;

fn engine<'a>(context: &'a Context<'_>) -> Result<&'a Engine> {
    let missing =
        || Failure::NotFound("the store is an account; only the embedded engine is sampled".to_owned());
    context.state.source.engine.as_ref().ok_or_else(missing)
}

pub(crate) async fn page(context: &Context<'_>) -> Result<Markup> {
    let (state, engine) = (context.state, engine(context)?);
    if context.request.query("count").is_some() {
        let counts = growth::count(engine.clone(), context.known.clone()).await?;
        state.growth.counted(state.source.names(), &context.known.tables, &counts, Utc::now()).await;
    }
    let size = growth::bytes(&engine.statistics()?);
    let samples = state.growth.of(state.source.names()).await?;
    let table = context.request.query("table").map(|name| context.table(name)).transpose()?;
    let main = if let Some(table) = &table {
        html! {
            h1 { "Growth of " (table) }
            p.sub { a href="/growth" { "All tables" } " · " a href=(link::table(table, "")) { "The table" } }
            (series(samples.get(table.as_str()).map_or(&[], Vec::as_slice)))
        }
    } else {
        html! {
            h1 { "Growth" }
            (announcement(context, size))
            (whole(samples.get(WHOLE).map_or(&[], Vec::as_slice)))
            (tables(&context.known.tables, &samples, Utc::now()))
            p.foot { a.btn href="/growth?count=1" { "Count every table now" } span { "reads every table once" } }
        }
    };
    let frame = Frame {
        title: table.as_ref().map_or_else(|| "Growth".to_owned(), |table| format!("Growth of {table}")),
        crumbs: table.iter().map(|_| ("Growth".to_owned(), "/growth".to_owned())).collect(),
        table: table.as_ref(),
        here: if table.is_none() { "/growth" } else { "" },
        main,
        ..Frame::default()
    };
    Ok(frame.render(state, &context.known, context.reader.cost()))
}

/// Returns a paragraph that explains when samples are taken and tables are read.
fn announcement(context: &Context<'_>, size: u64) -> Markup {
    let growth = &context.state.growth;
    html! {
        p.sub {
            "The size of the store is sampled once a minute while the explorer runs, which reads nothing. "
            @if size <= growth::SMALL { "Tables are read once a minute after writes, as long as the store is smaller than " (show::scaled(growth::SMALL)) "." }
            @else { "Its tables are larger than " (show::scaled(growth::SMALL)) " and are read only when a page counts them." }
            " " @match growth.path() {
                Some(path) => { "Samples are kept in " code { (show::text(&path.display().to_string())) } ", fewer of them with age." },
                None => "Samples are kept in memory until the explorer ends.",
            }
        }
        @if let Some(failure) = growth.failure() { div.report role="status" { p { span.badge.warn { "not kept" } " " (show::text(&failure)) } } }
    }
}

fn whole(samples: &[Sample]) -> Markup {
    html! {
        section aria-label="The store" {
            h2 { "Size of the store" }
            (drawn(samples, "bytes", Sample::bytes, show::scaled))
        }
    }
}

/// Returns a table's two charts and a list of its samples.
fn series(samples: &[Sample]) -> Markup {
    html! {
        section aria-label="Rows" { h2 { "Rows" } (drawn(samples, "rows", Sample::rows, show::thousands)) }
        section aria-label="Bytes" { h2 { "Bytes" } (drawn(samples, "bytes", Sample::bytes, show::scaled)) }
        @if !samples.is_empty() {
            section aria-label="Samples" {
                h2 { "Samples" }
                div.wrap tabindex="0" role="region" aria-label="Samples" {
                    table.grid.narrow {
                        thead { tr { th scope="col" { "Time" } th.num scope="col" { "Rows" } th.num scope="col" { "Bytes" } } }
                        tbody { @for sample in samples.iter().rev().take(LISTED) { tr {
                            td { (show::instant(sample.at())) }
                            td.num { (show::thousands(sample.rows())) }
                            td.num title={ (show::thousands(sample.bytes())) " bytes" } { (show::scaled(sample.bytes())) }
                        } } }
                    }
                }
                @if samples.len() > LISTED { p.note { "The newest " (LISTED) " of " (show::count_of(samples.len() as u64, "sample")) " are listed." } }
            }
        }
    }
}

fn drawn(samples: &[Sample], unit: &str, value: fn(Sample) -> u64, number: fn(u64) -> String) -> Markup {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return html! { p.empty { "No sample yet. The first is taken within a minute." } };
    };
    let points: Vec<(DateTime<Utc>, u64)> =
        samples.iter().map(|sample| (sample.at(), value(*sample))).collect();
    let label = format!(
        "{unit} over time: {} at {}, {} at {}",
        number(value(*first)),
        first.at().format("%Y-%m-%d %H:%M UTC"),
        number(value(*last)),
        last.at().format("%Y-%m-%d %H:%M UTC"),
    );
    html! { figure.drawing { (chart::chart(&points, &label, number)) } }
}

fn tables(names: &[TableName], samples: &Samples, now: DateTime<Utc>) -> Markup {
    html! {
        section aria-label="Tables" {
            h2 { "Tables" }
            div.wrap tabindex="0" role="region" aria-label="Growth of tables" {
                table.grid {
                    thead { tr {
                        th scope="col" { "Table" }
                        th.num scope="col" { "Rows" }
                        th.num scope="col" { "Bytes" }
                        th.num scope="col" { "Change" small { "of rows in a day" } }
                        th scope="col" { "Sampled" small { "last" } }
                        th scope="col" { "Bytes" small { "over time" } }
                    } }
                    tbody { @for name in names { (row(name, samples.get(name.as_str()).map_or(&[], Vec::as_slice), now)) } }
                }
            }
        }
    }
}

fn row(name: &TableName, samples: &[Sample], now: DateTime<Utc>) -> Markup {
    let address = link::to("/growth", &[("table", name.as_str())]);
    html! {
        tr {
            td { a.key href=(address) { b { (name) } } }
            @match samples.last() {
                Some(last) => {
                    td.num { (show::thousands(last.rows())) }
                    td.num { (show::scaled(last.bytes())) }
                    td.num { (change(samples, now)) }
                    td { (show::instant(last.at())) }
                    td { (chart::spark(&evenly(samples), &format!("bytes of {name} over time"))) }
                }
                None => { td.num.faint { "–" } td.num.faint { "–" } td.num.faint { "–" } td.faint { "not counted" } td {} }
            }
        }
    }
}

/// Returns the change in the number of rows since the oldest sample of the last 24 hours.
fn change(samples: &[Sample], now: DateTime<Utc>) -> Markup {
    let recent = |sample: &&Sample| now.signed_duration_since(sample.at()) <= TimeDelta::days(1);
    let (Some(first), Some(last)) = (samples.iter().find(recent), samples.last()) else {
        return html! { span.faint { "–" } };
    };
    let since = format!("since {}", first.at().format("%Y-%m-%d %H:%M UTC"));
    let (before, after) = (first.rows(), last.rows());
    html! {
        span title=(since) {
            @if after > before { "+" (show::thousands(after - before)) }
            @else if after < before { "−" (show::thousands(before - after)) }
            @else { span.faint { "0" } }
        }
    }
}

/// Resamples the sizes at equal time intervals between the first and the last sample. The results are in thousandths of the largest size.
fn evenly(samples: &[Sample]) -> Vec<u32> {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return Vec::new() };
    let most = samples.iter().map(|sample| sample.bytes()).max().unwrap_or(0).max(1);
    let seconds = last.at().signed_duration_since(first.at()).num_seconds();
    let at = |nth: u32| first.at() + TimeDelta::seconds(seconds * i64::from(nth) / i64::from(POINTS - 1));
    (0..POINTS)
        .map(|nth| {
            let known = samples.partition_point(|sample| sample.at() <= at(nth)).max(1);
            let bytes = samples.get(known - 1).map_or(0, |sample| sample.bytes());
            u32::try_from(u128::from(bytes) * 1_000 / u128::from(most)).unwrap_or(1_000)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_samples_where_their_times_are() {
        let at = |minute: i64| DateTime::from_timestamp(1_764_000_000 + 60 * minute, 0).unwrap();
        assert_eq!(evenly(&[]), Vec::<u32>::new());
        assert_eq!(evenly(&[Sample::new(at(0), 1, 10)]), [1_000; POINTS as usize]);
        let samples = [Sample::new(at(0), 1, 0), Sample::new(at(90), 1, 5), Sample::new(at(94), 1, 20)];
        let line = evenly(&samples);
        assert_eq!((line[0], line[44], line[45], line[47]), (0, 0, 250, 1_000));
        // The last point is the last sample, regardless of the interval between the samples.
        for minutes in 1..200 {
            let line = evenly(&[Sample::new(at(0), 1, 0), Sample::new(at(minutes), 1, 20)]);
            assert_eq!((line[0], line[47]), (0, 1_000), "{minutes} minutes");
        }
        let now = at(95);
        let shown = |samples: &[Sample]| change(samples, now).into_string();
        assert!(shown(&[Sample::new(at(0), 5, 1), Sample::new(at(9), 1_205, 1)]).contains("+1,200"));
        assert!(shown(&[Sample::new(at(0), 5, 1), Sample::new(at(9), 2, 1)]).contains("−3"));
        assert!(shown(&[Sample::new(at(-2_000), 5, 1), Sample::new(at(9), 9, 1)]).contains('0'));
    }
}
