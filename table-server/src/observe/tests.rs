//! Tests of resets, and of the limits on log lines.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Waker};

use serde_json::Value;
use table_core::{Engine, Error, ErrorCode, TableName, TableStore};
use table_wire::sas::Caller;
use tracing::Dispatch;

use super::*;
use crate::account::Account;
use crate::limits::ServerLimits;
use crate::service::Service;
use crate::shared::Shared;
use crate::transport::Transport;

/// Returns the state of a server with one table and four request permits, and the engine of its account.
async fn shared() -> (Arc<Shared>, Engine) {
    let account = Account::emulator(Engine::in_memory()).unwrap().resettable();
    let engine = account.engine.clone();
    engine.create_table(&TableName::new("Employee").unwrap()).await.unwrap();
    let limits = ServerLimits { requests: 4, ..ServerLimits::default() };
    (Arc::new(Shared::new(vec![account], limits, Duration::ZERO, Transport::Plain, None)), engine)
}

/// An in-memory log.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A request of a kind that the log distinguishes.
#[derive(Clone, Copy, Debug)]
struct Logged {
    status: u16,
    is_verified: bool,
    is_internal: bool,
}

/// The kinds of requests, each with the level and text of its log lines, and `true` if anyone can send such requests.
const KINDS: [(Logged, Level, &str, bool); 6] = [
    (kind(403, false), Level::WARN, "a request was not authorized", true),
    (kind(403, true), Level::WARN, "a request was not authorized", true),
    (kind(404, false), Level::INFO, "a request", true),
    (kind(200, false), Level::INFO, "a request", true),
    (kind(200, true), Level::INFO, "a request", false),
    (Logged { is_internal: true, ..kind(500, true) }, Level::ERROR, "the server failed", false),
];

const fn kind(status: u16, is_verified: bool) -> Logged {
    Logged { status, is_verified, is_internal: false }
}

/// Logs requests, and returns the number of lines with each level and text.
fn lines(most: Level, requests: &[Logged]) -> BTreeMap<(String, String), usize> {
    let kept = Kept::default();
    let writer = kept.clone();
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_max_level(most);
    let dispatch = Dispatch::new(subscriber.with_writer(move || writer.clone()).finish());
    // If only one dispatcher existed, a callsite that another test's thread reaches first would stay disabled, because that thread has no dispatcher.
    let _second = Dispatch::new(tracing_subscriber::fmt().with_max_level(most).finish());
    let (parts, ()) = Request::get("/devstoreaccount1/Tables").body(()).unwrap().into_parts();
    let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
    let (exchange, limits) = (Exchange::new(Service::Tables, parts, caller), LogLimits::default());
    tracing::dispatcher::with_default(&dispatch, || {
        for request in requests {
            let mut answer = Answer::new(request.status);
            answer.internal = request.is_internal.then(|| Error::new(ErrorCode::Io, "a failure"));
            log(&exchange, (&answer, request.is_verified), Duration::ZERO, &limits);
        }
    });
    let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    text.lines().fold(BTreeMap::new(), |mut lines, line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        *lines.entry((text("level"), text("message"))).or_default() += 1;
        lines
    })
}

/// Tests every pair of kinds at every log level: a flood of the first kind hides no line of the second.
#[test]
fn lines_of_one_kind_do_not_use_up_the_limit_of_another() {
    for most in [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG] {
        for (flood, of_flood, flood_text, is_flood_bounded) in KINDS {
            for (few, level, text, is_bounded) in KINDS {
                let is_same_line = (of_flood, flood_text) == (level, text);
                if is_same_line && is_flood_bounded && is_bounded {
                    continue;
                }
                let requests = [vec![flood; 100], vec![few; 3]].concat();
                let found = lines(most, &requests);
                let count = found.get(&(level.to_string(), text.to_owned())).copied().unwrap_or_default();
                let others = match (is_same_line, is_flood_bounded) {
                    (true, true) => 60,
                    (true, false) => 100,
                    (false, _) => 0,
                };
                let expected = if level <= most { others + 3 } else { 0 };
                assert_eq!(count, expected, "{flood:?}, then {few:?}, at {most}: {found:?}");
            }
        }
    }
}

#[test]
fn lines_that_anyone_can_cause_are_limited() {
    for (flood, level, text, is_bounded) in KINDS {
        let found = lines(Level::INFO, &[flood; 100]);
        let expected = if is_bounded { 60 } else { 100 };
        assert_eq!(found, [((level.to_string(), text.to_owned()), expected)].into(), "{flood:?}");
    }
}

async fn tables(engine: &Engine) -> usize {
    engine.list_tables("", None, 10).await.unwrap().names.len()
}

fn post(origin: Option<&str>) -> Request<()> {
    let request = Request::post("/reset");
    let request = origin.into_iter().fold(request, |request, origin| request.header(ORIGIN, origin));
    request.body(()).unwrap()
}

#[tokio::test]
async fn a_reset_is_completed_without_its_client() {
    let (shared, engine) = shared().await;
    let running = Arc::clone(&shared.requests).try_acquire_owned().unwrap();
    {
        let request = post(None);
        let mut answer = pin!(answer(&request, Arc::clone(&shared)));
        assert!(answer.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        // The reset has begun once it holds all remaining permits.
        while shared.requests.try_acquire().is_ok() {
            tokio::task::yield_now().await;
        }
        // The client closes its connection while the reset waits for a running request.
    }
    assert_eq!(tables(&engine).await, 1);
    drop(running);
    // Permits are granted in request order, so this call waits until the reset is complete.
    drop(shared.requests.acquire_many(4).await.unwrap());
    assert_eq!(tables(&engine).await, 0);
}

#[tokio::test]
async fn a_web_page_cannot_reset_the_server() {
    let (shared, engine) = shared().await;
    for origin in ["http://127.0.0.1:10010", "https://contoso.com", "null"] {
        assert_eq!(answer(&post(Some(origin)), Arc::clone(&shared)).await.status(), 403, "{origin}");
    }
    assert_eq!(tables(&engine).await, 1);
    assert_eq!(answer(&post(None), shared).await.status(), 200);
    assert_eq!(tables(&engine).await, 0);
}
