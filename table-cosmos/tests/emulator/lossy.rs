//! A mock network between a client and the emulator. It loses, delays and duplicates requests, and responds with gateway statuses.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_cosmos::emulator::{Answer, Broken, Delivery, Emulator, Network, Request};
use tests::histories::Steps;
use tokio::time::sleep;

/// The maximum delay of a request.
pub(crate) const LATEST: Duration = Duration::from_secs(3);

/// The network's reaction to a request.
#[derive(Clone, Copy, Debug)]
enum Act {
    Serve,
    NoConnection,
    DropBefore,
    DropAfter,
    /// The connection breaks, but the request arrives after a delay.
    Late(Duration),
    Slow(Duration),
    SilenceBefore,
    SilenceAfter,
    /// A request with a condition is delivered twice, the second time after a delay.
    Double(Duration),
    Busy,
    /// The response has the given status, and the request is not applied.
    Before(u16),
    /// The request is applied, but the response has the given status.
    After(u16),
    /// One part of the batch response has the given status, and the batch is not applied.
    PartBefore(u16),
    /// One part of the batch response has the given status, although the batch is applied.
    PartAfter(u16),
}

/// A mock network between one client and the account.
pub(crate) struct Lossy {
    account: Emulator,
    random: Mutex<StdRng>,
    calm: bool,
    log: Mutex<Vec<String>>,
}

impl Lossy {
    /// Creates a network that injects random faults with the given seed, or no faults if `calm` is `true`.
    pub(crate) fn new(account: Emulator, seed: u64, calm: bool) -> Arc<Self> {
        let random = Mutex::new(StdRng::seed_from_u64(seed));
        Arc::new(Self { account, random, calm, log: Mutex::default() })
    }

    /// Returns the log: each request and the network's reaction to it, one per line.
    pub(crate) fn lines(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).join("\n  ")
    }

    fn act(&self, request: &Request) -> Act {
        // Faults are injected only into item requests, because the properties of the account and the containers are read only once.
        if self.calm || !request.target.contains("/docs") {
            return Act::Serve;
        }
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let mut some = || Duration::from_millis(random.random_range(1..3_000));
        let time = some();
        let is_batch = request.header("x-ms-cosmos-is-batch-request").is_some();
        match random.random_range(0..64_u32) {
            0 => Act::NoConnection,
            1 | 2 => Act::DropBefore,
            3..8 => Act::DropAfter,
            8..10 => Act::Late(time),
            10 | 11 => Act::Slow(time),
            12 => Act::SilenceBefore,
            13 => Act::SilenceAfter,
            14 | 15 => Act::Double(time),
            16 => Act::Busy,
            17 => Act::Before(502),
            18 => Act::Before(503),
            19 => Act::After(503),
            20 => Act::After(504),
            21 => Act::After(500),
            22 => Act::After(408),
            23 | 24 if is_batch => Act::PartBefore(429),
            25 if is_batch => Act::PartBefore(449),
            26 if is_batch => Act::PartBefore(410),
            27 if is_batch => Act::PartBefore(500),
            28 if is_batch => Act::PartAfter(503),
            29 if is_batch => Act::PartAfter(408),
            _ => Act::Serve,
        }
    }
}

/// Returns `true` if a second delivery of a request is harmless. `status` is the status of the first delivery.
///
/// If the entity is deleted between the deliveries, a duplicate insert inserts it again. The same applies to a duplicate of a batch that was rejected because
/// of an insert, if the batch's conditions still hold. HTTP/1.1 never delivers such requests twice. A request whose condition cannot hold a second time may be
/// duplicated by any network, so this network duplicates only such requests.
fn is_harmless_twice(request: &Request, status: u16) -> bool {
    let body = String::from_utf8_lossy(&request.body);
    let was_refused_insert = status != 200 && body.contains("\"operationType\":\"Create\"");
    (request.header("if-match").is_some() || body.contains("\"ifMatch\"")) && !was_refused_insert
}

impl Network for Lossy {
    fn deliver(&self, request: Request) -> Delivery {
        let act = self.act(&request);
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let line = format!(
            "{} {} if {:?} {body} -> {act:?}",
            request.method,
            request.target,
            request.header("if-match")
        );
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        let account = self.account.clone();
        Box::pin(async move {
            sleep(Duration::from_millis(1)).await;
            match act {
                Act::Serve => {
                    let answer = account.receive(&request).await;
                    sleep(Duration::from_millis(1)).await;
                    answer
                }
                Act::Slow(time) => {
                    sleep(time).await;
                    account.receive(&request).await
                }
                Act::NoConnection => Err(Broken::BeforeSending),
                Act::DropBefore => Err(Broken::AfterSending),
                Act::DropAfter => {
                    let _ = account.receive(&request).await;
                    Err(Broken::AfterSending)
                }
                Act::Late(time) => {
                    again(account, request, time);
                    Err(Broken::AfterSending)
                }
                Act::SilenceBefore => std::future::pending().await,
                Act::SilenceAfter => {
                    let _ = account.receive(&request).await;
                    std::future::pending().await
                }
                Act::Double(time) => {
                    let answer = account.receive(&request).await;
                    if answer.as_ref().is_ok_and(|answer| is_harmless_twice(&request, answer.status)) {
                        again(account, request, time);
                    }
                    answer
                }
                Act::Busy => Ok(answer(429)),
                Act::Before(status) => Ok(answer(status)),
                Act::After(status) => {
                    let _ = account.receive(&request).await;
                    Ok(answer(status))
                }
                Act::PartBefore(status) => Ok(rolled_back(status)),
                Act::PartAfter(status) => {
                    let _ = account.receive(&request).await;
                    Ok(rolled_back(status))
                }
            }
        })
    }
}

/// Delivers a request in the background after a delay.
fn again(account: Emulator, request: Request, time: Duration) {
    tokio::spawn(async move {
        sleep(time).await;
        let _ = account.receive(&request).await;
    });
}

fn answer(status: u16) -> Answer {
    Answer::new(status, "<html>Bad Gateway</html>")
}

/// Returns the service's response to a failed batch, with the given status in one part.
fn rolled_back(status: u16) -> Answer {
    let mut answer = Answer::new(207, format!(r#"[{{"statusCode":424}},{{"statusCode":{status}}}]"#));
    answer.headers.push(("x-ms-activity-id".to_owned(), "00000000-0000-0000-0000-000000000001".to_owned()));
    answer
}

impl Steps for Lossy {
    fn begin(&self, _: usize) {}

    /// Returns 1. A request is applied at most once, even if it arrives several times.
    fn arrivals(&self, _: usize) -> usize {
        1
    }
}

impl fmt::Debug for Lossy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lossy")
    }
}
