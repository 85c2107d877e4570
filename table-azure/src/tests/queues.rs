//! Tests of queue requests, lost responses and unexpected responses (QUE rules).

use std::time::Duration;

use table_core::queue::{Lease, Message, MessageId, PopReceipt, PutMessage, QueueName, TimeToLive};
use table_core::{ErrorCode, QueueStore};

use super::server::*;
use crate::{AzureQueues, Credential, Options, Target};

const PUT: &str = "<?xml version=\"1.0\"?><QueueMessagesList><QueueMessage><MessageId>7</MessageId>\
    <InsertionTime>Fri, 20 Nov 2026 08:00:00 GMT</InsertionTime><ExpirationTime>Fri, 27 Nov 2026 08:00:00 GMT</ExpirationTime>\
    <PopReceipt>a+/=</PopReceipt><TimeNextVisible>Fri, 20 Nov 2026 08:00:05 GMT</TimeNextVisible></QueueMessage></QueueMessagesList>";

fn work() -> QueueName {
    QueueName::new("work").unwrap()
}

fn queues(server: &Server) -> AzureQueues {
    let credential = Credential::shared_access_signature("sv=1&sig=c2VjcmV0");
    AzureQueues::with_options(
        &server.endpoint,
        credential,
        Options::new().target(Target::Service).clock(clock()),
    )
    .unwrap()
}

fn xml(status: u16, code: &str) -> Reply {
    let body = format!(
        "\u{feff}<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>no\nRequestId:r</Message></Error>"
    );
    answer(status, &["Content-Type: application/xml"], &body)
}

#[tokio::test(start_paused = true)]
async fn que_3_4_and_16_each_operation_is_one_request() {
    let moved = ["x-ms-popreceipt: b", "x-ms-time-next-visible: Fri, 20 Nov 2026 08:01:00 GMT"];
    let server = Server::start([
        answer(201, &[], PUT),
        answer(204, &moved, ""),
        answer(200, &[], "<QueueMessagesList/>"),
        answer(200, &[], "<QueueMessagesList></QueueMessagesList>"),
        answer(200, &["x-ms-approximate-messages-count: 3"], ""),
        answer(204, &[], ""),
        answer(204, &[], ""),
        answer(204, &[], ""),
    ])
    .await;
    let (queues, work) = (queues(&server), work());
    let message = PutMessage::new("a<b\r\n").hidden(Duration::from_secs(5)).time_to_live(TimeToLive::Never);
    let lease = queues.put(&work, message).await.unwrap();
    assert_eq!((lease.message.text.as_str(), lease.receipt.as_str()), ("a<b\r\n", "a+/="));
    let lease = queues.update(&work, &lease, Duration::from_secs(60), None).await.unwrap();
    assert_eq!((lease.message.text.as_str(), lease.receipt.as_str()), ("a<b\r\n", "b"));
    assert!(queues.receive(&work, 32, Duration::from_secs(30)).await.unwrap().is_empty());
    assert!(queues.peek(&work, 1).await.unwrap().is_empty());
    assert_eq!(queues.approximate_count(&work).await.unwrap(), 3);
    queues.delete(&work, &MessageId::new("7/8"), &PopReceipt::new("a+/=")).await.unwrap();
    queues.clear(&work).await.unwrap();
    queues.delete_queue(&work).await.unwrap();

    let received = server.received();
    let requests: Vec<_> = received
        .iter()
        .map(|request| {
            let query: Vec<_> =
                request.query().iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{} {}", request.line(), query.join("&").replace("sv=1&sig=c2VjcmV0", "~"))
        })
        .collect();
    assert_eq!(
        requests,
        [
            "POST /work/messages visibilitytimeout=5&messagettl=-1&~",
            "PUT /work/messages/7 popreceipt=a+/=&visibilitytimeout=60&~",
            "GET /work/messages numofmessages=32&visibilitytimeout=30&~",
            "GET /work/messages peekonly=true&numofmessages=1&~",
            "GET /work comp=metadata&~",
            "DELETE /work/messages/7%2F8 popreceipt=a+/=&~",
            "DELETE /work/messages ~",
            "DELETE /work ~",
        ]
    );
    assert!(received[1].target.contains("popreceipt=a%2B%2F%3D"), "QUE-16");
    assert_eq!(received[0].body, "<QueueMessage><MessageText>a&lt;b&#13;\n</MessageText></QueueMessage>");
}

