//! Tests of the protection against other programs and sites by the token, the cookie, the host check, the form token and the headers of every response.

use http::header::{CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN};
use http::{Method, StatusCode};
use table_core::{Engine, TableEntity, TableStoreExt};
use table_explorer::Explorer;

use crate::browser::{self, Browser, hidden};

async fn engine() -> Engine {
    let engine = Engine::in_memory();
    let table = engine.untyped("Company").unwrap().create_if_missing().await.unwrap();
    table.insert(&TableEntity::new("Sales", "1").unwrap().with("Age", 36)).await.unwrap();
    engine
}

#[tokio::test]
async fn the_token_of_the_first_address_is_valid_once() {
    let explorer = Explorer::new(browser::source(&engine().await));
    let first = explorer.first_path();
    let wrong = browser::send(&explorer, Method::GET, "/?token=guess", &[], String::new()).await;
    assert_eq!(wrong.status, StatusCode::FORBIDDEN);
    let right = browser::send(&explorer, Method::GET, &first, &[], String::new()).await;
    assert_eq!(right.status, StatusCode::SEE_OTHER);
    let cookie = right.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let again = browser::send(&explorer, Method::GET, &first, &[], String::new()).await;
    assert_eq!(again.status, StatusCode::FORBIDDEN);
    assert_eq!(explorer.first_path(), "/");
}

#[tokio::test]
async fn a_request_that_no_user_sees_does_not_consume_the_token() {
    let explorer = Explorer::new(browser::source(&engine().await));
    let first = explorer.first_path();
    let prefetch = [("sec-fetch-mode", "navigate"), ("sec-purpose", "prefetch;prerender")];
    for (method, headers) in [
        (Method::HEAD, &[][..]),
        (Method::GET, &[("sec-fetch-mode", "no-cors")][..]),
        (Method::GET, &[("purpose", "prefetch")][..]),
        (Method::GET, &prefetch[..]),
    ] {
        let answer = browser::send(&explorer, method, &first, headers, String::new()).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{headers:?}");
        assert!(!answer.headers.contains_key("set-cookie"), "{headers:?}");
    }
    let opened = [("sec-fetch-mode", "navigate")];
    let answer = browser::send(&explorer, Method::GET, &first, &opened, String::new()).await;
    assert!(answer.headers.contains_key("set-cookie"), "{}", answer.body);
}

#[tokio::test]
async fn nothing_of_the_store_is_shown_without_the_cookie() {
    let explorer = Explorer::new(browser::source(&engine().await));
    for path in [
        "/",
        "/t/Company",
        "/t/Company/p?pk=Sales",
        "/t/Company/export",
        "/t/Company/plan",
        "/engine",
        "/nothing",
    ] {
        for cookie in ["", "tables=x", "a=b; c=d"] {
            let answer =
                browser::send(&explorer, Method::GET, path, &[(COOKIE.as_str(), cookie)], String::new())
                    .await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}");
            assert!(!answer.body.contains("Company"), "{}", answer.body);
        }
    }
}

#[tokio::test]
async fn a_request_for_another_host_is_refused() {
    let explorer = Explorer::new(browser::source(&engine().await));
    for host in [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1",
        "127.0.0.1:8001",
        "localhost.evil.example:8000",
        "",
    ] {
        let answer = browser::send(
            &explorer,
            Method::GET,
            &explorer.first_path(),
            &[(HOST.as_str(), host)],
            String::new(),
        )
        .await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{host}");
    }
    let answer = browser::send(
        &explorer,
        Method::GET,
        &explorer.first_path(),
        &[(HOST.as_str(), "localhost:8000")],
        String::new(),
    )
    .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn every_response_has_a_strict_policy_and_no_page_has_inline_code() {
    let engine = engine().await;
    let browser = Browser::writing(&engine).await;
    let paths = [
        "/",
        "/t/Company",
        "/t/Company/p?pk=Sales",
        "/t/Company/e?pk=Sales&rk=1",
        "/t/Company/edit?pk=Sales&rk=1",
        "/t/Company/q?run=1",
        "/t/Company/new",
        "/work",
        "/engine",
        "/missing",
        "/assets/style.css",
        "/assets/script.js",
    ];
    for path in paths {
        let answer = browser.get(path).await;
        let policy = answer.headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers["referrer-policy"], "same-origin");
        for inline in ["<style", " style=", " onclick=", " onload=", "javascript:", "//cdn", "https://"] {
            let is_known = inline == "https://" && answer.body.contains("https://$ACCOUNT");
            assert!(
                path.starts_with("/assets") || is_known || !answer.body.contains(inline),
                "{path} has {inline}"
            );
        }
        let scripts: Vec<&str> = answer.body.split("<script").skip(1).collect();
        assert!(scripts.iter().all(|script| script.starts_with(" src=\"/assets/script.js")), "{path}");
    }
}

#[tokio::test]
async fn a_form_needs_the_session_token_and_the_same_origin() {
    let engine = engine().await;
    let browser = Browser::writing(&engine).await;
    let page = browser.page("/t/Company/edit?pk=Sales&rk=1").await;
    let etag = hidden(&page, "etag");
    let fields = |csrf: &'static str| [("csrf", csrf), ("pk", "Sales"), ("rk", "1"), ("sure", "1")];
    for csrf in ["", "guess"] {
        let mut fields = fields(csrf).to_vec();
        fields.push(("etag", &etag));
        let answer = browser.post("/t/Company/delete", &fields).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
    }
    assert!(browser.page("/t/Company/p?pk=Sales").await.contains("36"), "the entity is still there");
    let explorer = browser.explorer.clone();
    let answer = browser::send(
        &explorer,
        Method::POST,
        "/engine/verify",
        &[(ORIGIN.as_str(), "https://evil.example")],
        String::new(),
    )
    .await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn only_get_and_post_are_answered() {
    let browser = Browser::reading(&engine().await).await;
    let explorer = &browser.explorer;
    for method in [Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
        let answer = browser::send(explorer, method, "/", &[], String::new()).await;
        assert!(answer.status.is_client_error());
    }
}
