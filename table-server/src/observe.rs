//! Health, readiness and metrics, at an address of their own, and the log of requests.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use table_core::query::QueryClass;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::answer::Answer;
use crate::exchange::Exchange;
use crate::metrics::Answered;
use crate::operation::Operation;

/// Connections that are open at once.
const CONNECTIONS: usize = 16;
/// How long a client may take to send a request.
const SENDING: Duration = Duration::from_secs(10);

/// The figures of a running server.
pub(crate) trait Observed: Send + Sync + 'static {
    /// Whether it takes requests.
    fn is_ready(&self) -> bool;

    /// Its metrics as text.
    fn metrics(&self) -> String;
}

/// Answers at `listener` until this is dropped.
pub(crate) async fn serve(listener: TcpListener, observed: Arc<impl Observed>) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let permit = Arc::clone(&connections).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let observed = Arc::clone(&observed);
        let handle = service_fn(move |request: Request<Incoming>| {
            let answer = answer(request.uri().path(), &*observed);
            async { Ok::<_, Infallible>(answer) }
        });
        tokio::spawn(async move {
            let _permit = permit;
            let mut builder = http1::Builder::new();
            // One request a connection, so that forgotten connections shut no client out.
            builder.timer(TokioTimer::new()).header_read_timeout(SENDING).keep_alive(false);
            // What breaks off is asked again.
            drop(builder.serve_connection(TokioIo::new(stream), handle).await);
        });
    }
}

fn answer(path: &str, observed: &impl Observed) -> Response<Full<Bytes>> {
    let (status, body) = match path {
        "/health" => (200, "ok\n".to_owned()),
        "/ready" if observed.is_ready() => (200, "ready\n".to_owned()),
        "/ready" => (503, "not ready\n".to_owned()),
        "/metrics" => (200, observed.metrics()),
        _ => (404, "there are /health, /ready and /metrics\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    let text = http::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(http::header::CONTENT_TYPE, text);
    response
}

/// A path without a signature that a client has put into it, instead of into the query.
fn shown(path: &str) -> &str {
    let is_signature =
        |four: &[u8]| matches!(four, [name @ .., b'=' | b'%'] if name.eq_ignore_ascii_case(b"sig"));
    let end = path.as_bytes().windows(4).position(is_signature);
    end.and_then(|end| path.get(..end)).unwrap_or(path)
}

/// Logs a request that was answered, and gives what is counted of it. The query is left out, because it may hold a signature; of a scan
/// of a table, which costs as much as the table is large, the filter is named.
pub(crate) fn log<'a>(exchange: &Exchange, answer: &'a Answer, took: Duration) -> Answered<'a> {
    let answered = Answered {
        operation: Operation::of(exchange),
        cost: &answer.cost,
        status: answer.status,
        took,
        bytes_in: exchange.body.len(),
        bytes_out: answer.body.len(),
    };
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
                $($more)*
            )
        };
    }
    if cost.class == Some(QueryClass::TableScan) {
        event!(warn, filter = cost.filter.as_deref().unwrap_or_default(), "a scan of a table");
    } else {
        event!(info, "a request");
    }
    answered
}
