//! Serves health, readiness, metrics and reset at a separate address, and logs requests to the services.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::ORIGIN;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use table_core::query::QueryClass;
use tokio::net::TcpListener;
use tracing::Level;

use crate::answer::Answer;
use crate::exchange::Exchange;
use crate::log_limit::LogLimits;
use crate::metrics::Answered;
use crate::operation::Operation;
use crate::unverified::Guests;

/// The maximum number of open connections to the observation endpoint. When it is reached, a new connection displaces an older one, so silent connections
/// cannot block a health check.
const CONNECTIONS: usize = 16;
/// The time limit for one connection, which serves one request.
const SENDING: Duration = Duration::from_secs(10);

/// The operations of a running server that the observation endpoint uses.
pub(crate) trait Observed: Send + Sync + 'static {
    /// Returns `true` if the server accepts requests.
    fn is_ready(&self) -> bool;

    /// Returns the server's metrics as text.
    fn metrics(&self) -> String;

    /// Deletes the data of all accounts. Returns `Ok(false)`, and deletes nothing, if an account does not allow resets.
    fn reset(self: Arc<Self>) -> impl Future<Output = table_core::Result<bool>> + Send;
}

/// Serves requests at `listener` until the returned future is dropped.
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
            async move { Ok::<_, Infallible>(answer(&request, observed).await) }
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

async fn answer<B>(request: &Request<B>, observed: Arc<impl Observed>) -> Response<Full<Bytes>> {
    let (status, body) = match (request.uri().path(), request.method()) {
        ("/health", _) => (200, "ok\n".to_owned()),
        ("/ready", _) if observed.is_ready() => (200, "ready\n".to_owned()),
        ("/ready", _) => (503, "not ready\n".to_owned()),
        ("/metrics", _) => (200, observed.metrics()),
        // Browsers add this header to every POST request from a web page. Programs do not send it.
        ("/reset" | "/observe/reset", &Method::POST) if request.headers().contains_key(ORIGIN) => {
            (403, "a web page cannot reset the server; send the request without `Origin`\n".to_owned())
        }
        ("/reset" | "/observe/reset", &Method::POST) => reset(observed).await,
        ("/reset" | "/observe/reset", _) => (405, "use POST\n".to_owned()),
        _ => (404, "use /health, /ready, /metrics, or POST /reset\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    let text = http::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(http::header::CONTENT_TYPE, text);
    response
}

/// Runs a reset to completion, even if this future is dropped because the client closes the connection or the connection's time limit expires.
async fn reset(observed: Arc<impl Observed>) -> (u16, String) {
    let task = tokio::spawn(async move {
        let done = observed.reset().await;
        if let Err(error) = &done {
            tracing::error!(target: "table_server", %error, "a reset failed");
        }
        done
    });
    match task.await {
        Ok(Ok(true)) => (200, "everything is deleted\n".to_owned()),
        Ok(Ok(false)) => {
            (403, "an account is stored in a folder; only accounts in memory can be reset\n".to_owned())
        }
        Ok(Err(_)) | Err(_) => (500, "the reset failed; see the log\n".to_owned()),
    }
}

/// Returns the path for the log. If a SAS was wrongly appended to the path instead of the query, the path is truncated before the signature.
fn shown(path: &str) -> &str {
    let is_signature =
        |four: &[u8]| matches!(four, [name @ .., b'=' | b'%'] if name.eq_ignore_ascii_case(b"sig"));
    let end = path.as_bytes().windows(4).position(is_signature);
    end.and_then(|end| path.get(..end)).unwrap_or(path)
}

/// Logs an answered request, and returns its metrics data.
///
/// If an operation in a batch is rejected, the status of that operation is logged. An internal failure, such as a full disk, is logged as an error, and a
/// response with status 403 as a warning. Other requests are logged at level INFO, even listings and scans. The query is not logged, because it may contain a
/// signature; the filter of a table scan is logged.
///
/// `limits` bounds the number of lines for requests that anyone can send: requests answered with 403, and other unauthenticated requests. Beyond the limit for
/// their kind, such requests are logged at level DEBUG. A line that the subscriber has not enabled does not count toward a limit.
pub(crate) fn log<'a>(
    exchange: &Exchange,
    (answer, is_verified): (&'a Answer, bool),
    took: Duration,
    limits: &LogLimits,
) -> Answered<'a> {
    let answered = Answered {
        operation: Operation::of(exchange),
        cost: &answer.cost,
        status: answer.outcome(),
        took,
        bytes_in: exchange.body.len(),
        bytes_out: answer.body.len(),
    };
    let limit = if answer.internal.is_some() {
        None
    } else if answered.status == 403 {
        Some(&limits.unauthorized).filter(|_| tracing::enabled!(target: "table_server", Level::WARN))
    } else {
        Some(&limits.unverified)
            .filter(|_| !is_verified && tracing::enabled!(target: "table_server", Level::INFO))
    };
    let allowed = limit.map_or(Some(0), |limit| limit.line(Instant::now()));
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
                status = answered.status,
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
    } else if answered.status == 403 {
        event!(warn, caller = %exchange.caller.address, "a request was not authorized");
    } else if cost.class == Some(QueryClass::TableScan) {
        event!(info, filter = cost.filter.as_deref().unwrap_or_default(), "a table scan");
    } else {
        event!(info, "a request");
    }
    answered
}

#[cfg(test)]
mod tests;
