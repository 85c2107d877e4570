//! Handles one request: verifies its head, reads its body, and runs the operation.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::{CONTENT_LENGTH, EXPECT};
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use table_wire::sas::Caller;
use tokio::sync::OwnedSemaphorePermit;

use crate::account::Account;
use crate::answer::Answer;
use crate::authorize::Access;
use crate::body;
use crate::exchange::Exchange;
use crate::observe;
use crate::refusal::Refusal;
use crate::route::{self, Admitted};
use crate::service::Service;
use crate::shared::Shared;
use crate::turn;
use crate::unread::ResponseBody;
use crate::unverified::Guest;

/// The maximum number of bytes of a rejected body to read and discard, so the sender can read the response instead of seeing a broken connection.
const DRAINED: u64 = 64 << 20;
/// The maximum time spent reading a rejected body.
const DRAINING: Duration = Duration::from_secs(5);

/// A request whose head (request line and headers) has been examined.
struct Examined {
    exchange: Exchange,
    /// The account and the credential of an admitted request, or the response to a rejected one.
    admitted: Result<(Arc<Account>, Access), Answer>,
}

/// Handles a request.
///
/// A request counts toward the limit on concurrent requests only after its signature is verified, so unauthenticated requests cannot exhaust the limit.
/// Verification requires only the request's head. This function examines the head before it returns. The returned future does the rest, because HTTP/2 runs it
/// outside the connection's turns (see [`turn`](crate::turn)).
pub(crate) fn handle(
    shared: Arc<Shared>,
    service: Service,
    request: Request<Incoming>,
    caller: Caller,
    guest: Arc<Guest>,
) -> impl Future<Output = Result<Response<ResponseBody>, Infallible>> {
    let begun = Instant::now();
    let (parts, body) = request.into_parts();
    let mut exchange = Exchange::new(service, parts, caller);
    let admitted = match route::admit(&shared.accounts, shared.bearer.as_ref(), &mut exchange) {
        Admitted::Verified(account, access) if guest.verified() => Ok((Arc::clone(account), access)),
        // The connection may be closed at any time, so no operation may begin: its response could be lost.
        Admitted::Verified(account, _) => Err(route::finish(account, &exchange, Err(no_room()))),
        Admitted::Answered(answer) => Err(answer),
    };
    if admitted.is_err() {
        turn::refused(&guest, begun.elapsed());
    }
    let examined = Examined { exchange, admitted };
    async move { Ok(respond(&shared, examined, body, &guest).await) }
}

/// Rejects the first authenticated request of a connection because too many connections are open.
fn no_room() -> Refusal {
    let help = "too many connections are open; retry, and use one connection for many requests";
    Refusal { closes: true, ..Refusal::new(503, "ServerBusy", help) }
}

/// Returns the response to a request. If the request is authenticated, reads its body and runs its operation.
async fn respond(
    shared: &Shared,
    examined: Examined,
    mut body: Incoming,
    guest: &Guest,
) -> Response<ResponseBody> {
    let Examined { mut exchange, admitted } = examined;
    let is_verified = admitted.is_ok();
    let permit = match &admitted {
        Ok((account, access)) => Some(read(shared, (account, access), &mut exchange, &mut body).await),
        Err(_) => None,
    };
    let exchange = Arc::new(exchange);
    let mut answer = match (admitted, permit) {
        (Err(answer), _) => answer,
        (Ok((account, access)), permit) => {
            let answer = match permit.transpose() {
                Ok(permit) => run(Arc::clone(&account), access, Arc::clone(&exchange), permit).await,
                Err(refusal) => Err(refusal),
            };
            route::finish(&account, &exchange, answer)
        }
    };
    if exchange.is_http_1 && !body.is_end_stream() {
        if exchange.header(EXPECT).is_some_and(|expected| expected.eq_ignore_ascii_case("100-continue")) {
            // The client may omit the body or may already have sent it, so the start of the next request is uncertain (RFC 9110, section 10.1.1).
            answer.closes = true;
        } else {
            tokio::spawn(drain(body));
        }
    }
    if !shared.latency.is_zero() {
        tokio::time::sleep(shared.latency).await;
    }
    shared.metrics.count(&observe::log(
        &exchange,
        (&answer, is_verified),
        exchange.begun.elapsed(),
        &shared.log_limits,
    ));
    let count = |body| shared.unread.count(body, exchange.caller.address, guest.eviction());
    answer.into_response(&exchange).map(count)
}

/// Runs a request, holding its permit until completion.
///
/// A request that changes settings runs to completion, and keeps its permit until then, even if this future is dropped because the client closes the connection
/// or cancels the request.
async fn run(
    account: Arc<Account>,
    access: Access,
    exchange: Arc<Exchange>,
    permit: Option<OwnedSemaphorePermit>,
) -> Result<Answer, Refusal> {
    let is_completed = route::changes_settings(&exchange);
    let answer = async move {
        let _permit = permit;
        route::answer(&account, &access, &exchange).await
    };
    if !is_completed {
        return answer.await;
    }
    let task = tokio::spawn(answer);
    task.await.unwrap_or_else(|_| Err(Refusal::new(500, "InternalError", "the server failed")))
}

/// Reads an authenticated request's body within the size and time limits, and returns a permit for processing the request. A request that its credential does
/// not permit is rejected first, so it takes no permit. A body that the operation does not use is not read.
///
/// # Errors
/// Any error from [`route::permit`]; `ServerBusy` if too many requests are being received or processed; `RequestBodyTooLarge` if the body is too large; 408 if
/// it arrives too slowly; `InvalidInput` if the connection breaks.
async fn read(
    shared: &Shared,
    (account, access): (&Account, &Access),
    exchange: &mut Exchange,
    incoming: &mut Incoming,
) -> Result<OwnedSemaphorePermit, Refusal> {
    let busy = || Refusal::new(503, "ServerBusy", "too many requests are in progress; retry");
    if !incoming.is_end_stream() && route::permit(account, access, exchange)? {
        let most = shared.limits.body_bytes;
        let declared = exchange.header(CONTENT_LENGTH).and_then(|length| length.parse().ok());
        if declared.is_some_and(|length: u64| length > most as u64) {
            return Err(body::too_large(most));
        }
        let _upload = shared.uploads.permit(account.name()).ok_or_else(busy)?;
        let read = tokio::time::timeout(shared.limits.read_timeout, body::read(incoming, most)).await;
        let read =
            read.map_err(|_| Refusal::new(408, "RequestTimeout", "The body took too long to arrive."))?;
        exchange.body = read?.into();
    }
    Arc::clone(&shared.requests).try_acquire_owned().map_err(|_| busy())
}

/// Reads and discards the rest of a body after its request has been answered.
async fn drain(mut body: Incoming) {
    let rest = async {
        let mut bytes = 0;
        while let Some(Ok(frame)) = body.frame().await {
            bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
            if bytes > DRAINED {
                return;
            }
        }
    };
    // If the client continues to send, its connection is closed.
    let _ = tokio::time::timeout(DRAINING, rest).await;
}

#[cfg(test)]
mod tests;
