//! Compares `table-azure` with other clients. All clients use one Azurite server, which this program starts.

pub mod allocations;
pub mod client;
pub mod connections;
pub mod external;
pub mod look_ahead;
pub mod ours;
pub mod pace;
pub mod peers;
pub mod proxy;
pub mod server;

use crate::Outcome;
use crate::azurite::client::Work;
use crate::azurite::ours::Ours;
use crate::azurite::server::Server;
use crate::options::Options;
use crate::report::Report;

pub use allocations::count;

/// Runs all measurements reported by `ratios --azurite`.
pub fn measure(options: &Options, report: &mut Report) -> Outcome<()> {
    let server = Server::start()?;
    let ours = Ours::new(&server.connection_string(), "ReadingsOurs")?;
    ours.fill()?;
    let wants = |row: &str| options.wants(row);
    if wants("pipeline") {
        pace::measure(&server, options, report)?;
    }
    if wants("look_ahead") {
        look_ahead::measure(&server, options, report)?;
    }
    if wants("connections") {
        connections::measure(&server, report)?;
    }
    if wants("allocations") {
        allocations::measure(&server, report)?;
    }
    if wants("peers") {
        let mut others = peers::start(&server, report);
        for work in Work::ALL {
            peers::measure(work, &ours, &mut others, options, report)?;
        }
    }
    Ok(())
}
