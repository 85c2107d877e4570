//! Tests of credentials from the Azure SDK (AUTH-12).

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use azure_core::credentials::{AccessToken, TokenCredential, TokenRequestOptions};
use azure_core::error::{Error, ErrorKind};
use azure_core::time::OffsetDateTime;
use chrono::{DateTime, TimeDelta, Utc};
use table_core::query::Select;
use table_core::{EntityKey, ErrorCode, TableStore};

use super::server::*;
use crate::{AzureTables, Clock, Credential, Options, RetryPolicy};

const START: &str = "2026-11-20T08:00:00Z";

/// A mock credential that returns scripted results in order.
struct Scripted(Mutex<VecDeque<azure_core::Result<AccessToken>>>);

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted c2VjcmV0")
    }
}

#[async_trait::async_trait]
impl TokenCredential for Scripted {
    async fn get_token(
        &self,
        scopes: &[&str],
        _options: Option<TokenRequestOptions<'_>>,
    ) -> azure_core::Result<AccessToken> {
        assert_eq!(scopes, ["https://storage.azure.com/.default"]);
        self.0.lock().unwrap().pop_front().expect("asked for more tokens than there should be")
    }
}

fn start() -> DateTime<Utc> {
    START.parse().unwrap()
}

/// Returns a token that expires after `lifetime`.
fn good_for(secret: &'static str, lifetime: TimeDelta) -> AccessToken {
    let end = OffsetDateTime::from_unix_timestamp((start() + lifetime).timestamp()).unwrap();
    AccessToken::new(secret, end)
}

fn client<const N: usize>(
    server: &Server,
    tokens: [azure_core::Result<AccessToken>; N],
    now: Arc<Mutex<DateTime<Utc>>>,
) -> AzureTables {
    let credential = Credential::identity(Arc::new(Scripted(Mutex::new(tokens.into()))));
    let options =
        Options::new().clock(Clock::of_instants(move || *now.lock().unwrap())).retry(RetryPolicy::NONE);
    AzureTables::with_options(&server.endpoint, credential, options).unwrap()
}

#[tokio::test]
async fn auth_12_a_vendor_token_is_requested_once_and_renewed_before_it_expires() {
    let server = Server::start(vec![entity("2026-11-20T07:00:00Z", 1); 4]).await;
    let now = Arc::new(Mutex::new(start()));
    let hour = TimeDelta::hours(1);
    let client = client(
        &server,
        [Ok(good_for("c2VjcmV0MA", hour)), Ok(good_for("c2VjcmV0MQ", hour * 2))],
        Arc::clone(&now),
    );
    let key = EntityKey::new("p", "r").unwrap();
    // The renewal starts at 55 minutes. Only the last call, after the first token has expired, may have to wait for it.
    for minutes in [0, 54, 55, 61] {
        *now.lock().unwrap() = start() + TimeDelta::minutes(minutes);
        client.get(&table(), &key, &Select::All).await.unwrap();
    }
    let sent: Vec<_> =
        server.received().iter().map(|request| request.header("authorization").to_owned()).collect();
    assert_eq!(sent, ["MA", "MA", "MA", "MQ"].map(|end| format!("Bearer c2VjcmV0{end}")));
    assert!(!format!("{client:?}").contains("c2VjcmV0"));
}

#[tokio::test]
async fn auth_12_without_a_token_nothing_is_sent_and_the_error_says_so() {
    let server =
        Server::start([entity("2026-11-20T07:00:00Z", 1), refusal(403, "AuthenticationFailed")]).await;
    let tokens = [
        Err(Error::with_message(ErrorKind::Credential, "AADSTS7000215: invalid client secret provided")),
        Err(Error::with_message(ErrorKind::Io, "the name cannot be resolved")),
        Ok(good_for("c2VjcmV0MA", TimeDelta::hours(1))),
    ];
    let client = client(&server, tokens, Arc::new(Mutex::new(start())));
    let key = EntityKey::new("p", "r").unwrap();
    let mut errors = Vec::new();
    for code in [ErrorCode::AuthenticationFailed, ErrorCode::Io] {
        let error = client.get(&table(), &key, &Select::All).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (code, Some("AUTH-12")));
        errors.push(error);
    }
    assert!(errors[0].to_string().contains("AADSTS7000215"), "{}", errors[0]);
    assert!(server.received().is_empty());
    // Failures are not cached, so the next request asks for a token again.
    client.get(&table(), &key, &Select::All).await.unwrap();
    errors.push(client.get(&table(), &key, &Select::All).await.unwrap_err());
    assert_eq!(server.received().len(), 2);
    for error in errors {
        assert!(!format!("{error} {error:?}").contains("c2VjcmV0"), "{error:?}");
    }
}

/// Tests that a rejected token is replaced once. The service accepts only the second token.
///
/// A token may be rejected because the clock was an hour ahead when it was issued, or because it was revoked.
#[tokio::test]
async fn auth_12_a_refused_token_is_replaced_once() {
    let gone = || refusal(401, "InvalidAuthenticationInfo");
    let found = || entity("2026-11-20T07:00:00Z", 1);
    let server = Server::start([found(), gone(), found(), gone(), gone()]).await;
    let hours = TimeDelta::hours(9);
    let tokens = ["c2VjcmV0MA", "c2VjcmV0MQ", "c2VjcmV0Mg"].map(|secret| Ok(good_for(secret, hours)));
    let client = client(&server, tokens, Arc::new(Mutex::new(start())));
    let key = EntityKey::new("p", "r").unwrap();
    for _ in 0..2 {
        assert!(client.get(&table(), &key, &Select::All).await.unwrap().is_some());
    }
    // A rejected request is repeated with a new token at most once.
    let error = client.get(&table(), &key, &Select::All).await.unwrap_err();
    assert_eq!((error.code(), error.is_ambiguous()), (ErrorCode::AuthenticationFailed, false));
    let sent: Vec<_> =
        server.received().iter().map(|request| request.header("authorization").to_owned()).collect();
    assert_eq!(sent, ["MA", "MA", "MQ", "MQ", "Mg"].map(|end| format!("Bearer c2VjcmV0{end}")));
}
