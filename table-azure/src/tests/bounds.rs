//! Tests of call time limits, the shared retry budget, and calls dropped by the caller.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use table_core::query::Select;
use table_core::row::RowWriter;
use table_core::{
    EntityKey, ErrorCode, Operation, OperationKind, PartitionKey, RowKey, TableStore, Transaction, ValueRef,
};
use tokio::time::{Instant, timeout};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::server::*;
use crate::{AzureTables, Credential, Options, RetryPolicy, Target, TokenFuture, TokenProvider};

fn key() -> EntityKey {
    EntityKey::new("p", "r").unwrap()
}

fn stored() -> Reply {
    entity("2026-11-20T07:00:00Z", 1)
}

/// Tests that the operation's time limit ends the second attempt and prevents a third.
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

/// Tests that a dropped call does not affect the next one. It is dropped while it waits for a token, for a response, or between two attempts.
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

/// A tracing subscriber that records the events with the target `table_azure::circuit`.
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

/// Tests that each request is sent once instead of four times during an outage, and that retries resume after enough successes.
#[tokio::test(start_paused = true)]
async fn rty_2_retries_of_all_calls_share_a_bound_and_are_traced() {
    let circuit = Circuit::default();
    // If a thread without a dispatcher reaches a callsite first, tracing disables that callsite permanently. A second dispatcher prevents this.
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

/// Tests that the client sends every transaction that its own limits accept. The transactions are filled to the last byte with rows of several sizes.
#[tokio::test]
async fn egt_3_and_con_11_a_transaction_within_the_limits_of_the_client_is_sent() {
    for (operation_ids, target) in
        [(false, Target::Service), (true, Target::Service), (true, Target::Emulator), (true, Target::Cosmos)]
    {
        for first in [60_000, 41_000, 3] {
            let server = Server::start([refusal(403, "AuthorizationFailure")]).await;
            let client = server.client_of(Options::new().operation_ids(operation_ids).target(target));
            let limits = client.capabilities().limits;
            let mut full = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
            let (mut number, mut length) = (0, first);
            while length > 0 && number < limits.operations {
                let mut row = RowWriter::new();
                row.property("Data", ValueRef::Binary(&vec![0; length]));
                let kind = OperationKind::InsertOrReplace(row.finish());
                let row_key = RowKey::new(format!("{number:03}")).unwrap();
                match full.push(Operation { row_key, kind }) {
                    Ok(()) => number += 1,
                    Err(_) => length /= 2,
                }
            }
            let case = format!("{operation_ids}, {target:?}, {first}, {} bytes", full.bytes());
            let error = client.submit(&table(), full).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::AuthorizationFailure, "{case}: {error}");
            let sent = server.received()[0].body.len();
            assert!(sent <= limits.transaction_bytes, "{case}: {sent} bytes were sent");
        }
    }
}

/// Tests the largest entities that a client's limits accept, both by number of properties and by size.
#[tokio::test]
async fn ent_2_size_1_and_con_11_an_entity_within_the_limits_of_the_client_is_sent() {
    for operation_ids in [false, true] {
        let server = Server::start(vec![done(); 2]).await;
        let client = server.client(Options::new().operation_ids(operation_ids));
        let transaction = || {
            let partition_key = PartitionKey::new("p").unwrap();
            Transaction::new(partition_key, client.capabilities().limits).unwrap()
        };
        let operation = |properties: usize, bytes: usize| {
            let mut row = RowWriter::new();
            for number in 0..properties {
                row.property(&format!("P{number:03}"), ValueRef::Binary(&vec![0; bytes]));
            }
            let kind = OperationKind::InsertOrReplace(row.finish());
            Operation { row_key: RowKey::new("r").unwrap(), kind }
        };
        for largest in [
            (0..=253).rev().map(|properties| operation(properties, 1)).collect::<Vec<_>>(),
            (61_630..61_670).rev().map(|bytes| operation(17, bytes)).collect(),
        ] {
            let mut codes = Vec::new();
            let accepted = largest.into_iter().find_map(|operation| {
                let mut one = transaction();
                one.push(operation).map_err(|error| codes.push(error.code())).ok().map(|()| one)
            });
            assert!(!codes.is_empty(), "the limit is within the tested range");
            client.submit(&table(), accepted.unwrap()).await.unwrap();
        }
    }
}
