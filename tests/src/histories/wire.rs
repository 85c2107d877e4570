//! The connection of a client. It loses the requests and responses that a script selects.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use table_azure::testing::{Broken, Delivery, Wire, WireAnswer, WireRequest};
use tokio::time::sleep;

use crate::histories::service::{Account, refused};

/// The fate of one request, such as a lost response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The request is answered normally.
    Serve,
    /// No connection can be opened.
    NoConnection,
    /// The connection breaks before the request arrives.
    DropBefore,
    /// The request is applied, but the connection then breaks.
    DropAfter,
    /// The connection breaks, and the request arrives later, after a delay.
    Late(Duration),
    /// The response arrives after a delay.
    Slow(Duration),
    /// The request never arrives, but the connection stays open.
    SilenceBefore,
    /// The request is applied, but no response arrives.
    SilenceAfter,
    /// The request is applied twice in a row. The client receives the first response.
    Double,
    /// The request is throttled.
    Busy,
    /// A gateway responds with a status and an HTML page, and does not forward the request.
    GatewayBefore(u16),
    /// A gateway forwards the request, but responds with a status and an HTML page itself.
    GatewayAfter(u16),
    /// The request is applied, but the body of the response is truncated.
    CutBody,
}

/// A function that chooses the fate of each request of a client.
pub type Script = Box<dyn FnMut(&WireRequest) -> Act + Send>;

/// The connection of one client to the account. It loses some of the requests and responses.
pub struct LossyWire {
    account: Account,
    script: Mutex<Script>,
    /// The lag of the secondary.
    behind: Duration,
    /// The current step of the client's program. Each request is attributed to this step.
    step: AtomicUsize,
    /// For each step, the number of times the account received the step's write.
    arrivals: Arc<Mutex<Vec<usize>>>,
    log: Arc<Mutex<Vec<String>>>,
}

impl LossyWire {
    /// Creates a connection to an account. The secondary of the account lags behind by `behind`. `script` chooses the fate of each request.
    #[must_use]
    pub fn new(account: Account, behind: Duration, script: Script) -> Self {
        let script = Mutex::new(script);
        Self {
            account,
            script,
            behind,
            step: AtomicUsize::new(0),
            arrivals: Arc::default(),
            log: Arc::default(),
        }
    }

    /// Attributes all later requests to the given step.
    pub fn begin(&self, step: usize) {
        self.step.store(step, Ordering::Relaxed);
    }

    /// Returns the number of times the account received a step's write.
    #[must_use]
    pub fn arrivals(&self, step: usize) -> usize {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).get(step).copied().unwrap_or(0)
    }

    /// Returns all requests sent by the client, each with its fate.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, step: usize, request: &WireRequest, act: Act) {
        let path = request.url.split_once("://").map_or("", |(_, rest)| rest);
        let condition = request.header("if-match").map(|etag| format!(" if {etag}")).unwrap_or_default();
        let body = String::from_utf8_lossy(&request.body);
        let body = if path.contains("$batch") { "" } else { &*body };
        let line = format!("step {step}: {} {path}{condition} {body} -> {act:?}", request.method);
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

impl fmt::Debug for LossyWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LossyWire")
    }
}

/// A request, and the data needed to apply it on arrival.
struct Arriving {
    account: Account,
    request: WireRequest,
    step: usize,
    arrivals: Arc<Mutex<Vec<usize>>>,
}

impl Arriving {
    fn apply(&self) -> WireAnswer {
        if self.request.method != "GET" {
            let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
            let steps = arrivals.len().max(self.step + 1);
            arrivals.resize(steps, 0);
            arrivals[self.step] += 1;
        }
        self.account.answer(&self.request)
    }
}

impl Wire for LossyWire {
    fn send(&self, request: WireRequest) -> Delivery {
        if request.url.contains("-secondary") {
            let answer = self.account.answer_of_secondary(&request, self.behind);
            return Box::pin(async move { Ok(answer) });
        }
        let act = (self.script.lock().unwrap_or_else(PoisonError::into_inner))(&request);
        let step = self.step.load(Ordering::Relaxed);
        self.note(step, &request, act);
        let arriving =
            Arriving { account: self.account.clone(), request, step, arrivals: Arc::clone(&self.arrivals) };
        Box::pin(deliver(act, arriving))
    }
}

async fn deliver(act: Act, arriving: Arriving) -> Result<WireAnswer, Broken> {
    // Both directions have a delay. Other requests are handled in the meantime.
    sleep(MOMENT).await;
    match act {
        Act::Serve => {
            let answer = arriving.apply();
            sleep(MOMENT).await;
            Ok(answer)
        }
        Act::Slow(time) => {
            sleep(time).await;
            Ok(arriving.apply())
        }
        Act::NoConnection => Err(Broken::BeforeSending),
        Act::DropBefore => Err(Broken::AfterSending),
        Act::DropAfter => {
            let _ = arriving.apply();
            Err(Broken::AfterSending)
        }
        Act::Late(time) => {
            tokio::spawn(async move {
                sleep(time).await;
                let _ = arriving.apply();
            });
            Err(Broken::AfterSending)
        }
        Act::SilenceBefore => std::future::pending().await,
        Act::SilenceAfter => {
            let _ = arriving.apply();
            std::future::pending().await
        }
        Act::Double => {
            let answer = arriving.apply();
            let _ = arriving.apply();
            Ok(answer)
        }
        Act::Busy => Ok(refused((503, "ServerBusy"), None)),
        Act::GatewayBefore(status) => Ok(page(status)),
        Act::GatewayAfter(status) => {
            let _ = arriving.apply();
            Ok(page(status))
        }
        Act::CutBody => {
            let mut answer = arriving.apply();
            answer.body.truncate(answer.body.len() / 2);
            Ok(answer)
        }
    }
}

const MOMENT: Duration = Duration::from_millis(1);

fn page(status: u16) -> WireAnswer {
    let body = b"<html>Bad Gateway</html>".to_vec();
    WireAnswer { status, headers: vec![("content-type", "text/html".to_owned())], body }
}
