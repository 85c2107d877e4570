//! Tests of unexpected responses to requests that create or delete containers or read blobs (BLB-2, CON-11).

use std::time::Duration;

use object_store::ObjectStoreExt;

use table_core::ErrorCode;

use super::server::*;
use crate::{AzureBlobs, Options, RetryPolicy};

fn blobs(server: &Server) -> AzureBlobs {
    blobs_with(server, Options::new())
}

fn blobs_with(server: &Server, options: Options) -> AzureBlobs {
    let text = format!("BlobEndpoint={};SharedAccessSignature=sv=1&sig=c2VjcmV0", server.endpoint);
    AzureBlobs::from_connection_string_with(&text, options).unwrap()
}

const HTML: &str = "Content-Type: text/html; charset=us-ascii";

/// Tests that an HTML page in a response is not accepted as confirmation that a container was created or deleted (CON-11).
#[tokio::test]
async fn con_11_an_html_page_acknowledges_no_change_of_a_container() {
    for status in [200, 203, 206] {
        let page = answer(status, &[HTML], "<html>");
        let server = Server::start(vec![page; 2]).await;
        let blobs = blobs(&server);
        assert!(blobs.create_container("lists").await.is_err_and(|error| error.is_ambiguous()), "{status}");
        assert!(blobs.delete_container("lists").await.is_err_and(|error| error.is_ambiguous()), "{status}");
    }
}

/// Tests that a name that is a segment with a special meaning is not sent: the URL would address the account.
#[tokio::test]
async fn blb_1_a_container_name_that_addresses_the_account_is_not_sent() {
    for name in [".", ".."] {
        let server = Server::start([answer(201, &[], ""), answer(202, &[], "")]).await;
        let blobs = blobs(&server);
        assert_eq!(blobs.create_container(name).await.unwrap_err().code(), ErrorCode::InvalidInput, "{name}");
        assert_eq!(blobs.delete_container(name).await.unwrap_err().code(), ErrorCode::InvalidInput, "{name}");
        assert!(server.received().is_empty());
    }
}

/// Tests that only a rejection by the service itself shows whether a container exists (BLB-2).
#[tokio::test]
async fn blb_2_another_refusal_does_not_state_that_a_container_exists_or_is_missing() {
    let xml = |status, code: &str| {
        let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>no</Message></Error>");
        answer(status, &["Content-Type: application/xml"], &body)
    };
    let page = |status| answer(status, &[HTML], "<html>");
    let creations = [
        (xml(409, "ContainerAlreadyExists"), true),
        (xml(409, "ContainerBeingDeleted"), false),
        (xml(409, "ContainerDisabled"), false),
        (page(409), false),
    ];
    let deletions =
        [(xml(404, "ContainerNotFound"), true), (xml(404, "ResourceNotFound"), false), (page(404), false)];
    let replies = creations.iter().chain(&deletions).map(|(reply, _)| reply.clone());
    let server = Server::start(replies.collect::<Vec<_>>()).await;
    let blobs = blobs(&server);
    for (reply, is_known) in creations {
        assert_eq!(blobs.create_container("lists").await.ok(), is_known.then_some(false), "{reply:?}");
    }
    for (reply, is_known) in deletions {
        assert_eq!(blobs.delete_container("lists").await.ok(), is_known.then_some(false), "{reply:?}");
    }
}

/// Tests a server that never responds, and a server that sends only the beginning of a blob. The outer timeout of one minute fails the test if a call hangs.
#[tokio::test]
async fn req_6_reads_and_writes_of_a_blob_end_at_the_time_limit_of_an_attempt() {
    let head = "HTTP/1.1 200 X\r\nContent-Length: 9\r\nETag: \"1\"\r\nLast-Modified: Fri, 20 Nov 2026 08:00:00 GMT\r\n\r\n";
    let begun = Reply::Bytes(format!("{head}begi").into_bytes());
    for (reply, is_begun) in [(Reply::Silence, false), (begun, true)] {
        let server = Server::start(vec![reply; 2]).await;
        let retry = RetryPolicy { attempt_timeout: Duration::from_millis(200), ..RetryPolicy::NONE };
        let lists = blobs_with(&server, Options::new().retry(retry)).container("lists").unwrap();
        let work = async {
            match lists.get(&"x".into()).await {
                Ok(found) => {
                    assert!(is_begun);
                    assert!(found.bytes().await.is_err());
                }
                Err(error) => assert!(!is_begun, "{error}"),
            }
            if !is_begun {
                assert!(lists.put(&"x".into(), "value".into()).await.is_err());
            }
        };
        assert!(tokio::time::timeout(Duration::from_secs(60), work).await.is_ok(), "the call hangs");
    }
}
