//! Compares the server's throughput of gets and inserts with that of the bare HTTP stack. The HTTP stack returns a constant response.

use crate::Outcome;
use crate::harness::{Contender, alternate};
use crate::options::Options;
use crate::report::{OURS, Report, Target};
use crate::served::child::{self, Server};
use crate::served::data::{self, Shape};
use crate::served::peers::CONNECTIONS;
use crate::served::work::{Place, Work};
use crate::served::worker;

/// The fraction of the HTTP stack's throughput that the server must reach.
const PART: f64 = 0.5;
const STACK: &str = "hyper";

/// Measures the throughput of both, and adds the ratios to the report. The HTTP stack receives the same signed requests as the server, but ignores their
/// content.
pub fn measure(options: &Options, report: &mut Report) -> Outcome<()> {
    let (ours, stack) = (Server::start(child::SERVE)?, Server::start(child::CONSTANT)?);
    let shape = &Shape::ALL[0];
    let place = Place::new(&ours.line)?;
    data::fill(&place, shape)?;
    let mut constant = Place::new(&ours.line)?;
    constant.tables.clone_from(&stack.line);
    for work in [Work::Get, Work::Insert] {
        for connections in CONNECTIONS {
            let run = |place, time, any| Ok(worker::ask(work, (place, any), shape, connections, time)?.rate);
            let contenders = vec![
                Contender::new(OURS, |time| run(&place, time, false)),
                Contender::new(STACK, |time| run(&constant, time, true)),
            ];
            let figures = alternate(contenders, options.rounds, options.time)?;
            let name = format!("{}, against a constant, {connections} connections", work.title());
            report.compare(&name, &figures, &[(STACK, Target::AtLeast(PART))]);
        }
    }
    Ok(())
}
