//! Tests of the conditions, delays and limits of retries (RTY rules). Tokio's clock is paused and advances only during delays.

use std::time::Duration;

use table_core::etag::IfMatch;
use table_core::query::{KeyRange, Query, Select};
use table_core::{EntityKey, ErrorCode, OperationKind, TableStore};
use tokio::time::Instant;

use super::server::*;
use crate::{Options, RetryPolicy};

fn key() -> EntityKey {
    EntityKey::new("p", "r").unwrap()
}

/// Tests that throttled requests are retried. Above a scalability target, the service responds with 503, and Cosmos DB with 429 (SCL-3).
#[tokio::test(start_paused = true)]
async fn rty_1_2_and_4_a_throttled_request_is_retried_with_a_new_signature() {
    let server = Server::start([refusal(503, "ServerBusy"), refusal(429, "TooManyRequests"), done()]).await;
    let client = server.client(Options::new());
    let began = Instant::now();
    submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap();
    let delay = began.elapsed().as_millis();
    assert!((1_920..=2_890).contains(&delay), "{delay} ms");
    let received = server.received();
    assert_eq!(server.lines(), ["POST /Employee"; 3]);
    let header =
        |name: &str| received.iter().map(|request| request.header(name).to_owned()).collect::<Vec<_>>();
    for name in ["x-ms-date", "authorization"] {
        let values = header(name);
        assert!(values[0] != values[1] && values[1] != values[2], "{values:?}");
    }
    assert_eq!(received[0].body, received[2].body);
}

#[tokio::test(start_paused = true)]
async fn rty_3_the_service_says_how_long_to_wait() {
    let busy = |header: &str| answer(429, &[JSON, header], &refusal_body("TooManyRequests", "no"));
    let replies =
        [busy("x-ms-retry-after-ms: 7000"), busy("Retry-After: 20"), entity("2026-11-20T07:00:00Z", 1)];
    let server = Server::start(replies).await;
    let began = Instant::now();
    server.client(Options::new()).get(&table(), &key(), &Select::All).await.unwrap().unwrap();
    assert_eq!(began.elapsed().as_secs(), 27);
}

