//! Measures whether a stream requests the next page while the current page is processed. Processing a page takes as long as requesting it.

use std::thread::sleep;
use std::time::Duration;

use crate::Outcome;
use crate::azurite::ours::Ours;
use crate::azurite::server::Server;
use crate::harness::{Contender, Rate, alternate};
use crate::options::Options;
use crate::report::{Report, Target};

/// Compares the stream with reading the pages one by one. Adds the ratio of the rates to the report. If ten pages take 20 units of time one by one, the stream
/// takes at least 11.
pub fn measure(server: &Server, options: &Options, report: &mut Report) -> Outcome<()> {
    let ours = Ours::new(&server.connection_string(), "ReadingsAhead")?;
    let page = ours.one_by_one(|| {})? / 10;
    let once = |elapsed: Duration| Rate { operations: 1, elapsed };
    let contenders = vec![
        Contender::new("stream", |_| ours.streamed(|| sleep(page)).map(once)),
        Contender::new("page by page", |_| ours.one_by_one(|| sleep(page)).map(once)),
    ];
    let figures = alternate(contenders, options.rounds, options.time)?;
    let work = "ten pages, the reader as slow as the server: a stream against page by page";
    report.compare_figures(work, &figures, Target::AtLeast(1.4));
    report.note(format!(
        "A page took {:.1} ms without look-ahead and without a reader.",
        page.as_secs_f64() * 1e3
    ));
    Ok(())
}
