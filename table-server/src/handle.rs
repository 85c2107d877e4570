//! Handles one request of a connection: verifies its head, reads its body, runs it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::{CONTENT_LENGTH, EXPECT};
use http::{Request, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use table_wire::sas::Caller;
use tokio::sync::SemaphorePermit;

use crate::account::Account;
use crate::answer::Answer;
use crate::authorize::Access;
use crate::exchange::Exchange;
use crate::observe;
use crate::refusal::Refusal;
use crate::route::{self, Admitted};
use crate::service::Service;
use crate::shared::Shared;
use crate::turn;
use crate::unread::ResponseBody;
use crate::unverified::Guest;

/// The maximum number of bytes of a refused body that are read and discarded, so the sender can read the response instead of
/// seeing a broken connection.
const DRAINED: u64 = 64 << 20;
/// The maximum time spent on reading a refused body.
const DRAINING: Duration = Duration::from_secs(5);

/// A request whose head has been examined.
struct Examined {
    exchange: Exchange,
    /// The account and the credential of a verified request, or the response to a rejected one.
    admitted: Result<(Arc<Account>, Access), Answer>,
    begun: Instant,
}

/// Handles a request.
///
/// A request counts against the limit only after its signature is verified, which needs only its head. Unauthenticated requests therefore cannot
/// exhaust the limit. This call examines the head; the returned future does not, because HTTP/2 runs it outside the turns of the connection.
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
        Admitted::Answered(answer) => {
            turn::refused(&guest);
            Err(answer)
        }
        Admitted::Verified(account, access) => {
            guest.verified();
            Ok((Arc::clone(account), access))
        }
    };
    let examined = Examined { exchange, admitted, begun };
    async move { Ok(respond(&shared, examined, body, &guest).await) }
}

/// Reads the body of a verified request, runs it, and returns the response.
async fn respond(
    shared: &Shared,
    examined: Examined,
    mut body: Incoming,
    guest: &Guest,
) -> Response<ResponseBody> {
    let Examined { mut exchange, admitted, begun } = examined;
    let is_verified = admitted.is_ok();
    let mut answer = match admitted {
        Err(answer) => answer,
        Ok((account, access)) => {
            let answer = match read(shared, &mut exchange, &mut body).await {
                Ok(_permit) => route::answer(&account, &access, &exchange).await,
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
        begun.elapsed(),
        &shared.log_limit,
    ));
    let count = |body| shared.unread.count(body, exchange.caller.address, guest.eviction());
    answer.into_response(&exchange).map(count)
}

/// Reads the body of a verified request within the limits, and counts the request against the limit of concurrent requests.
///
/// # Errors
/// `ServerBusy` if the limit is reached; `RequestBodyTooLarge`; 408 for a body that arrives too slowly.
async fn read<'a>(
    shared: &'a Shared,
    exchange: &mut Exchange,
    body: &mut Incoming,
) -> Result<SemaphorePermit<'a>, Refusal> {
    let busy = |_| Refusal::new(503, "ServerBusy", "too many requests are in progress; retry");
    if !body.is_end_stream() {
        let most = shared.limits.body_bytes;
        let declared = exchange.header(CONTENT_LENGTH).and_then(|length| length.parse().ok());
        if declared.is_some_and(|length: u64| length > most as u64) {
            return Err(too_large(most));
        }
        let _upload = shared.uploads.try_acquire().map_err(busy)?;
        let read = tokio::time::timeout(shared.limits.read_timeout, Limited::new(body, most).collect()).await;
        let read =
            read.map_err(|_| Refusal::new(408, "RequestTimeout", "The body took too long to arrive."))?;
        exchange.body = match read {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => return Err(too_large(most)),
            Err(_) => return Err(Refusal::input("the connection broke before the end of the body")),
        };
    }
    shared.requests.try_acquire().map_err(busy)
}

fn too_large(most: usize) -> Refusal {
    Refusal::new(413, "RequestBodyTooLarge", format!("a body has at most {most} bytes"))
}

/// Reads the rest of a body after its request was answered.
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
