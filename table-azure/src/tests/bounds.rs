//! Tests of limits: the time limit of a call and the shared retry budget; and tests of calls that the caller drops.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use table_core::query::Select;
use table_core::{EntityKey, ErrorCode, OperationKind, TableStore};
use tokio::time::{Instant, timeout};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::server::*;
use crate::{AzureTables, Credential, Options, RetryPolicy, TokenFuture, TokenProvider};

fn key() -> EntityKey {
    EntityKey::new("p", "r").unwrap()
}

fn stored() -> Reply {
    entity("2026-11-20T07:00:00Z", 1)
}

/// Tests that the overall time limit ends the second attempt, and that no third attempt starts.
#[tokio::test(start_paused = true)]
async fn rty_2_the_whole_operation_has_a_time_limit() {
    let server = Server::start(vec![Reply::Silence; 4]).await;
    let retry = RetryPolicy { operation_timeout: Duration::from_secs(50), ..RetryPolicy::default() };
    let client = server.client(Options::new().retry(retry).operation_ids(true));
    let began = Instant::now();
    let error = submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap_err();
    assert!(error.is_ambiguous(), "{error}");
    let spent = began.elapsed();
    assert!((50_000..50_100).contains(&spent.as_millis()), "{spent:?}");
    assert_eq!(server.lines()[..2], ["POST /Employee"; 2]);
}

/// A token provider that never returns a token.
#[derive(Debug)]
struct Never;

impl TokenProvider for Never {
    fn token<'a>(&'a self, _scope: &'a str) -> TokenFuture<'a> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn rty_2_and_auth_12_a_token_that_never_arrives_ends_the_call() {
    let server = Server::start([]).await;
    let client =
        AzureTables::with_options(&server.endpoint, Credential::token(Never), Options::new()).unwrap();
    let began = Instant::now();
    let error = submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap_err();
    assert_eq!((error.code(), error.is_ambiguous()), (ErrorCode::Io, false), "{error}");
    assert_eq!(began.elapsed().as_secs(), 180);
    assert!(server.received().is_empty());
}

/// Tests dropping a call while it waits for a token, for a response, and between two attempts. The next call must be unaffected.
#[tokio::test(start_paused = true)]
async fn con_11_a_dropped_call_does_not_affect_the_next() {
    let server = Server::start([Reply::Silence, refusal(503, "ServerBusy"), done()]).await;
    let credential = Credential::token(Never);
    let without_token = AzureTables::with_options(&server.endpoint, credential, Options::new()).unwrap();
    let client = server.client(Options::new());
    let insert = |client: &AzureTables| {
        let client = client.clone();
        async move { submit(&client, [("r", OperationKind::Insert(row(1)))]).await }
    };
    let second = Duration::from_secs(1);
    for _ in 0..2 {
        assert!(timeout(second, insert(&without_token)).await.is_err());
    }
    assert!(timeout(second, insert(&client)).await.is_err());
    assert!(timeout(second / 2, insert(&client)).await.is_err());
    assert!(insert(&client).await.is_ok());
    tokio::time::sleep(second * 600).await;
    assert_eq!(server.received().len(), 3, "nothing is sent for a call that was dropped");
}

/// A tracing subscriber that records the events of `table_azure::circuit`.
#[derive(Clone, Debug, Default)]
struct Circuit(Arc<Mutex<Vec<String>>>);

impl Subscriber for Circuit {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "table_azure::circuit"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut State(self));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct State<'a>(&'a Circuit);

impl Visit for State<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "state" {
            self.0.0.lock().unwrap().push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

/// Tests that in an outage each call is sent only once instead of four times, and that retries resume after successes.
#[tokio::test(start_paused = true)]
async fn rty_2_retries_of_all_calls_share_a_bound_and_are_traced() {
    let circuit = Circuit::default();
    // If a thread without a dispatcher reaches a callsite first, tracing disables the callsite permanently. A second dispatcher prevents this.
    let _second = tracing::Dispatch::new(circuit.clone());
    let _listening = tracing::subscriber::set_default(circuit.clone());
    let events = || circuit.0.lock().unwrap().clone();

    let server = Server::start(vec![refusal(503, "ServerBusy"); 5 + 6]).await;
    let client = server.client(Options::new().retry(RetryPolicy { budget: 6, ..RetryPolicy::default() }));
    for _ in 0..5 {
        assert!(client.get(&table(), &key(), &Select::All).await.unwrap_err().is_throttled());
    }
    assert_eq!((server.received().len(), events()), (5 + 6, vec!["open".to_owned()]));

    server.then(vec![stored(); 30].into_iter().chain([refusal(503, "ServerBusy"), stored()]));
    for _ in 0..31 {
        assert!(client.get(&table(), &key(), &Select::All).await.unwrap().is_some());
    }
    assert_eq!((server.received().len(), events()), (11 + 32, vec!["open".to_owned(), "closed".to_owned()]));
}
