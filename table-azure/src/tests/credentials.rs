//! Tests of the credentials in requests. No error and no `Debug` output may contain a secret (SAS-12, AUTH-12).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use table_core::etag::IfMatch;
use table_core::query::{KeyRange, Query, Select};
use table_core::{Clock, EntityKey, OperationKind, TableStore};

use super::server::*;
use crate::auth::{EMULATOR_ACCOUNT, EMULATOR_KEY};
use crate::{
    AccessToken, AzureQueues, AzureTables, Credential, Options, RetryPolicy, TokenFuture, TokenProvider,
};

#[tokio::test]
async fn sas_12_a_signature_is_in_every_url_and_in_no_error() {
    let secret = "c2VjcmV0%3D";
    let server = Server::start([
        entity("2026-11-20T07:00:00Z", 1),
        Reply::Cut,
        refusal(403, "AuthenticationFailed"),
        json(403, &refusal_body("AuthenticationFailed", &format!("url was /Employee?sv=1&sig={secret}&x=1"))),
    ])
    .await;
    let credential = Credential::shared_access_signature(format!("?sv=2019-02-02&sp=r&sig={secret}"));
    let options = Options::new().retry(RetryPolicy::NONE);
    let client = AzureTables::with_options(&server.endpoint, credential, options).unwrap();
    let key = EntityKey::new("p", "r").unwrap();
    client.get(&table(), &key, &Select::names(["A"])).await.unwrap().unwrap();
    let cut = client.get(&table(), &key, &Select::All).await.unwrap_err();
    let refused = submit(&client, [("r", OperationKind::Delete(IfMatch::Any))]).await.unwrap_err();
    let repeated = client.query(&table(), &Query::new(KeyRange::ALL), None).await.unwrap_err();
    for text in
        [format!("{cut:?}"), format!("{refused:?}"), format!("{repeated:?}"), format!("{client:?} {client}")]
    {
        assert!(!text.contains("c2VjcmV0"), "{text}");
    }
    let received = server.received();
    assert!(
        received[0].target.ends_with(&format!("&sv=2019-02-02&sp=r&sig={secret}")),
        "{}",
        received[0].target
    );
    assert!(
        received[1].target.ends_with(&format!("?sv=2019-02-02&sp=r&sig={secret}")),
        "{}",
        received[1].target
    );
    assert_eq!(received[0].header("authorization"), "");
}

#[tokio::test]
async fn auth_2_3_and_13_both_signature_forms_match_the_sent_request() {
    for (lite, scheme) in [(true, "SharedKeyLite devstoreaccount1:"), (false, "SharedKey devstoreaccount1:")]
    {
        let server = Server::start([done(), done()]).await;
        let client = server.client(Options::new().shared_key_lite(lite));
        // The server rejects a request that differs from the signed text.
        for row_key in ["1", "a b+c%'é"] {
            submit(&client, [(row_key, OperationKind::InsertOrMerge(row(1)))]).await.unwrap();
        }
        assert!(server.received()[1].header("authorization").starts_with(scheme));
    }
}

#[derive(Debug)]
struct Counting {
    count: Arc<AtomicUsize>,
    lifetime: TimeDelta,
    start: DateTime<Utc>,
}

impl TokenProvider for Counting {
    fn token<'a>(&'a self, scope: &'a str) -> TokenFuture<'a> {
        assert_eq!(scope, "https://storage.azure.com/.default");
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let lifetimes = i32::try_from(count).unwrap() + 1;
            let expires_on = self.start + self.lifetime * lifetimes;
            Ok(AccessToken { secret: format!("token{count}"), expires_on })
        })
    }
}

#[tokio::test]
async fn auth_12_a_token_is_requested_once_and_renewed_before_it_expires() {
    let server = Server::start(vec![entity("2026-11-20T07:00:00Z", 1); 4]).await;
    let start: DateTime<Utc> = "2026-11-20T08:00:00Z".parse().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let now = Arc::new(std::sync::Mutex::new(start));
    let own = Arc::clone(&now);
    let provider = Counting { count: Arc::clone(&count), lifetime: TimeDelta::minutes(60), start };
    let options = Options::new().clock(Clock::of_instants(move || *own.lock().unwrap()));
    let client = AzureTables::with_options(&server.endpoint, Credential::token(provider), options).unwrap();
    let key = EntityKey::new("p", "r").unwrap();
    // The renewal starts at 55 minutes. Only the last call, after the first token has expired, may have to wait for it.
    for minutes in [0, 54, 55, 61] {
        *now.lock().unwrap() = start + TimeDelta::minutes(minutes);
        client.get(&table(), &key, &Select::All).await.unwrap();
    }
    let sent: Vec<_> =
        server.received().iter().map(|request| request.header("authorization").to_owned()).collect();
    assert_eq!(sent, ["Bearer token0", "Bearer token0", "Bearer token0", "Bearer token1"]);
    assert_eq!(count.load(Ordering::Relaxed), 2);
    assert_eq!(server.received()[0].header("x-ms-version"), "2020-12-06");
    assert!(!format!("{client:?}").contains("token0"));
}