#[tokio::test(start_paused = true)]
async fn con_11_a_message_missing_after_a_lost_response_was_deleted() {
    let delete = async |replies: Vec<Reply>| {
        let server = Server::start(replies).await;
        let outcome = queues(&server).delete(&work(), &MessageId::new("7"), &PopReceipt::new("a")).await;
        outcome.map_err(|error| error.code())
    };
    let gone = || xml(404, "MessageNotFound");
    assert_eq!(delete(vec![gone()]).await, Err(ErrorCode::MessageNotFound));
    assert_eq!(delete(vec![Reply::Cut, gone()]).await, Ok(()));
    // Another worker has received the message, so no attempt can have deleted the message.
    let taken = xml(400, "PopReceiptMismatch");
    assert_eq!(delete(vec![Reply::Cut, taken]).await, Err(ErrorCode::PopReceiptMismatch));
}

/// Tests updates after each failure that loses a response. The retry sends the old receipt, which the first attempt may have invalidated.
#[tokio::test(start_paused = true)]
async fn que_13_and_14_an_update_whose_receipt_is_stale_fails_with_the_same_code_after_a_lost_response() {
    let now = clock().instant();
    let message = Message::new(MessageId::new("7"), "x".to_owned(), now, None, 1);
    let lease = Lease::new(message, PopReceipt::new("a"), now);
    let update = async |replies: Vec<Reply>| {
        let server = Server::start(replies).await;
        let outcome = queues(&server).update(&work(), &lease, Duration::ZERO, None).await;
        let error = outcome.unwrap_err();
        assert!(error.to_string().contains("queue `work`"), "{error}");
        (error.code(), error.is_ambiguous())
    };
    let taken = || xml(400, "PopReceiptMismatch");
    assert_eq!(update(vec![taken()]).await, (ErrorCode::PopReceiptMismatch, false));
    for lost in [Reply::Cut, Reply::CutBody, xml(500, "OperationTimedOut"), answer(504, &[], "")] {
        let replies = vec![lost.clone(), taken()];
        assert_eq!(update(replies).await, (ErrorCode::PopReceiptMismatch, false), "{lost:?}");
        // The message was deleted or has expired. Whether the update was applied before that is unknown.
        let (_, is_ambiguous) = update(vec![lost.clone(), xml(404, "MessageNotFound")]).await;
        assert!(is_ambiguous, "{lost:?}");
    }
}

/// Tests that a lost response never makes a read or a receive ambiguous.
#[tokio::test(start_paused = true)]
async fn con_11_a_read_of_a_queue_is_never_ambiguous() {
    for lost in [Reply::Cut, Reply::CutBody, xml(500, "OperationTimedOut"), answer(504, &[], "")] {
        let server = Server::start(vec![lost.clone(); 12]).await;
        let (queues, work) = (queues(&server), work());
        let outcomes = [
            queues.approximate_count(&work).await.map(drop),
            queues.peek(&work, 1).await.map(drop),
            queues.receive(&work, 1, Duration::from_secs(30)).await.map(drop),
        ];
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            assert!(!error.is_ambiguous(), "{lost:?}: {error}");
        }
    }
}

/// Tests that no request is sent if the identifier is empty, `.` or `..`. The URL of such a request would address the queue or all its messages.
#[tokio::test(start_paused = true)]
async fn que_3_an_identifier_that_no_message_has_addresses_neither_the_messages_nor_the_queue() {
    for id in ["", ".", ".."] {
        let server = Server::start(vec![answer(204, &[], ""); 2]).await;
        let (queues, work, now) = (queues(&server), work(), clock().instant());
        let (id, receipt) = (MessageId::new(id), PopReceipt::new("AAAA"));
        let message = Message::new(id.clone(), "x".to_owned(), now, None, 1);
        let lease = Lease::new(message, receipt.clone(), now);
        let delete = queues.delete(&work, &id, &receipt).await.unwrap_err();
        let update = queues.update(&work, &lease, Duration::ZERO, None).await.unwrap_err();
        for error in [delete, update] {
            assert_eq!(error.code(), ErrorCode::MessageNotFound, "{id:?}: {error}");
            assert!(error.to_string().contains("queue `work`"), "{error}");
        }
        assert!(server.received().is_empty(), "{id:?}");
    }
    // These identifiers have no special meaning in a URL, because their `%` is encoded again.
    for (id, sent) in [("%2e%2e", "%252e%252e"), ("...", "..."), ("../..", "..%2F..")] {
        let server = Server::start([xml(404, "MessageNotFound")]).await;
        let outcome = queues(&server).delete(&work(), &MessageId::new(id), &PopReceipt::new("AAAA")).await;
        assert_eq!(outcome.map_err(|error| error.code()), Err(ErrorCode::MessageNotFound), "{id}");
        let path = format!("/work/messages/{sent}?popreceipt=");
        assert!(server.received()[0].target.contains(&path), "{}", server.received()[0].target);
    }
}

