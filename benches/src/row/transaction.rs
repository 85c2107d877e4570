//! Measures durable transactions by one writer. Each of them makes a hundred inserts into one partition.

use crate::Outcome;
use crate::harness::{Contender, alternate, repeat};
use crate::report::{Report, Target};
use crate::stage::Stage;

/// Measures the transactions in every library under comparison and adds the rates to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let mut contenders = Vec::new();
    for peer in stage.peers() {
        contenders.push(Contender::new(peer.name(), move |time| {
            repeat(time, 1, || peer.transaction(stage.fresh_batch(100)))
        }));
    }
    let figures = alternate(contenders, stage.options.rounds, stage.options.time * 2)?;
    let targets = [("rusqlite", Target::AtLeast(1.5)), ("native_db", Target::Shown)];
    report.compare("transaction of 100, durable", &figures, &targets);
    Ok(())
}
