//! How many connections requests take.

use std::time::Duration;

use crate::Outcome;
use crate::azurite::client::{AT_ONCE, Work};
use crate::azurite::ours::Ours;
use crate::azurite::proxy::Proxy;
use crate::azurite::server::Server;
use crate::report::{Report, Target};

const REQUESTS: u32 = 1_000;
/// A connection is back in the pool just after its answer has been read: a request that follows at once may open another.
const SPARE: u32 = 4;

/// Measures the rows: about as many as requests are under way at once.
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
