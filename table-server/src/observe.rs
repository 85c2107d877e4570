//! Serves health, readiness, metrics and reset at a separate address, and logs all requests.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use table_core::query::QueryClass;
use tokio::net::TcpListener;

use crate::answer::Answer;
use crate::exchange::Exchange;
use crate::log_limit::LogLimit;
use crate::metrics::Answered;
use crate::operation::Operation;
use crate::unverified::Guests;

/// The maximum number of open connections. When it is reached, a new connection displaces the oldest one, so silent connections cannot block a health
/// check.
const CONNECTIONS: usize = 16;
/// The time limit for one request.
const SENDING: Duration = Duration::from_secs(10);

/// The parts of a running server that the observation endpoint reads.
pub(crate) trait Observed: Send + Sync + 'static {
    /// Returns `true` if the server accepts requests.
    fn is_ready(&self) -> bool;

    /// Returns the metrics of the server as text.
    fn metrics(&self) -> String;

    /// Deletes the data of all accounts. Returns `Ok(false)` if the server does not allow this.
    fn reset(&self) -> impl Future<Output = table_core::Result<bool>> + Send;
}

/// Serves requests at `listener` until the future is dropped.
pub(crate) async fn serve(listener: TcpListener, observed: Arc<impl Observed>) {
    let guests = Guests::new(CONNECTIONS, 0);
    loop {
        let Ok((stream, caller)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let guest = guests.enter(caller.ip());
        let observed = Arc::clone(&observed);
        let handle = service_fn(move |request: Request<Incoming>| {
            let observed = Arc::clone(&observed);
            async move { Ok::<_, Infallible>(answer(request.method(), request.uri().path(), &*observed).await) }
        });
        tokio::spawn(async move {
            let mut builder = http1::Builder::new();
            // Each connection serves one request, so abandoned connections do not block clients.
            builder.timer(TokioTimer::new()).header_read_timeout(SENDING).keep_alive(false);
            tokio::select! {
                // If the connection breaks, the client can send the request again.
                served = builder.serve_connection(TokioIo::new(stream), handle) => drop(served),
                () = guest.expired(SENDING) => {}
            }
        });
    }
}

async fn answer(method: &Method, path: &str, observed: &impl Observed) -> Response<Full<Bytes>> {
    let (status, body) = match (path, method) {
        ("/health", _) => (200, "ok\n".to_owned()),
        ("/ready", _) if observed.is_ready() => (200, "ready\n".to_owned()),
        ("/ready", _) => (503, "not ready\n".to_owned()),
        ("/metrics", _) => (200, observed.metrics()),
        ("/reset" | "/observe/reset", &Method::POST) => match observed.reset().await {
            Ok(true) => (200, "everything is deleted\n".to_owned()),
            Ok(false) => {
                (403, "an account is stored in a folder; only accounts in memory can be reset\n".to_owned())
            }
            Err(error) => {
                tracing::error!(target: "table_server", %error, "a reset failed");
                (500, "the reset failed; see the log\n".to_owned())
            }
        },
        ("/reset" | "/observe/reset", _) => (405, "use POST\n".to_owned()),
        _ => (404, "use /health, /ready, /metrics, or POST /reset\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    let text = http::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(http::header::CONTENT_TYPE, text);
    response
}

/// Returns the path for the log, without a SAS that a client wrongly appended to the path instead of the query.
fn shown(path: &str) -> &str {
    let is_signature =
        |four: &[u8]| matches!(four, [name @ .., b'=' | b'%'] if name.eq_ignore_ascii_case(b"sig"));
    let end = path.as_bytes().windows(4).position(is_signature);
    end.and_then(|end| path.get(..end)).unwrap_or(path)
}

/// Logs an answered request, and returns its data for the metrics.
///
/// Warnings need attention: a failure inside the server, such as a full disk, or a rejected signature. Listings and scans cause no warnings. The
/// query is not logged, because it may contain a signature; the filter of a table scan is logged.
///
/// `limit` bounds the log lines of requests that anyone can send: unverified requests, and requests answered with 403. Beyond the limit, they are
/// logged at level DEBUG.
pub(crate) fn log<'a>(
    exchange: &Exchange,
    (answer, is_verified): (&'a Answer, bool),
    took: Duration,
    limit: &LogLimit,
) -> Answered<'a> {
    let answered = Answered {
        operation: Operation::of(exchange),
        cost: &answer.cost,
        status: answer.status,
        took,
        bytes_in: exchange.body.len(),
        bytes_out: answer.body.len(),
    };
    let is_bounded = answer.internal.is_none() && (!is_verified || answer.status == 403);
    let allowed = if is_bounded { limit.line(Instant::now()) } else { Some(0) };
    let omitted = allowed.filter(|lines| *lines > 0);
    let (cost, class) = (&answer.cost, answer.cost.class.map(tracing::field::display));
    macro_rules! event {
        ($level:ident, $($more:tt)*) => {
            tracing::$level!(
                target: "table_server",
                id = exchange.id,
                operation = answered.operation.name(),
                method = exchange.method.as_str(),
                path = shown(&exchange.raw_path),
                status = answer.status,
                class,
                rows_read = cost.rows_read,
                rows_returned = cost.rows_returned,
                rows_written = cost.rows_written,
                bytes_in = answered.bytes_in,
                bytes_out = answered.bytes_out,
                micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
                omitted,
                $($more)*
            )
        };
    }
    if let Some(error) = &answer.internal {
        event!(error, %error, "the server failed");
    } else if allowed.is_none() {
        event!(debug, "a request was refused; the limit of such lines was exceeded");
    } else if answer.status == 403 {
        event!(warn, caller = %exchange.caller.address, "a request was not authorized");
    } else if cost.class == Some(QueryClass::TableScan) {
        event!(info, filter = cost.filter.as_deref().unwrap_or_default(), "a table scan");
    } else {
        event!(info, "a request");
    }
    answered
}
