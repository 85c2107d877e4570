//! Compares the server with Azurite.

use std::cell::RefCell;

use crate::Outcome;
use crate::harness::{Contender, alternate};
use crate::options::Options;
use crate::report::{OURS, Report, Target};
use crate::served::data::Shape;
use crate::served::load::Done;
use crate::served::work::{self, Place, Work};
use crate::served::worker;

/// The measured numbers of concurrent connections. Each has a separate row in the report.
pub const CONNECTIONS: [usize; 3] = [1, 8, 32];
/// The target for the ratio of the server's rate to Azurite's rate.
const TIMES: f64 = 10.0;
/// The highest acceptable ratio of 99th-percentile latency to median latency, with 32 connections.
const TAIL: f64 = 10.0;
const AZURITE: &str = "Azurite";
const STACK: &str = "hyper";

/// Measures one workload on tables of one shape. The first of `places` is `table-server`, and the second is Azurite.
///
/// For small requests, the HTTP stack with a constant response is measured as well. Over one connection, a server mostly waits for its client. The rate of the
/// HTTP stack is therefore an upper bound for any server.
pub fn measure(
    work: Work,
    shape: &Shape,
    (places, constant): (&[Place; 2], &Place),
    options: &Options,
    report: &mut Report,
) -> Outcome<()> {
    if work == Work::Queue {
        places.iter().try_for_each(work::create_queue)?;
    }
    for connections in CONNECTIONS {
        let [ours, azurite] = places;
        let micros = RefCell::new(Vec::new());
        let run = |place, time| worker::ask(work, (place, false), shape, connections, time);
        let mut contenders = vec![
            Contender::new(OURS, |time| {
                let done = run(ours, time)?;
                micros.borrow_mut().extend(done.micros);
                Ok(done.rate)
            }),
            Contender::new(AZURITE, |time| Ok(run(azurite, time)?.rate)),
        ];
        if matches!(work, Work::Get | Work::Insert | Work::Merge) {
            contenders.push(Contender::new(STACK, |time| {
                Ok(worker::ask(work, (constant, true), shape, connections, time)?.rate)
            }));
        }
        let figures = alternate(contenders, options.rounds, options.time)?;
        let of = if work.is_sized() { shape.title } else { "a queue" };
        let name = format!("{}, {of}, {connections} connections", work.title());
        report.compare(&name, &figures, &[(AZURITE, Target::AtLeast(TIMES))]);
        if let [_, azurite, stack] = figures.as_slice() {
            report.compare_figures(
                &format!("a constant: {name}"),
                &[stack.clone(), azurite.clone()],
                Target::Shown,
            );
        }
        if connections == 32 {
            let mut micros = micros.into_inner();
            micros.sort_unstable();
            let (middle, slow) = (Done::quantile(&micros, 500), Done::quantile(&micros, 990));
            let ratio = f64::from(slow) / f64::from(middle.max(1));
            let name = format!("p99 against p50: {name}");
            report.line(&name, format!("{slow} µs"), format!("{middle} µs"), ratio, Target::AtMost(TAIL));
        }
    }
    Ok(())
}