#[tokio::test(start_paused = true)]
async fn rty_1_reads_are_retried_after_each_transient_failure() {
    for reply in [
        refusal(408, "RequestTimeout"),
        refusal(429, "TooManyRequests"),
        refusal(500, "InternalError"),
        answer(502, &["Content-Type: text/html"], "<html>"),
        refusal(503, "ServerBusy"),
        answer(504, &[], ""),
        Reply::Cut,
        Reply::CutBody,
        Reply::Silence,
        Reply::SlowBody,
    ] {
        let server = Server::start([reply.clone(), entity("2026-11-20T07:00:00Z", 1)]).await;
        let found = server.client(Options::new()).get(&table(), &key(), &Select::All).await;
        assert!(found.unwrap().is_some(), "{reply:?}");
        assert_eq!(server.received().len(), 2, "{reply:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn rty_1_permanent_failures_are_not_retried() {
    for (status, code) in [
        (400, ErrorCode::InvalidInput),
        (403, ErrorCode::AuthorizationFailure),
        (409, ErrorCode::EntityAlreadyExists),
        (412, ErrorCode::UpdateConditionNotSatisfied),
        (413, ErrorCode::RequestBodyTooLarge),
        (501, ErrorCode::NotImplemented),
        (505, ErrorCode::InternalError),
        (302, ErrorCode::InternalError),
    ] {
        let server = Server::start([refusal(status, "Unknown")]).await;
        let client = server.client(Options::new());
        let error = submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap_err();
        assert_eq!((error.code(), server.received().len()), (code, 1), "{status}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn rty_2_attempts_and_time_are_bounded() {
    let server = Server::start(vec![refusal(500, "InternalError"); 9]).await;
    let error =
        server.client(Options::new()).query(&table(), &Query::new(KeyRange::ALL), None).await.unwrap_err();
    assert_eq!((error.code(), server.received().len()), (ErrorCode::InternalError, 4));

    let server = Server::start(vec![answer(503, &["Retry-After: 3600"], ""); 9]).await;
    let began = Instant::now();
    let error = server.client(Options::new()).get(&table(), &key(), &Select::All).await.unwrap_err();
    assert!(error.is_throttled() && began.elapsed() < Duration::from_secs(1), "{error}");
    assert_eq!(server.received().len(), 1);

    let server = Server::start(vec![refusal(503, "ServerBusy"); 9]).await;
    let client = server.client(Options::new().retry(RetryPolicy::NONE));
    assert!(client.get(&table(), &key(), &Select::All).await.unwrap_err().is_throttled());
    assert_eq!(server.received().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn req_6_each_attempt_has_a_time_limit() {
    let server = Server::start(vec![Reply::Silence; 4]).await;
    let began = Instant::now();
    let error = server.client(Options::new()).get(&table(), &key(), &Select::All).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Io);
    let spent = began.elapsed().as_secs();
    assert!((4 * 35 + 4..=4 * 35 + 7).contains(&spent), "{spent} s");
}

#[tokio::test(start_paused = true)]
async fn con_11_a_write_without_a_definite_response_is_ambiguous() {
    for reply in [Reply::Cut, Reply::Silence, refusal(500, "InternalError"), answer(503, &[], "<html>")] {
        let server = Server::start(vec![reply.clone(); 4]).await;
        let client = server.client(Options::new());
        let error = submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap_err();
        assert!(error.is_ambiguous(), "{reply:?}: {error}");
        assert_eq!(server.received().len(), 4);
    }
    // Every attempt was throttled, so the write cannot have been applied.
    let server = Server::start(vec![refusal(503, "ServerBusy"); 4]).await;
    let client = server.client(Options::new());
    let error = submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap_err();
    assert!(error.is_throttled() && !error.is_ambiguous(), "{error}");
    // The last response says nothing about the outcome of the first attempt.
    let replies =
        [Reply::Cut, refusal(503, "ServerBusy"), refusal(503, "ServerBusy"), refusal(503, "ServerBusy")];
    let server = Server::start(replies).await;
    let client = server.client(Options::new());
    assert!(submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap_err().is_ambiguous());
}

#[tokio::test(start_paused = true)]
async fn a_failed_connection_is_not_ambiguous() {
    // The socket stays bound during the entire test, so no other socket can use the port. It never listens, so the system refuses every connection.
    let closed = tokio::net::TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut server = Server::start([]).await;
    server.endpoint = format!("http://{}/devstoreaccount1", closed.local_addr().unwrap());
    let client = server.client(Options::new());
    let error = submit(&client, [("r", OperationKind::Delete(IfMatch::Any))]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Io);
    assert!(!error.is_ambiguous());
}

/// Tests a server that accepts connections but never completes the TLS handshake. The request is never sent, even if an attempt has a short time limit.
#[tokio::test]
async fn a_handshake_without_end_is_not_ambiguous() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut server = Server::start([]).await;
    server.endpoint = format!("https://{}/devstoreaccount1", listener.local_addr().unwrap());
    let retry = RetryPolicy { attempt_timeout: Duration::from_millis(800), ..RetryPolicy::NONE };
    let client = server.client(Options::new().retry(retry));
    let error = submit(&client, [("r", OperationKind::Delete(IfMatch::Any))]).await.unwrap_err();
    assert_eq!((error.code(), error.is_ambiguous()), (ErrorCode::Io, false), "{error}");
}

#[tokio::test(start_paused = true)]
async fn con_11_an_attempt_without_time_is_not_sent() {
    let server = Server::start([]).await;
    let retry = RetryPolicy { operation_timeout: Duration::ZERO, ..RetryPolicy::NONE };
    let client = server.client(Options::new().retry(retry));
    let error = submit(&client, [("r", OperationKind::Delete(IfMatch::Any))]).await.unwrap_err();
    assert_eq!((error.code(), error.is_ambiguous()), (ErrorCode::Io, false), "{error}");
    assert!(server.received().is_empty());
}

#[tokio::test(start_paused = true)]
async fn rty_6_and_opt_4_create_waits_for_a_deletion_to_finish() {
    let deleted = || refusal(409, "TableBeingDeleted");
    let server = Server::start([deleted(), deleted(), deleted(), done()]).await;
    let began = Instant::now();
    server.client(Options::new()).create_table(&table()).await.unwrap();
    assert_eq!((began.elapsed().as_secs(), server.received().len()), (5 + 10 + 20, 4));

    let server = Server::start(vec![deleted(); 40]).await;
    let began = Instant::now();
    let error = server.client(Options::new()).create_table(&table()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TableBeingDeleted);
    assert!((260..=300).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

#[tokio::test]
async fn one_connection_serves_successive_requests() {
    let server = Server::start(vec![done(); 20]).await;
    let client = server.client(Options::new());
    for _ in 0..10 {
        submit(&client, [("r", OperationKind::InsertOrMerge(row(1)))]).await.unwrap();
        submit(&client.clone(), [("r", OperationKind::InsertOrMerge(row(1)))]).await.unwrap();
    }
    assert_eq!((server.received().len(), server.connections()), (20, 1));
}
