//! A request of a connection: its place, its body, its answer.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use table_wire::sas::Caller;
use tokio::sync::SemaphorePermit;

use crate::answer::Answer;
use crate::exchange::Exchange;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::shared::Shared;
use crate::{observe, route};

/// Answers a request.
pub(crate) async fn handle(
    shared: Arc<Shared>,
    service: Service,
    request: Request<Incoming>,
    caller: Caller,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let begun = Instant::now();
    let (parts, body) = request.into_parts();
    let mut exchange = Exchange::new(service, parts, caller);
    let answer = match read(&shared, &mut exchange, body).await {
        Ok(_permit) => route::answer(&shared.accounts, &mut exchange).await,
        Err(refusal) => Answer::refused(&refusal, &exchange),
    };
    if !shared.latency.is_zero() {
        tokio::time::sleep(shared.latency).await;
    }
    shared.metrics.count(&observe::log(&exchange, &answer, begun.elapsed()));
    Ok(answer.into_response(&exchange))
}

/// Reads the body, within its bounds, and takes the place of a request.
async fn read<'a>(
    shared: &'a Shared,
    exchange: &mut Exchange,
    body: Incoming,
) -> Result<SemaphorePermit<'a>, Refusal> {
    let permit = shared
        .requests
        .try_acquire()
        .map_err(|_| Refusal::new(503, "ServerBusy", "The server is busy with other requests."))?;
    if body.is_end_stream() {
        return Ok(permit);
    }
    let body = Limited::new(body, shared.limits.body_bytes).collect();
    let read = tokio::time::timeout(shared.limits.sending, body).await;
    let read = read.map_err(|_| Refusal::new(408, "RequestTimeout", "The body took too long to arrive."))?;
    exchange.body = match read {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            return Err(Refusal::new(
                413,
                "RequestBodyTooLarge",
                "The body is larger than the service takes.",
            ));
        }
        Err(_) => return Err(Refusal::input("The body broke off.")),
    };
    Ok(permit)
}
