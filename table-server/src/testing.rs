//! A server without network connections, for this project's tests.

use std::net::Ipv4Addr;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};

use table_wire::sas::Caller;

use crate::account::Account;
use crate::answer::Answer;
use crate::exchange::Exchange;
use crate::limits::ServerLimits;
use crate::log_limit::LogLimits;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::{observe, route};

/// The service addressed by a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Tables.
    Tables,
    /// Queues.
    Queues,
}

/// Handles and logs a request, as a server with the given accounts would.
pub async fn answer(accounts: &[Account], port: Port, request: Request<Bytes>) -> Response<Bytes> {
    let service = match port {
        Port::Tables => Service::Tables,
        Port::Queues => Service::Queues,
    };
    let (parts, body) = request.into_parts();
    let mut exchange =
        Exchange::new(service, parts, Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false });
    exchange.body = body;
    let answer = if exchange.body.len() > ServerLimits::default().body_bytes {
        Answer::refused(Refusal::new(413, "RequestBodyTooLarge", ""), &exchange)
    } else {
        route::run(accounts, None, &mut exchange).await
    };
    observe::log(&exchange, (&answer, false), Duration::ZERO, &LogLimits::default());
    answer.into_response(&exchange).map(Bytes::from)
}
