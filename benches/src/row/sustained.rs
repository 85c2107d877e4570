//! Measures continuous random updates by 32 writers in durable transactions of ten rows.
//!
//! The engine requires all ten rows to be in one partition. The other libraries write to random rows, as applications would. For information, they are also
//! measured with ten rows in one partition, because such transactions change fewer pages.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::child::place;
use crate::folder::settle;
use crate::large::Large;
use crate::peer::store::Kind;
use crate::report::{Report, Target, short};
use crate::sustained::{Figures, Rows, Work};

/// A library, its results, and its reopening time. This is the time to reopen its folder and read an entity after its process was killed.
struct Measured(Kind, Figures, Duration);

/// Measures the updates and the reopening and adds the results to the report.
pub fn measure(large: &Large, report: &mut Report) -> Outcome<()> {
    let mut all = Vec::new();
    for kind in Kind::ALL {
        let rows = if kind == Kind::Tables { Rows::OfOnePartition } else { Rows::Anywhere };
        let figures = updated(large, kind, rows)?;
        let reopened = reopen(large, kind)?;
        let measured = Measured(kind, figures, reopened);
        note(large, report, &measured);
        all.push(measured);
    }
    let (Some(Measured(_, ours, reopened)), others) = (all.first(), all.get(1..).unwrap_or_default()) else {
        return Ok(());
    };
    let work = format!(
        "updates of rows, 32 writers, durable, {:.0?} at {}",
        large.options.sustained,
        short(large.entities.into())
    );
    for Measured(kind, theirs, _) in others {
        let target = if *kind == Kind::Fjall { 1.5 } else { 6.0 };
        rates(report, &work, *kind, ours.rows, theirs.rows, Target::AtLeast(target));
    }
    for Measured(kind, theirs, _) in others {
        let target = match kind {
            Kind::Redb => Target::AtLeast(0.25),
            Kind::Sqlite => Target::AtLeast(1.5),
            Kind::Tables | Kind::Fjall => Target::Shown,
        };
        rates(report, "page of 1,000 during these writes", *kind, ours.pages, theirs.pages, target);
    }
    for Measured(kind, ..) in others {
        let theirs = updated(large, *kind, Rows::OfOnePartition)?;
        let work = format!("{work}, all of one partition");
        rates(report, &work, *kind, ours.rows, theirs.rows, Target::Shown);
    }
    bound(report, "longest write of these", ours.longest, 250.0, "ms");
    bound(report, "99.9 % of these writes", ours.most, 60.0, "ms");
    bound(report, "seconds without a commit, of which none", f64::from(ours.idle_seconds), 0.5, "");
    bound(report, "bytes written for each byte updated", ours.written, 10.0, "");
    bound(report, "most of the folder, for each logical byte", size(large, ours.folder_most), 2.2, "");
    bound(report, "the folder after it, for each logical byte", size(large, ours.folder_after), 2.2, "");
    bound(report, "`close` after it", ours.close, 1_000.0, "ms");
    bound(report, "open after a kill in it", reopened.as_secs_f64() * 1_000.0, 1_000.0, "ms");
    Ok(())
}

/// Updates entities continuously in one library. Returns the results.
fn updated(large: &Large, kind: Kind, rows: Rows) -> Outcome<Figures> {
    settle()?;
    Work::new(large, kind, rows, large.options.sustained)?.measured()
}

/// Kills a process that is updating entities. Returns the time to reopen its folder and read an entity.
fn reopen(large: &Large, kind: Kind) -> Outcome<Duration> {
    let work = Work::new(large, kind, Rows::OfOnePartition, Duration::from_secs(60 * 60))?;
    work.killed(large.options.sustained / 12)?;
    let (folder, start) = (large.filled(kind)?, Instant::now());
    let store = kind.open(&folder, large.cache())?;
    let (site, number) = place(large.entities / 2);
    store.look()?.get(&site, number)?;
    Ok(start.elapsed())
}

#[expect(clippy::cast_precision_loss, reason = "bytes are shown with three digits")]
fn size(large: &Large, bytes: u64) -> f64 {
    bytes as f64 / large.logical_bytes() as f64
}

fn rates(report: &mut Report, work: &str, kind: Kind, ours: f64, theirs: f64, target: Target) {
    let shown = |rate| format!("{}/s", short(rate));
    report.line(work, shown(ours), format!("{} {}", kind.name(), shown(theirs)), ours / theirs, target);
}

fn bound(report: &mut Report, work: &str, is: f64, most: f64, unit: &str) {
    let shown = |number| format!("{} {unit}", short(number)).trim_end().to_owned();
    report.line(work, shown(is), format!("bound {}", shown(most)), is / most, Target::AtMost(1.0));
}

fn note(large: &Large, report: &mut Report, Measured(kind, figures, reopened): &Measured) {
    let Figures { rows, half, most, longest, idle_seconds, written, .. } = figures;
    let [during, after] = [figures.folder_most, figures.folder_after].map(|bytes| size(large, bytes));
    let (close, reopened) = (figures.close, reopened.as_secs_f64() * 1_000.0);
    report.note(format!(
        "{}: {} rows/s, half of the writes in {half:.1} ms, 99.9 % in {most:.1} ms, the longest in {longest:.0} ms, {idle_seconds} \
         seconds without one; {written:.1} bytes a byte; folder {during:.2} and {after:.2} of logical; closed in {close:.0} ms, \
         open after a kill in {reopened:.0} ms; {} pages/s",
        kind.name(),
        short(*rows),
        short(figures.pages),
    ));
}
