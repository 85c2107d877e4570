//! Tests of CORS rules with requests to the Table service and the Queue service.

use std::net::Ipv4Addr;

use http::Request;
use table_core::Engine;
use table_wire::auth::AccountKey;
use table_wire::sas::Caller;
use table_wire::{CorsRule, ServiceProperties};

use super::*;
use crate::route;
use crate::service::Service;

fn rule(origins: &str, methods: &str, headers: &str, exposed: &str) -> CorsRule {
    CorsRule {
        allowed_origins: origins.to_owned(),
        allowed_methods: methods.to_owned(),
        allowed_headers: headers.to_owned(),
        exposed_headers: exposed.to_owned(),
        max_age_seconds: 60,
    }
}

/// Returns two rules. The first allows two origins to send `GET`, `PUT` and `MERGE` requests with certain headers. The second allows every origin to send `GET`
/// and `POST` requests with any headers.
fn rules() -> Vec<CorsRule> {
    vec![
        rule(
            "https://a.com, https://b.com",
            "GET,PUT,MERGE",
            "x-ms-*, If-Match",
            "x-ms-request-id,x-ms-meta-*",
        ),
        rule("*", "GET, POST", "*", "*"),
    ]
}

async fn accounts(service: Service, rules: Vec<CorsRule>) -> Vec<Account> {
    let account = Account::new(AccountKey::new("contoso", "a2V5").unwrap(), Engine::in_memory());
    account.load().await.unwrap();
    let properties = ServiceProperties { cors: Some(rules), ..ServiceProperties::default() };
    account.set_properties(&account.settings.turn.lock().await, service, properties).await.unwrap();
    vec![account]
}

/// Sends an unsigned request, and returns the response's status and CORS headers.
async fn asked(
    accounts: &[Account],
    service: Service,
    method: &str,
    headers: &[(&str, &str)],
) -> (u16, [Option<String>; 6]) {
    let mut request = Request::builder().method(method).uri("/contoso/Employee").header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let mut exchange =
        Exchange::new(service, parts, Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false });
    let answer = route::run(accounts, None, &mut exchange).await.into_response(&exchange);
    let names =
        ["allow-origin", "allow-methods", "allow-headers", "max-age", "expose-headers", "allow-credentials"];
    let text = |name: &str| Some(answer.headers().get(name)?.to_str().unwrap().to_owned());
    let mut found = names.map(|name| text(&format!("access-control-{name}")));
    // Only preflight responses have `max-age`. For all others, the result contains `Vary` instead.
    if method != "OPTIONS" {
        found[3] = text("vary");
    }
    (answer.status().as_u16(), found)
}

fn some(values: [&str; 6]) -> [Option<String>; 6] {
    values.map(|value| (!value.is_empty()).then(|| value.to_owned()))
}

const ORIGIN: &str = "origin";
const METHOD: &str = "access-control-request-method";
const HEADERS: &str = "access-control-request-headers";

#[tokio::test]
async fn a_preflight_is_answered_by_the_first_rule_of_its_origin_and_method() {
    for service in [Service::Tables, Service::Queues] {
        let accounts = accounts(service, rules()).await;
        let asked = async |headers: &[_]| asked(&accounts, service, "OPTIONS", headers).await;
        let merge =
            asked(&[(ORIGIN, "https://b.com"), (METHOD, "MERGE"), (HEADERS, "X-MS-Date,if-match")]).await;
        assert_eq!(merge, (200, some(["https://b.com", "MERGE", "X-MS-Date,if-match", "60", "", "true"])));
        let post = asked(&[(ORIGIN, "https://c.com"), (METHOD, "POST")]).await;
        assert_eq!(post, (200, some(["https://c.com", "POST", "", "60", "", "true"])));
        let nothing = some([""; 6]);
        for (headers, status) in [
            // The first rule applies, although the second rule allows every header.
            (&[(ORIGIN, "https://a.com"), (METHOD, "GET"), (HEADERS, "accept")][..], 403),
            (&[(ORIGIN, "https://c.com"), (METHOD, "PUT")], 403),
            (&[(ORIGIN, "https://c.com"), (METHOD, "get")], 403),
            (&[(ORIGIN, "https://c.com")], 400),
            (&[(METHOD, "GET")], 400),
            (&[(ORIGIN, ""), (METHOD, "GET")], 400),
        ] {
            assert_eq!(asked(headers).await, (status, nothing.clone()), "{headers:?}");
        }
    }
}

/// Tests that each service has its own rules. A preflight request to a service without rules fails.
#[tokio::test]
async fn a_service_without_rules_allows_no_origin() {
    let accounts = accounts(Service::Queues, rules()).await;
    let headers = [(ORIGIN, "https://a.com"), (METHOD, "GET")];
    assert_eq!(asked(&accounts, Service::Tables, "OPTIONS", &headers).await, (403, some([""; 6])));
    assert_eq!(asked(&accounts, Service::Tables, "GET", &headers).await, (403, some([""; 6])));
    assert_eq!(asked(&accounts, Service::Blobs, "OPTIONS", &headers).await.0, 501);
}

/// Tests that rejections also have CORS headers, so a web page can read the reason.
#[tokio::test]
async fn a_response_states_which_origins_may_read_it() {
    let exact = some(["https://a.com", "", "", "Origin", "x-ms-request-id", "true"]);
    for service in [Service::Tables, Service::Queues] {
        let accounts = accounts(service, rules()).await;
        let asked = async |method, headers: &[_]| asked(&accounts, service, method, headers).await;
        assert_eq!(asked("GET", &[(ORIGIN, "https://a.com")]).await, (403, exact.clone()));
        let other = [(ORIGIN, "https://c.com")];
        let (_, found) = asked("GET", &other).await;
        assert_eq!((found[0].as_deref(), found[3].as_deref()), (Some("*"), None));
        let exposed = found[4].as_deref().unwrap();
        assert!(exposed.contains("x-ms-request-id") && exposed.contains("content-type"), "{exposed}");
        assert_eq!(asked("PUT", &other).await, (403, some(["", "", "", "Origin", "", ""])));
        assert_eq!(asked("GET", &[]).await, (403, some([""; 6])));
    }
}

/// Tests that a new server on the same engine also applies the stored rules.
#[tokio::test]
async fn the_rules_come_from_the_engine() {
    let accounts = accounts(Service::Tables, rules()).await;
    let again = Account::new(accounts[0].key.clone(), accounts[0].engine.clone());
    again.load().await.unwrap();
    let again = [again];
    let headers = [(ORIGIN, "https://a.com"), (METHOD, "GET")];
    assert_eq!(asked(&again, Service::Tables, "OPTIONS", &headers).await.0, 200);
    let none = ServiceProperties { cors: Some(Vec::new()), ..ServiceProperties::default() };
    again[0].set_properties(&again[0].settings.turn.lock().await, Service::Tables, none).await.unwrap();
    assert_eq!(asked(&again, Service::Tables, "OPTIONS", &headers).await.0, 403);
}
