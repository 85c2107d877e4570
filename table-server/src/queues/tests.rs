//! Tests of requests to the Queue service, without network connections.

mod interrupted;
mod model;

use std::net::Ipv4Addr;

use chrono::{TimeDelta, Utc};
use http::Request;
use table_core::queue::PutMessage;
use table_core::{Engine, QueueStore};
use table_wire::acl;
use table_wire::sas::{AccessPolicy, Caller, QueuePermissions, QueueToken, StoredAccessPolicy};

use super::*;
use crate::operation::Operation;
use crate::route::{self, Admitted};
use crate::service::Service;
use crate::settings::Kind;

#[tokio::test]
async fn acl_4_a_policy_that_is_removed_while_a_body_arrives_no_longer_permits_its_operation() {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    let queue = QueueName::new("work").unwrap();
    account.engine.create_queue(&queue).await.unwrap();
    let expiry = Some(Utc::now() + TimeDelta::hours(1));
    let add = AccessPolicy { start: None, expiry, permissions: Some(QueuePermissions::ADD) };
    let text = acl::write(&[StoredAccessPolicy::new("senders", add).unwrap()]);
    account.settings.set(Kind::QueuePolicies, "work", Some(text)).await.unwrap();

    let token = QueueToken::sign(&account.key, &queue, AccessPolicy::default(), Some("senders")).unwrap();
    let request = Request::post(format!("/devstoreaccount1/work/messages?{}", token.query_string()))
        .header("host", "x");
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
    let mut exchange = Exchange::new(Service::Queues, parts, caller);
    let accounts = [account];
    let Admitted::Verified(account, access) = route::admit(&accounts, None, &mut exchange) else {
        panic!("the signature is refused")
    };
    exchange.body = "<QueueMessage><MessageText>a</MessageText></QueueMessage>".into();
    assert_eq!(answer(account, &access, &exchange).await.unwrap().status, 201);
    account.settings.set(Kind::QueuePolicies, "work", None).await.unwrap();
    let refused = answer(account, &access, &exchange).await.unwrap_err();
    assert_eq!((refused.status, refused.code), (403, "AuthenticationFailed"));
}

/// Tests that a page of queues is limited by its size, and that the next page begins with the first queue that did not fit.
#[tokio::test]
async fn a_page_of_queues_with_much_metadata_is_short() {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    let names: Vec<_> = (0..300).map(|number| format!("queue-{number:03}")).collect();
    // In XML, the value is four times as long.
    let metadata = serde_json::json!({ "a": "<".repeat(8_000) }).to_string();
    for name in &names {
        account.engine.create_queue(&QueueName::new(name).unwrap()).await.unwrap();
        account.settings.set(Kind::QueueMetadata, name, Some(metadata.clone())).await.unwrap();
    }
    let (mut found, mut marker, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let target = format!("?comp=list&include=metadata&marker={marker}");
        let page = answer(&account, &Access::Key, &verified("GET", &target, &[], "")).await.unwrap().body;
        assert!(page.len() < 5 << 20, "{}", page.len());
        let between = |text: &str, end: &str| text.split(end).next().unwrap_or_default().to_owned();
        found.extend(page.split("<Name>").skip(1).map(|rest| between(rest, "</Name>")));
        pages += 1;
        marker = between(page.split("<NextMarker>").nth(1).unwrap(), "</NextMarker>");
        if marker.is_empty() {
            break;
        }
    }
    assert_eq!(found, names);
    assert_eq!(pages, 3);
}

/// Returns the exchange of an authenticated request.
fn verified(method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Exchange {
    let mut request = Request::builder().method(method).uri(format!("/devstoreaccount1/{target}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    Exchange { path, body: body.to_owned().into(), ..Exchange::new(Service::Queues, parts, caller) }
}

/// Tests that a request for a message without an identifier, or with an identifier such as `..`, changes neither the messages nor the queue. Like Azurite, the
/// server responds that the message does not exist.
#[tokio::test]
async fn que_3_no_identifier_of_a_message_addresses_all_messages_or_the_queue() {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    let queue = QueueName::new("work").unwrap();
    account.engine.create_queue(&queue).await.unwrap();
    account.engine.put(&queue, PutMessage::new("x")).await.unwrap();
    for id in ["", ".", "..", "/", "../", "7/"] {
        for (method, query) in [("DELETE", ""), ("PUT", "&visibilitytimeout=0")] {
            let target = format!("work/messages/{id}?popreceipt=AAAA{query}");
            let exchange = verified(method, &target, &[], "");
            let refused = route::answer(&account, &Access::Key, &exchange).await.unwrap_err();
            assert_eq!((refused.status, refused.code), (404, "MessageNotFound"), "{method} {target}");
        }
    }
    assert_eq!(account.engine.approximate_count(&queue).await.unwrap(), 1);
    let whole = verified("GET", "work/?comp=metadata", &[], "");
    assert_eq!(route::answer(&account, &Access::Key, &whole).await.unwrap().status, 200);
}

/// Tests that `X-HTTP-Method` is ignored. Signatures do not cover it, so anyone on the network path could add it.
#[tokio::test]
async fn req_2_a_header_does_not_change_the_operation_of_a_queue_request() {
    let message = "<QueueMessage><MessageText>a</MessageText></QueueMessage>";
    let properties = "<StorageServiceProperties/>";
    for (method, target, body) in [
        ("GET", "?comp=list", ""),
        ("POST", "?comp=list", ""),
        ("PUT", "other", ""),
        ("POST", "other", ""),
        ("DELETE", "work", ""),
        ("GET", "work?comp=metadata", ""),
        ("HEAD", "work?comp=metadata", ""),
        ("PUT", "work?comp=metadata", ""),
        ("POST", "work?comp=metadata", ""),
        ("GET", "work?comp=acl", ""),
        ("PUT", "work?comp=acl", ""),
        ("POST", "work/messages", message),
        ("GET", "work/messages", ""),
        ("GET", "work/messages?peekonly=true", ""),
        ("DELETE", "work/messages", ""),
        ("PUT", "work/messages/7?popreceipt=AAAA&visibilitytimeout=1", ""),
        ("POST", "work/messages/7?popreceipt=AAAA&visibilitytimeout=1", ""),
        ("DELETE", "work/messages/7?popreceipt=AAAA", ""),
        ("GET", "?restype=service&comp=properties", ""),
        ("PUT", "?restype=service&comp=properties", properties),
        ("POST", "?restype=service&comp=properties", properties),
        ("GET", "?restype=service&comp=stats", ""),
        ("POST", "?restype=service&comp=userdelegationkey", ""),
    ] {
        let mut plain = None;
        for tunnelled in
            [&[][..], &["DELETE"], &["GET"], &["PUT"], &["MERGE"], &["TRACE"], &[""], &["GET", "PUT"]]
        {
            let account = Account::emulator(Engine::in_memory()).unwrap();
            account.engine.create_queue(&QueueName::new("work").unwrap()).await.unwrap();
            let headers: Vec<_> = tunnelled.iter().map(|value| ("x-http-method", *value)).collect();
            let exchange = verified(method, target, &headers, body);
            let answer = route::answer(&account, &Access::Key, &exchange).await;
            let status = answer.map(|answer| answer.status).map_err(|refusal| (refusal.status, refusal.code));
            let found = (status, Operation::of(&exchange));
            let expected = plain.get_or_insert(found);
            assert_eq!(&found, expected, "{method} {target} {tunnelled:?}");
        }
    }
}
