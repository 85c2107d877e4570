//! Compares operations in a partition with a million entities with the same operations in a partition with ten thousand.

use crate::Outcome;
use crate::harness::{Contender, alternate};
use crate::options::Options;
use crate::report::{Report, Target};
use crate::served::child::{self, Server};
use crate::served::data::{self, Shape};
use crate::served::work::{Place, Work};
use crate::served::worker;

const SMALL: Shape = Shape { table: "Small", title: "10k in one partition", entities: 10_000, partitions: 1 };
const GREAT: Shape =
    Shape { table: "Great", title: "1M in one partition", entities: 1_000_000, partitions: 1 };
/// The highest acceptable growth of the time per operation. It is the ratio of the time in the large partition to the time in the small one.
const GROWTH: f64 = 1.3;
/// The number of concurrent connections.
const CONNECTIONS: usize = 8;

/// Measures the operations in both partitions and adds the ratios to the report.
pub fn measure(options: &Options, report: &mut Report) -> Outcome<()> {
    let server = Server::start(child::SERVE)?;
    let place = Place::new(&server.line)?;
    for shape in [&SMALL, &GREAT] {
        data::fill(&place, shape)?;
    }
    for work in [Work::Get, Work::Insert, Work::Merge, Work::Batch, Work::Page] {
        let run = |shape, time| Ok(worker::ask(work, (&place, false), shape, CONNECTIONS, time)?.rate);
        let contenders = vec![
            Contender::new(GREAT.title, |time| run(&GREAT, time)),
            Contender::new(SMALL.title, |time| run(&SMALL, time)),
        ];
        let figures = alternate(contenders, options.rounds, options.time)?;
        let name = format!("{}, one partition of 1M against one of 10k", work.title());
        report.compare_bound(&name, &figures, Target::AtMost(GROWTH));
    }
    Ok(())
}