#[tokio::test(start_paused = true)]
async fn que_3_and_15_create_reports_whether_the_queue_is_new() {
    for (replies, expected) in [
        (vec![answer(201, &[], "")], Ok(true)),
        (vec![answer(204, &[], "")], Ok(false)),
        (vec![xml(409, "QueueAlreadyExists")], Ok(false)),
        (vec![Reply::Cut, answer(204, &[], "")], Ok(false)),
        (vec![Reply::Cut, xml(409, "QueueAlreadyExists")], Ok(false)),
        (vec![xml(409, "QueueBeingDeleted")], Err(ErrorCode::QueueBeingDeleted)),
    ] {
        let server = Server::start(replies).await;
        let outcome = queues(&server).create_queue(&work()).await;
        assert_eq!(outcome.map_err(|error| error.code()), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn que_5_a_malformed_response_is_an_error_that_names_the_queue() {
    for body in
        ["", "<html>", "<QueueMessagesList><QueueMessage/></QueueMessagesList>", &PUT.replace("2026", "x")]
    {
        let server = Server::start([answer(201, &[], body)]).await;
        let error = queues(&server).put(&work(), PutMessage::new("x")).await.unwrap_err();
        let response = error.last_response().unwrap();
        assert_eq!((response.code(), response.rule()), (ErrorCode::InternalError, Some("QUE-5")), "{body}");
        assert!(error.to_string().contains("queue `work`"), "{error}");
    }
}

/// Tests that a page from a portal or a proxy never acknowledges a request. Such a page also proves nothing about a queue or a message (CON-11).
#[tokio::test(start_paused = true)]
async fn con_11_a_page_is_no_response_of_a_queue() {
    let html = |status| answer(status, &["Content-Type: text/html"], "<html>");
    for status in [200, 203] {
        let server = Server::start(vec![html(status); 6]).await;
        let (queues, work) = (queues(&server), work());
        let now = clock().instant();
        let message = Message::new(MessageId::new("7"), "x".to_owned(), now, None, 1);
        let lease = Lease::new(message, PopReceipt::new("a"), now);
        let outcomes = [
            queues.create_queue(&work).await.map(drop),
            queues.put(&work, PutMessage::new("x")).await.map(drop),
            queues.update(&work, &lease, Duration::ZERO, None).await.map(drop),
            queues.delete(&work, &MessageId::new("7"), &PopReceipt::new("a")).await,
            queues.clear(&work).await,
            queues.delete_queue(&work).await,
        ];
        for (index, outcome) in outcomes.into_iter().enumerate() {
            assert!(outcome.is_err_and(|error| error.is_ambiguous()), "{status}, request {index}");
        }
    }
    let server = Server::start([Reply::Cut, html(404)]).await;
    let outcome = queues(&server).delete(&work(), &MessageId::new("7"), &PopReceipt::new("a")).await;
    assert!(outcome.is_err_and(|error| error.is_ambiguous()));
    let server = Server::start([html(409)]).await;
    assert!(queues(&server).create_queue(&work()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn que_4_and_8_requests_that_the_service_would_refuse_are_not_sent() {
    let server = Server::start([]).await;
    let queues = queues(&server);
    let illegal = queues.put(&work(), PutMessage::new("a\u{0}b")).await.unwrap_err();
    assert_eq!((illegal.code(), illegal.rule()), (ErrorCode::InvalidInput, Some("QUE-4")));
    let half = queues.receive(&work(), 1, Duration::from_millis(1_500)).await.unwrap_err();
    assert_eq!(half.rule(), Some("QUE-8"));
    assert!(server.received().is_empty());
}

/// Tests the exchange in example EX-27 with recorded responses. Errors are in XML, and a header repeats the error code (QUE-1).
#[tokio::test]
async fn ex_27_and_que_1_put_get_update_and_delete() {
    const ID: &str = "71b1724e-70ae-4fc2-8aee-16ed4ab53a34";
    let times = "<InsertionTime>Fri, 20 Nov 2026 08:14:48 GMT</InsertionTime><ExpirationTime>Fri, 31 Dec 9999 23:59:59 GMT</ExpirationTime>";
    let message = |rest: &str| {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><QueueMessagesList><QueueMessage><MessageId>{ID}</MessageId>{times}{rest}</QueueMessage></QueueMessagesList>"
        )
    };
    let put = message(
        "<PopReceipt>MjBOb3YyMDI2MDg6MTQ6NDhlYTFm</PopReceipt><TimeNextVisible>Fri, 20 Nov 2026 08:14:48 GMT</TimeNextVisible>",
    );
    let got = message(
        "<PopReceipt>MjBOb3YyMDI2MDg6MTQ6NDhkNzI2</PopReceipt><TimeNextVisible>Fri, 20 Nov 2026 08:15:18 GMT</TimeNextVisible><DequeueCount>1</DequeueCount><MessageText>bW92ZSAxMjM=</MessageText>",
    );
    let moved = [
        "x-ms-popreceipt: MjBOb3YyMDI2MDg6MTQ6NDhmYjRl",
        "x-ms-time-next-visible: Fri, 20 Nov 2026 08:15:48 GMT",
    ];
    let refused = |status, code: &str| {
        let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>no</Message></Error>");
        answer(status, &["Content-Type: application/xml", &format!("x-ms-error-code: {code}")], &body)
    };
    let server = Server::start([
        answer(201, &[], ""),
        answer(201, &[], &put),
        answer(200, &[], &got),
        answer(204, &moved, ""),
        refused(400, "PopReceiptMismatch"),
        answer(204, &[], ""),
        refused(404, "MessageNotFound"),
        answer(200, &["x-ms-approximate-messages-count: 0"], ""),
    ])
    .await;
    let (queues, work) = (queues(&server), work());
    assert!(queues.create_queue(&work).await.unwrap());
    let message = PutMessage::new("bW92ZSAxMjM=").time_to_live(TimeToLive::Never);
    assert_eq!(queues.put(&work, message).await.unwrap().message.id.as_str(), ID);
    let lease = queues.receive(&work, 1, Duration::from_secs(30)).await.unwrap().remove(0);
    assert_eq!((lease.message.text.as_str(), lease.message.dequeue_count), ("bW92ZSAxMjM=", 1));
    let later =
        queues.update(&work, &lease, Duration::from_secs(60), Some("c3RlcCAy".to_owned())).await.unwrap();
    assert_eq!(later.receipt.as_str(), "MjBOb3YyMDI2MDg6MTQ6NDhmYjRl");
    let delete = async |lease: &Lease| {
        let deleted = queues.delete(&work, &lease.message.id, &lease.receipt).await;
        deleted.map_err(|error| error.code())
    };
    assert_eq!(delete(&lease).await, Err(ErrorCode::PopReceiptMismatch));
    assert_eq!(delete(&later).await, Ok(()));
    assert_eq!(delete(&later).await, Err(ErrorCode::MessageNotFound));
    assert_eq!(queues.approximate_count(&work).await.unwrap(), 0);
    assert_eq!(server.received()[3].body, "<QueueMessage><MessageText>c3RlcCAy</MessageText></QueueMessage>");
}

#[test]
fn que_1_a_queue_endpoint_is_the_accounts_or_the_emulators() {
    for (text, endpoint) in [
        ("AccountName=contoso;AccountKey=a2V5", "https://contoso.queue.core.windows.net"),
        ("UseDevelopmentStorage=true", "http://127.0.0.1:10001/devstoreaccount1"),
    ] {
        let parsed: crate::ConnectionString = text.parse().unwrap();
        assert_eq!(parsed.queue_endpoint(), Some(endpoint));
    }
}
