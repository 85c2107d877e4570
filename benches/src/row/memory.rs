//! Measures the peak memory use of a process that imports many entities.

use crate::Outcome;
use crate::child::{self, CACHE, RECENT};
use crate::report::{Report, Target, short};
use crate::stage::Stage;

/// Measures the memory use and adds it to the report, together with its limit.
#[expect(clippy::cast_precision_loss, reason = "bytes are shown with three digits")]
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let entities = stage.large();
    let peak = child::filled(stage, entities)?.peak as f64;
    let bound = (CACHE + 3 * RECENT + (64 << 20)) as f64;
    let work = format!("memory while importing {}", short(entities.into()));
    let shown = |bytes: f64| format!("{}B", short(bytes));
    report.line(&work, shown(peak), format!("bound {}", shown(bound)), peak / bound, Target::AtMost(1.0));
    Ok(())
}