#[test]
fn acc_1_and_auth_12_no_credential_is_sent_in_the_clear() {
    let provider = || {
        let start = DateTime::UNIX_EPOCH;
        Credential::token(Counting { count: Arc::default(), lifetime: TimeDelta::zero(), start })
    };
    let sas = || Credential::shared_access_signature("sv=2019-02-02&ss=t&srt=o&sp=r&sig=c2VjcmV0");
    let key = || Credential::shared_key("contoso", "c2VjcmV0").unwrap();
    let credentials: [&dyn Fn() -> Credential; 3] = [&provider, &sas, &key];
    let allowed = || Options::new().allow_credentials_over_plain_http(true);
    let secondary =
        |endpoint: &str| Options::new().secondary_endpoint(endpoint.replace(".table.", "-secondary.table."));
    let secure = "https://contoso.table.core.windows.net";
    for credential in credentials {
        for (host, open) in [
            ("contoso.table.core.windows.net", false),
            ("localhost.evil.com", false),
            ("127.0.0.1.evil.com:10002/contoso", false),
            ("azurite:10002/contoso", false),
            ("127.0.0.1:10002/contoso", true),
            ("[::1]:10002", true),
            ("localhost", true),
        ] {
            let (plain, tls) = (format!("http://{host}"), format!("https://{host}"));
            for refused in [
                AzureTables::new(&plain, credential()).map(drop),
                AzureQueues::new(&plain, credential()).map(drop),
                AzureTables::with_options(secure, credential(), secondary(&plain))
                    .and_then(|tables| tables.secondary_reads())
                    .map(drop),
            ] {
                assert_eq!(refused.is_ok(), open, "{plain}");
                assert!(refused.err().is_none_or(|error| error.rule() == Some("ACC-1")));
            }
            assert!(AzureTables::new(&tls, credential()).is_ok(), "{tls}");
            assert!(AzureTables::with_options(&plain, credential(), allowed()).is_ok(), "{plain}");
        }
    }
    let text = "DefaultEndpointsProtocol=http;AccountName=contoso;SharedAccessSignature=sig=c2VjcmV0";
    let error = AzureTables::from_connection_string(text).unwrap_err();
    assert!(!error.to_string().contains("c2VjcmV0"), "{error}");
}

/// Tests that an unencrypted secondary endpoint does not prevent the creation of a client. The endpoint is checked only when it is used.
#[tokio::test]
async fn acc_1_the_secondary_is_checked_when_stats_are_requested() {
    let credential = Credential::shared_key("contoso", "c2VjcmV0").unwrap();
    let options = Options::new().secondary_endpoint("http://contoso-secondary.table.core.windows.net");
    let tables =
        AzureTables::with_options("https://contoso.table.core.windows.net", credential, options).unwrap();
    assert_eq!(tables.service_stats().await.unwrap_err().rule(), Some("ACC-1"));
}

#[test]
fn auth_30_the_emulators_key_is_sent_only_to_emulators() {
    let key = || Credential::shared_key(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap();
    for (endpoint, accepted) in [
        ("http://127.0.0.1:10002/devstoreaccount1", true),
        ("http://azurite:10002/devstoreaccount1", true),
        ("https://contoso.queue.core.windows.net", false),
        ("https://devstoreaccount1.table.core.windows.net", false),
        ("https://localhost.evil.com", false),
    ] {
        let allowed = Options::new().allow_credentials_over_plain_http(true);
        for made in [
            AzureTables::with_options(endpoint, key(), allowed.clone()).map(drop),
            AzureQueues::with_options(endpoint, key(), allowed.clone()).map(drop),
        ] {
            assert_eq!(made.is_ok(), accepted, "{endpoint}");
            assert!(made.err().is_none_or(|error| error.rule() == Some("AUTH-30")));
        }
    }
}

/// Tests that the client does not follow a redirect to another host. A signature in a header or in the URL is therefore not sent there.
#[tokio::test]
async fn acc_1_no_redirect_is_followed() {
    let elsewhere = Server::start([]).await;
    let location = format!("Location: {}/Employee", elsewhere.endpoint);
    for status in [301, 302, 303, 307, 308] {
        for credential in [
            Credential::shared_key(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap(),
            Credential::shared_access_signature("sv=2019-02-02&sig=c2VjcmV0"),
        ] {
            let server = Server::start([answer(status, &[&location], "")]).await;
            let options = Options::new().retry(RetryPolicy::NONE);
            let client = AzureTables::with_options(&server.endpoint, credential, options).unwrap();
            let refused =
                client.get(&table(), &EntityKey::new("p", "r").unwrap(), &Select::All).await.unwrap_err();
            assert!(!format!("{refused:?}").contains("c2VjcmV0"), "{refused:?}");
            assert_eq!(server.received().len(), 1);
        }
    }
    assert!(elsewhere.received().is_empty());
}

/// Tests that the client works with a different executor and without a tokio runtime. It then creates its own runtime.
#[test]
fn the_client_works_with_any_executor() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(Server::start([entity("2026-11-20T07:00:00Z", 7), done()]));
    let client = server.client(Options::new());
    let key = EntityKey::new("p", "r").unwrap();
    let found = pollster::block_on(client.get(&table(), &key, &Select::All)).unwrap();
    assert!(found.is_some());
    let etags = pollster::block_on(submit(&client, [("r", OperationKind::Insert(row(1)))])).unwrap();
    assert_eq!(etags.len(), 1);
    drop(client);
}
