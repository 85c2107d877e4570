//! Compares pipelined inserts with sequential inserts. Both run on a local server, and on a server with the latency of another region.

use std::time::Duration;

use crate::Outcome;
use crate::azurite::client::{AT_ONCE, Work};
use crate::azurite::ours::Ours;
use crate::azurite::proxy::Proxy;
use crate::azurite::server::{Server, Share};
use crate::harness::{Contender, Figure, alternate};
use crate::options::Options;
use crate::report::{Report, Target};

/// The latency that is added to each request, as if the server were in a neighbouring region.
const FAR: Duration = Duration::from_millis(10);
/// The target for the ratio of pipelined inserts to sequential inserts.
const TIMES: f64 = 4.0;
/// The limit above which the request thread of a server counts as the bottleneck. It is the fraction of time for which the thread is busy.
const LIMIT: f64 = 0.9;

/// Measures the inserts and adds the ratios to the report.
pub fn measure(server: &Server, options: &Options, report: &mut Report) -> Outcome<()> {
    let direct = server.connection_string();
    runtime("insert", &Ours::new(&direct, "ReadingsNear")?, server, options, report)?;
    let proxy = Proxy::before(server.address()?, FAR)?;
    let far = Ours::new(&proxy.connection_string(&direct, &server.address()?), "ReadingsFar")?;
    runtime("insert from 10 ms away", &far, server, options, report)
}

fn runtime(name: &str, ours: &Ours, server: &Server, options: &Options, report: &mut Report) -> Outcome<()> {
    let mut shares = Vec::new();
    let contenders = vec![
        Contender::new("32 at once", |time| {
            let before = server.load()?;
            let done = ours.work(Work::Pipelined, time)?;
            shares.push(server.load()?.since(before));
            Ok(done.rate)
        }),
        Contender::new("one after another", |time| Ok(ours.work(Work::Insert, time)?.rate)),
    ];
    let figures = alternate(contenders, options.rounds, options.time)?;
    let (ran, wanted) = (median(&shares, |share| share.ran), median(&shares, |share| share.wanted));
    let ratio = match figures.as_slice() {
        [pipelined, sequential] => pipelined.median() / sequential.median(),
        _ => f64::NAN,
    };
    let (target, verdict) = match ratio {
        TIMES.. => (Target::AtLeast(TIMES), "the server is not the limit"),
        _ if ran >= LIMIT => (Target::Shown, "the server is the limit"),
        _ if wanted >= LIMIT => (Target::Shown, "not decided, the server gets too little of this machine"),
        _ => (Target::AtLeast(TIMES), "the server is not the limit"),
    };
    report.compare_figures(&format!("{name}, {AT_ONCE} at once against one after another"), &figures, target);
    report.note(format!(
        "{name}, {AT_ONCE} at once: {verdict}: its one thread was running for {:.0} % of the time, and running or waiting \
         for a core for {:.0} %.",
        ran * 100.0,
        wanted * 100.0,
    ));
    Ok(())
}

fn median(shares: &[Share], of: fn(&Share) -> f64) -> f64 {
    Figure::new("", shares.iter().map(of).collect()).median()
}
