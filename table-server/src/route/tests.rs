//! Tests of the secondary endpoint's paths.

use std::net::Ipv4Addr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::Utc;
use http::Request;
use serde_json::json;
use table_core::{Engine, QueueName, QueueStore, TableName, TableStore};
use table_wire::auth::{Scheme, SignedParts, print_http_date};
use table_wire::sas::{
    AccessPolicy, AccountPermissions, AccountSas, Caller, Lifetime, QueuePermissions, QueueToken,
    ResourceTypes, Services, TablePermissions, TableSas,
};

use super::*;

const NAME: &str = "devstoreaccount1";

/// A request's credential.
enum Credential {
    Key,
    Bearer,
    /// A shared access signature, as a query string.
    Sas(String),
}

/// Tests that the number of parameters is limited before the signature is verified, because the verification time depends on it.
#[tokio::test]
async fn the_number_of_query_parameters_is_limited() {
    let accounts = [Account::emulator(Engine::in_memory()).unwrap()];
    for service in [Service::Tables, Service::Queues] {
        for (parameters, code) in [
            (1, (403, "AuthenticationFailed")),
            (PARAMETERS, (403, "AuthenticationFailed")),
            (PARAMETERS + 1, (400, "InvalidUri")),
            (10_000, (400, "InvalidUri")),
        ] {
            let target = format!("/{NAME}/q?{}", vec!["a=b"; parameters].join("&"));
            let request = Request::get(&target).header("authorization", "SharedKey x:YQ==");
            let (parts, ()) = request.header("host", "x").body(()).unwrap().into_parts();
            let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
            let answer = run(&accounts, None, &mut Exchange::new(service, parts, caller)).await;
            let found = answer.headers.iter().find(|(name, _)| *name == "x-ms-error-code").unwrap();
            assert_eq!((answer.status, &*found.1), code, "{parameters}");
        }
    }
}

/// Returns a bearer token accepted without a signature check.
fn bearer_token() -> String {
    let now = Utc::now().timestamp();
    let claims = json!({
        "iss": "https://sts.windows.net/ab1f708d", "aud": "https://storage.azure.com",
        "iat": now, "nbf": now, "exp": now + 3_600,
    });
    [json!({}), claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".") + "."
}

/// Tests both forms of a path at the secondary: `/account-secondary/rest`, and `/account-secondary/account/rest`, as sent by the Azure SDK for Python.
#[tokio::test]
async fn acc_2_every_credential_reads_at_the_primary_and_at_both_forms_of_the_secondary() {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    let table = TableName::new("Employee").unwrap();
    account.engine.create_table(&table).await.unwrap();
    // The names of two queues are also segments of other paths.
    for name in ["work", "messages", NAME] {
        account.engine.create_queue(&QueueName::new(name).unwrap()).await.unwrap();
    }
    let key = account.key.clone();
    let lifetime = Lifetime::valid_for(Utc::now(), Duration::from_secs(3_600));
    let (services, types) = (
        Services::TABLE.and(Services::QUEUE),
        ResourceTypes::SERVICE.and(ResourceTypes::CONTAINER).and(ResourceTypes::OBJECT),
    );
    let all =
        AccountSas::new(services, types, AccountPermissions::READ.and(AccountPermissions::LIST), lifetime);
    let all = all.sign(&key).unwrap().query_string();
    let of_table = TableSas::table(table)
        .allow(TablePermissions::READ)
        .lifetime(lifetime)
        .sign(&key)
        .unwrap()
        .query_string();
    let of_queue = |name: &str| {
        let policy = AccessPolicy {
            permissions: Some(QueuePermissions::READ),
            expiry: Some(Utc::now() + chrono::TimeDelta::hours(1)),
            start: None,
        };
        QueueToken::sign(&key, &QueueName::new(name).unwrap(), policy, None).unwrap().query_string()
    };
    let (accounts, bearer) = ([account], Bearer::insecure_without_signature_check());
    for (service, rest, tokens) in [
        (
            Service::Tables,
            "Employee()",
            vec![all.clone(), of_table.clone(), of_table.replace("tn=Employee&", "")],
        ),
        (Service::Tables, "?restype=service&comp=properties", vec![all.clone()]),
        (Service::Queues, "work?comp=metadata", vec![all.clone(), of_queue("work")]),
        (Service::Queues, "work/?comp=metadata", vec![all.clone(), of_queue("work")]),
        (Service::Queues, "work/messages?peekonly=true", vec![all.clone(), of_queue("work")]),
        (Service::Queues, "messages?comp=metadata", vec![all.clone(), of_queue("messages")]),
        (Service::Queues, "messages/?comp=metadata", vec![all.clone(), of_queue("messages")]),
        (Service::Queues, "messages/messages?peekonly=true", vec![all.clone(), of_queue("messages")]),
        (Service::Queues, &format!("{NAME}?comp=metadata"), vec![all.clone(), of_queue(NAME)]),
        (Service::Queues, &format!("{NAME}/?comp=metadata"), vec![all.clone(), of_queue(NAME)]),
        (Service::Queues, &format!("{NAME}/messages?peekonly=true"), vec![all.clone(), of_queue(NAME)]),
        (Service::Queues, "?comp=list", vec![all.clone()]),
        (Service::Queues, "?restype=service&comp=properties", vec![all.clone()]),
    ] {
        for front in [NAME.to_owned(), format!("{NAME}-secondary"), format!("{NAME}-secondary/{NAME}")] {
            let tokens = tokens.iter().cloned().map(Credential::Sas);
            for credential in tokens.chain([Credential::Key, Credential::Bearer]) {
                let mut target = format!("/{front}/{rest}");
                let mut request = Request::get("/");
                match credential {
                    Credential::Sas(token) => {
                        target += if rest.contains('?') { "&" } else { "?" };
                        target += &token;
                    }
                    Credential::Bearer => {
                        request = request.header("authorization", format!("Bearer {}", bearer_token()));
                    }
                    Credential::Key => {
                        let date = print_http_date(Utc::now());
                        let headers =
                            [("x-ms-date".parse().unwrap(), date.parse().unwrap())].into_iter().collect();
                        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
                        // A client that doubles the account in the path signs the primary's path.
                        let signed = if front.contains('/') { NAME } else { &front };
                        let path = format!("/{signed}/{path}");
                        let parts =
                            SignedParts { method: "GET", path: &path, query, headers: &headers, length: 0 };
                        let scheme = if service == Service::Tables { Scheme::Table } else { Scheme::Storage };
                        request = request
                            .header("x-ms-date", date)
                            .header("authorization", scheme.authorization(&key, parts));
                    }
                }
                let (parts, ()) = request.uri(&target).header("host", "x").body(()).unwrap().into_parts();
                // Bearer tokens are accepted only over HTTPS.
                let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: true };
                let answer = run(&accounts, Some(&bearer), &mut Exchange::new(service, parts, caller)).await;
                assert_eq!(answer.status, 200, "{target}: {}", answer.body);
            }
        }
    }
    // A SAS for a queue with the account's name does not permit reading another queue.
    let target = format!("/{NAME}-secondary/{NAME}/work?comp=metadata&{}", of_queue(NAME));
    let (parts, ()) = Request::get(&target).header("host", "x").body(()).unwrap().into_parts();
    let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
    let answer = run(&accounts, None, &mut Exchange::new(Service::Queues, parts, caller)).await;
    assert_eq!(answer.status, 403, "{}", answer.body);
}
