//! Tests of unexpected responses to container and blob requests (BLB-2, CON-11).

use std::time::Duration;

use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use proptest::prelude::*;
use table_core::{Error, ErrorCode};

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

/// Tests that an HTML page does not confirm the creation or deletion of a container (CON-11).
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

/// Sends each kind of container request. Returns the request paths relative to the account, and the results.
async fn sent(name: &str) -> (Vec<String>, [Result<(), Error>; 3]) {
    let server = Server::start(vec![answer(404, &[HTML], ""); 6]).await;
    let blobs = blobs_with(&server, Options::new().retry(RetryPolicy::NONE));
    let of_name = |outcome: Result<bool, Error>| match outcome {
        Err(error) if error.code() == ErrorCode::InvalidInput => Err(error),
        _ => Ok(()),
    };
    let created = of_name(blobs.create_container(name).await);
    let deleted = of_name(blobs.delete_container(name).await);
    let opened = match blobs.container(name) {
        Ok(container) => {
            let blob = Path::from("photos/x");
            drop(container.put(&blob, "value".into()).await);
            drop(container.get(&blob).await);
            drop(container.delete(&blob).await);
            drop(container.list_with_delimiter(None).await);
            Ok(())
        }
        Err(error) => Err(error),
    };
    let path = |line: String| line.split_once(' ').unwrap().1.to_owned();
    (server.lines().into_iter().map(path).collect(), [created, deleted, opened])
}

/// Tests that no request is sent for a name that would address the account or a different container.
#[test]
fn blb_1_a_container_name_that_addresses_the_account_is_not_sent() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for name in [
        "", ".", "..", "a/b", "/", "..\\", "\t..", ".\n.", "pho\ntos", "photos/", "a b", "%2e%2e", "a?b",
        "a#b", "é",
    ] {
        let (paths, outcomes) = runtime.block_on(sent(name));
        assert_eq!(paths, Vec::<String>::new(), "{name:?}");
        for error in outcomes.map(Result::unwrap_err) {
            assert_eq!(
                (error.code(), error.rule()),
                (ErrorCode::InvalidInput, Some("BLB-1")),
                "{name:?}: {error}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Tests that each request addresses the named container, or is not sent.
    #[test]
    fn blb_1_every_request_for_a_container_addresses_that_container(
        name in prop_oneof![any::<String>(), "[./\\\\%2eE\t\n\r ]{0,4}", "[a-z./\t$-]{0,5}", "[a-z0-9](-[a-z0-9]|[a-z0-9]){2,30}"],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (paths, outcomes) = runtime.block_on(sent(&name));
        let is_accepted = outcomes[0].is_ok();
        prop_assert!(outcomes.iter().all(|outcome| outcome.is_ok() == is_accepted), "{:?}: {:?}", name, outcomes);
        prop_assert_eq!(paths.len(), if is_accepted { 6 } else { 0 });
        for path in paths {
            let segments: Vec<String> = path.split('/').map(|segment| segment.replace("%24", "$")).collect();
            prop_assert_eq!(segments[..2].join("/"), format!("/{name}"), "{}", path);
        }
        let is_valid = name.len() >= 3 && !name.contains(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '-');
        prop_assert!(is_accepted || !is_valid, "{:?}", name);
    }
}

/// Tests that only a rejection by the service itself tells whether a container exists (BLB-2).
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

/// Tests a server that never responds, and a server that sends only the beginning of a blob. If a call hangs, the outer timeout of one minute fails the test.
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
