//! The page for the engine: its content, its counters, and checks on demand.

use maud::{Markup, html};
use table_core::Engine;
use table_core::embedded::{Statistics, Verification};

use crate::failure::{Failure, Result};
use crate::frame::Frame;
use crate::pages::Context;
use crate::show;

fn engine<'a>(context: &'a Context<'_>) -> Result<&'a Engine> {
    let missing =
        || Failure::NotFound("the store is an account; only the embedded engine has statistics".to_owned());
    context.state.source.engine.as_ref().ok_or_else(missing)
}

/// Verifies every block of the base (the engine's merged files), on a blocking thread.
pub(crate) async fn verify(context: &Context<'_>) -> Result<Verification> {
    let engine = engine(context)?.clone();
    let checked = tokio::task::spawn_blocking(move || engine.verify()).await;
    Ok(checked.map_err(|error| Failure::Refused(format!("the check was stopped: {error}")))??)
}

pub(crate) fn page(context: &Context<'_>, report: Option<&Verification>) -> Result<Markup> {
    let found = engine(context)?.statistics()?;
    let main = html! {
        h1 { "Engine" }
        p.sub { code { (show::text(&context.state.source.name)) } }
        @if let Some(report) = report { (verified(report)) }
        @for (title, figures) in groups(&found) {
            section aria-label=(title) {
                h2 { (title) }
                dl.figures { @for (name, figure) in figures { div { dt { (name) } dd { (figure) } } } }
            }
        }
        form method="post" action="/engine/verify" {
            input type="hidden" name="csrf" value=(context.state.session.form_token());
            p.foot { button.btn type="submit" { "Verify every checksum" } span { "reads the whole base from the disk" } }
        }
    };
    let frame = Frame { title: "Engine".to_owned(), here: "/engine", main, ..Frame::default() };
    Ok(frame.render(context.state, &context.known, context.reader.cost()))
}

fn verified(report: &Verification) -> Markup {
    html! {
        div.report role="status" {
            @if report.is_whole() {
                p { span.badge.ok { "whole" } " " (show::count_of(report.runs, "file")) ", " (show::count_of(report.blocks, "block")) " and " (show::count_of(report.entries, "row")) " were read; no damage was found." }
            } @else {
                p { span.badge.warn { "damaged" } " Restore the folder from a backup:" }
                ul { @for damage in &report.damage { li { (show::text(&damage.to_string())) } } }
            }
        }
    }
}

type Figures = Vec<(&'static str, String)>;

fn groups(found: &Statistics) -> [(&'static str, Figures); 5] {
    let number = |number: u64| show::thousands(number);
    let size = |size: usize| number(u64::try_from(size).unwrap_or(u64::MAX));
    let share = |part: u64, rest: u64| match part.checked_add(rest).filter(|all| *all > 0) {
        Some(all) => format!("{} %", part.saturating_mul(100) / all),
        None => "–".to_owned(),
    };
    let ago = |age| chrono::Duration::from_std(age).map(|age| format!("{} ago", show::age(age)));
    let age = found.checkpoint_age.and_then(|age| ago(age).ok()).unwrap_or_else(|| "none yet".to_owned());
    let mean = found.grouped_writes.checked_div(found.groups).map_or_else(|| "–".to_owned(), number);
    [
        (
            "Content",
            vec![
                ("tables", size(found.tables)),
                ("rows in the memtable", size(found.memtable_rows)),
                ("memory of the memtable", show::size(found.memtable_bytes)),
            ],
        ),
        (
            "Layers",
            vec![
                ("size of the base", show::scaled(found.base_bytes)),
                ("files", size(found.runs)),
                ("ranges of keys", size(found.segments)),
                ("layers, at most", size(found.layers)),
                ("to be merged", show::scaled(found.unmerged_bytes)),
                ("deletions", number(found.deletions)),
            ],
        ),
        (
            "Journal",
            vec![
                ("writes", number(found.grouped_writes)),
                ("groups", number(found.groups)),
                ("writes in a group", mean),
                ("largest group", number(found.largest_group)),
            ],
        ),
        (
            "Checkpoints and merges",
            vec![
                ("last checkpoint", age),
                ("checkpoints", number(found.flushes)),
                ("written by checkpoints", show::scaled(found.flushed_bytes)),
                ("merges", number(found.merges)),
                ("written by merges", show::scaled(found.merged_bytes)),
            ],
        ),
        (
            "Cache",
            vec![
                ("blocks found", number(found.cache_hits)),
                ("blocks read", number(found.cache_misses)),
                ("hits", share(found.cache_hits, found.cache_misses)),
            ],
        ),
    ]
}
