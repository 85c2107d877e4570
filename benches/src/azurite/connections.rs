//! Counts the connections that `table-azure` opens for concurrent requests.

use std::time::Duration;

use crate::Outcome;
use crate::azurite::client::{AT_ONCE, Work};
use crate::azurite::ours::Ours;
use crate::azurite::proxy::Proxy;
use crate::azurite::server::Server;
use crate::report::{Report, Target};

const REQUESTS: u32 = 1_000;
/// The number of spare connections that are allowed, in addition to one per concurrent request.
///
/// A connection returns to hyper's pool once it is ready for its next request. This can be shortly after the caller has received the response. A request that
/// is sent in the meantime finds no idle connection and opens another one. It then uses the connection that becomes free first, and both connections are kept.
/// After a while, the pool has a spare connection and opens no more. With 1 and 32 concurrent requests, 3 and 34 connections were counted.
const SPARE: u32 = 4;

/// Counts the connections for one request at a time, and for many concurrent requests. Adds the counts to the report.
pub fn measure(server: &Server, report: &mut Report) -> Outcome<()> {
    for (work, at_once) in [(Work::Insert, 1), (Work::Pipelined, u32::try_from(AT_ONCE)?)] {
        let most = at_once + SPARE;
        let proxy = Proxy::before(server.address()?, Duration::ZERO)?;
        let connection_string = proxy.connection_string(&server.connection_string(), &server.address()?);
        let ours = Ours::new(&connection_string, &format!("Readings{}", work.word()))?;
        ours.inserts(work, u64::from(REQUESTS))?;
        let found = u32::try_from(proxy.accepted())?;
        report.line(
            &format!("connections of {REQUESTS} requests: {}", work.title()),
            found.to_string(),
            format!("at most {most}"),
            f64::from(found) / f64::from(most),
            Target::AtMost(1.0),
        );
    }
    Ok(())
}
