//! A mock network that injects a single fault.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use table_cosmos::emulator::{Answer, Broken, Delivery, Emulator, Network, Request};
use tokio::time::sleep;

/// The fault injected into the chosen request. All other requests are processed normally.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    /// The service rejects the request with this status, sub-status, and retry delay in milliseconds.
    Refused(u16, u16, Option<&'static str>),
    /// The request is applied, and the response has the given status.
    AppliedThen(u16),
    /// The request is applied, and then the connection breaks.
    AppliedThenBroken,
    /// The connection breaks, and the request arrives ten minutes later.
    BrokenThenApplied,
    /// No response ever arrives. The request is applied if the value is `true`.
    Silence(bool),
}

/// A mock network that injects a fault into one item request.
pub(super) struct Once {
    account: Emulator,
    at: usize,
    fate: Fate,
    sent: AtomicUsize,
}

impl Once {
    pub(super) fn new(account: &Emulator, at: usize, fate: Fate) -> Arc<Self> {
        Arc::new(Self { account: account.clone(), at, fate, sent: AtomicUsize::new(0) })
    }

    pub(super) fn sent(&self) -> usize {
        self.sent.load(Ordering::SeqCst)
    }
}

fn answer(status: u16, sub: u16, delay: Option<&str>) -> Answer {
    let mut answer = Answer::new(status, r#"{"code":"Injected","message":"injected"}"#);
    let mut add = |name: &str, value: &str| answer.headers.push((name.to_owned(), value.to_owned()));
    add("x-ms-activity-id", "6b1a0a4e-0000-4000-8000-000000000000");
    add("x-ms-substatus", &sub.to_string());
    if let Some(delay) = delay {
        add("x-ms-retry-after-ms", delay);
    }
    answer
}

impl Network for Once {
    fn deliver(&self, request: Request) -> Delivery {
        let account = self.account.clone();
        let is_item = request.target.contains("/docs");
        let is_chosen = is_item && self.sent.fetch_add(1, Ordering::SeqCst) == self.at;
        let fate = is_chosen.then_some(self.fate);
        Box::pin(async move {
            match fate {
                None => account.receive(&request).await,
                Some(Fate::Refused(status, sub, delay)) => Ok(answer(status, sub, delay)),
                Some(Fate::AppliedThen(status)) => {
                    let _ = account.receive(&request).await;
                    Ok(answer(status, 0, None))
                }
                Some(Fate::AppliedThenBroken) => {
                    let _ = account.receive(&request).await;
                    Err(Broken::AfterSending)
                }
                Some(Fate::BrokenThenApplied) => {
                    tokio::spawn(async move {
                        sleep(Duration::from_secs(600)).await;
                        let _ = account.receive(&request).await;
                    });
                    Err(Broken::AfterSending)
                }
                Some(Fate::Silence(is_applied)) => {
                    if is_applied {
                        let _ = account.receive(&request).await;
                    }
                    std::future::pending().await
                }
            }
        })
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {}", self.fate, self.at)
    }
}

pub(super) const FATES: [Fate; 23] = [
    Fate::Refused(429, 3200, None),
    Fate::Refused(429, 3200, Some("0")),
    Fate::Refused(429, 3200, Some("1000")),
    Fate::Refused(429, 3200, Some("600000")),
    Fate::Refused(429, 3200, Some("soon")),
    Fate::Refused(410, 0, None),
    Fate::Refused(410, 1000, None),
    Fate::Refused(410, 1002, None),
    Fate::Refused(410, 1007, None),
    Fate::Refused(410, 1008, None),
    Fate::Refused(449, 0, None),
    Fate::Refused(403, 3, None),
    Fate::Refused(403, 1008, None),
    Fate::Refused(404, 1002, None),
    Fate::Refused(401, 0, None),
    Fate::Refused(503, 0, None),
    Fate::AppliedThen(408),
    Fate::AppliedThen(500),
    Fate::AppliedThen(503),
    Fate::AppliedThenBroken,
    Fate::BrokenThenApplied,
    Fate::Silence(false),
    Fate::Silence(true),
];
