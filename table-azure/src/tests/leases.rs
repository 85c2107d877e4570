//! Tests that no attempt is made after the transaction's lease has ended (EVO-3). Tokio's clock is paused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use proptest::prelude::*;
use table_core::store::{Committed, WriteLease};
use table_core::{
    Clock, Error, Operation, OperationKind, PartitionKey, Result, RowKey, TableStore, Transaction,
};
use tokio::runtime::Builder;
use tokio::time::Instant;

use super::server::*;
use crate::{AccessToken, AzureTables, Credential, Options, RetryPolicy, Target, TokenFuture, TokenProvider};

/// Submits a transaction with `count` operations under a lease.
async fn submit(client: &AzureTables, count: usize, lease: WriteLease) -> Result<Committed> {
    let limits = client.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("p")?, limits)?.with_lease(lease);
    for at in 0..count {
        let row_key = RowKey::new(at.to_string())?;
        transaction.push(Operation { row_key, kind: OperationKind::InsertOrReplace(row(1)) })?;
    }
    client.submit(&table(), transaction).await
}

/// Returns a lease measured by Tokio's clock.
fn lease(length: Duration) -> WriteLease {
    let start = Instant::now();
    WriteLease::new(&Clock::new(|| 0).with_elapsed(move || start.elapsed()), length)
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    /// The service rejects the request because it is busy. It may state after how many seconds the client should retry.
    Busy(Option<u64>),
    /// The service fails, so the outcome is unknown.
    Failed,
    /// The connection ends without a response.
    Cut,
}

impl Answer {
    fn reply(self) -> Reply {
        let seconds = |after: u64| format!("Retry-After: {after}");
        match self {
            Self::Busy(None) => refusal(503, "ServerBusy"),
            Self::Busy(Some(after)) => {
                answer(503, &[JSON, &seconds(after)], &refusal_body("ServerBusy", "no"))
            }
            Self::Failed => refusal(500, "InternalError"),
            Self::Cut => Reply::Cut,
        }
    }
}

fn answers() -> impl Strategy<Value = Answer> {
    prop_oneof![
        4 => Just(Answer::Busy(None)),
        2 => (0..9_u64).prop_map(|after| Answer::Busy(Some(after))),
        1 => Just(Answer::Failed),
        1 => Just(Answer::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn evo_3_no_attempt_starts_after_the_end_of_the_lease(
        answers in prop::collection::vec(answers(), 0..6),
        milliseconds in 1..12_000_u64,
        count in 1..3_usize,
        max_retries in 0..8_u32,
        initial_delay in 1..3_000_u64,
    ) {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let replies = answers.iter().map(|answer| answer.reply());
            let server = Server::start(replies.chain([if count == 1 { done() } else { Reply::Cut }])).await;
            let initial_delay = Duration::from_millis(initial_delay);
            let policy = RetryPolicy { max_retries, initial_delay, ..RetryPolicy::default() };
            let client = server.client(Options::new().retry(policy));
            let length = Duration::from_millis(milliseconds);
            let began = Instant::now();
            let outcome = submit(&client, count, lease(length)).await;
            let received = server.received();
            for request in &received {
                let at = request.at.unwrap().duration_since(began);
                prop_assert!(at < length, "an attempt was made {:?} after the begin of a lease of {:?}", at, length);
                prop_assert!(request.query().contains(&("timeout".to_owned(), "4".to_owned())));
            }
            let is_doubtful = answers.iter().take(received.len()).any(|answer| !matches!(answer, Answer::Busy(_)));
            match outcome {
                Ok(_) => prop_assert_eq!(received.len(), answers.len() + 1),
                Err(error) if WriteLease::has_ended(&error) => {
                    prop_assert!(!is_doubtful, "{}", error);
                    prop_assert!(began.elapsed() >= length || received.is_empty());
                }
                Err(error) => prop_assert_eq!(error.is_ambiguous(), is_doubtful || received.len() > answers.len()),
            }
            Ok(())
        })?;
    }
}

#[tokio::test(start_paused = true)]
async fn evo_3_an_attempt_without_a_response_ends_soon_after_the_lease() {
    let server = Server::start([Reply::Silence, done()]).await;
    let client = server.client(Options::new());
    let began = Instant::now();
    let error = submit(&client, 1, lease(Duration::from_secs(5))).await.unwrap_err();
    let limit = Duration::from_secs(5) + WriteLease::ATTEMPT;
    let spent = began.elapsed();
    assert!(spent >= limit && spent < limit + Duration::from_secs(2), "{spent:?}");
    assert!(error.is_ambiguous() && server.received().len() == 1, "{error}");
}

/// A token provider that advances the lease's clock by `seconds` for each token.
#[derive(Debug)]
struct Slow {
    elapsed: Arc<AtomicU64>,
    seconds: u64,
}

impl TokenProvider for Slow {
    fn token<'a>(&'a self, _: &'a str) -> TokenFuture<'a> {
        let before = self.elapsed.fetch_add(self.seconds, Ordering::Relaxed);
        let expires_on: DateTime<Utc> = "2030-01-01T00:00:00Z".parse().unwrap();
        Box::pin(async move { Ok(AccessToken { secret: format!("token{before}"), expires_on }) })
    }
}

#[tokio::test]
async fn evo_3_a_request_whose_token_took_longer_than_the_lease_is_not_sent() {
    // The second token is requested once the first one has been rejected.
    for (seconds, sent) in [(6, 0), (3, 1), (1, 2)] {
        let elapsed = Arc::new(AtomicU64::new(0));
        let server = Server::start([answer(401, &[], ""), done()]).await;
        let provider = Slow { elapsed: Arc::clone(&elapsed), seconds };
        let options = Options::new().target(Target::Service);
        let client =
            AzureTables::with_options(&server.endpoint, Credential::token(provider), options).unwrap();
        let clock =
            Clock::new(|| 0).with_elapsed(move || Duration::from_secs(elapsed.load(Ordering::Relaxed)));
        let outcome = submit(&client, 1, WriteLease::new(&clock, Duration::from_secs(5))).await;
        assert_eq!(server.received().len(), sent, "{outcome:?}");
        let has_ended = |error: &Error| WriteLease::has_ended(error);
        assert_eq!((outcome.is_ok(), outcome.is_err_and(|error| has_ended(&error))), (sent == 2, sent < 2));
    }
}

#[tokio::test]
async fn evo_3_a_lease_that_ends_after_a_lost_response_leaves_the_error_of_the_lost_response() {
    let elapsed = Arc::new(AtomicU64::new(0));
    let server = Server::start([Reply::Cut, answer(401, &[], ""), done()]).await;
    let provider = Slow { elapsed: Arc::clone(&elapsed), seconds: 3 };
    let retry = RetryPolicy { initial_delay: Duration::from_millis(1), ..RetryPolicy::default() };
    let options = Options::new().target(Target::Service).retry(retry);
    let client = AzureTables::with_options(&server.endpoint, Credential::token(provider), options).unwrap();
    let clock = Clock::new(|| 0).with_elapsed(move || Duration::from_secs(elapsed.load(Ordering::Relaxed)));
    let error = submit(&client, 1, WriteLease::new(&clock, Duration::from_secs(5))).await.unwrap_err();
    assert!(error.is_ambiguous() && !WriteLease::has_ended(&error), "{error}");
    assert!(!error.to_string().contains("the time in which the program may write"), "{error}");
    assert_eq!(server.received().len(), 2);
}
