//! Compares the server with a pinned version of Azurite and with its own bare HTTP stack. All get the same load in one run.
//!
//! Each server is a separate process that keeps its data in memory. The load consists of raw, signed HTTP/1.1 requests. One thread per connection sends them.

pub mod allocations;
pub mod child;
pub mod connection;
pub mod data;
pub mod growth;
pub mod hostile;
pub mod load;
pub mod peers;
pub mod request;
pub mod stack;
pub mod start;
pub mod work;
pub mod worker;

use tests::azurite::AzuriteServer;

use crate::Outcome;
use crate::options::Options;
use crate::report::Report;
use child::Server;
use data::Shape;
use work::Place;

/// Runs all measurements reported by `ratios --server`.
pub fn measure(options: &Options, report: &mut Report) -> Outcome<()> {
    let wants = |row: &str| options.wants(row);
    if wants("stack") {
        stack::measure(options, report)?;
    }
    if wants("start") {
        start::measure(options, report)?;
    }
    if wants("allocations") {
        allocations::measure(report)?;
    }
    if wants("growth") {
        growth::measure(options, report)?;
    }
    if wants("hostile") {
        hostile::measure(options, report)?;
    }
    let works: Vec<_> = work::Work::ALL.into_iter().filter(|work| wants(work.word())).collect();
    if works.is_empty() {
        return Ok(());
    }
    let (ours, stack) = (Server::start(child::SERVE)?, Server::start(child::CONSTANT)?);
    let azurite = AzuriteServer::start()?;
    let places = [Place::new(&ours.line)?, Place::new(&azurite.connection_string())?];
    let mut constant = Place::new(&ours.line)?;
    constant.tables.clone_from(&stack.line);
    let sizes = if options.quick { &Shape::ALL[..2] } else { &Shape::ALL[..] };
    for shape in sizes {
        for place in &places {
            data::fill(place, shape)?;
        }
        for work in works.iter().filter(|work| work.is_sized() || shape == &Shape::ALL[0]) {
            peers::measure(*work, shape, (&places, &constant), options, report)?;
        }
    }
    Ok(())
}
