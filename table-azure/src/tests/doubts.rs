//! Tests of lost responses (CON-11, `docs/lost-answers.md`). With a write identifier, the outcome can be determined. Without one, it is ambiguous.

use table_core::etag::IfMatch;
use table_core::query::{KeyRange, Query, Select};
use table_core::store::AmbiguousWrite;
use table_core::{
    ETag, EntityKey, Error, ErrorCode, OperationKind, Row, TableStore, TableStoreExt, ValueRef,
};

use super::server::*;
use super::wire::batch_done;
use crate::{AzureTables, Options};

const STORED: &str = "2026-11-20T07:59:59.5Z";

fn stale() -> IfMatch {
    ETag::parse("W/\"datetime'2026-11-20T07%3A00%3A00Z'\"").unwrap().into()
}

fn written() -> String {
    "W/\"datetime'2026-11-20T07%3A59%3A59.5Z'\"".to_owned()
}

fn key() -> EntityKey {
    EntityKey::new("p", "r").unwrap()
}

fn all() -> [OperationKind; 6] {
    [
        OperationKind::Insert(row(1)),
        OperationKind::Replace(row(1), stale()),
        OperationKind::Merge(row(1), stale()),
        OperationKind::InsertOrReplace(row(1)),
        OperationKind::InsertOrMerge(row(1)),
        OperationKind::Delete(stale()),
    ]
}

fn is_ambiguous_after(error: &Error, last: ErrorCode) {
    assert!(error.is_ambiguous(), "{error:?}");
    assert_eq!(error.last_response().map(Error::code), Some(last), "{error:?}");
    assert_eq!((error.table(), error.key()), (Some("Employee"), Some(("p", "r"))), "{error:?}");
}

/// Tests that a rejection after a lost response is ambiguous, even if the stored content is equal. Another writer may have written the same content.
#[tokio::test(start_paused = true)]
async fn con_11_a_refusal_after_a_lost_response_is_ambiguous() {
    for lost in [Reply::Cut, Reply::Silence, refusal(500, "OperationTimedOut"), answer(504, &[], "")] {
        for kind in all() {
            for (status, code, last) in [
                (409, "EntityAlreadyExists", ErrorCode::EntityAlreadyExists),
                (412, "UpdateConditionNotSatisfied", ErrorCode::UpdateConditionNotSatisfied),
                (404, "ResourceNotFound", ErrorCode::ResourceNotFound),
                (404, "TableNotFound", ErrorCode::TableNotFound),
                (403, "AuthorizationFailure", ErrorCode::AuthorizationFailure),
                (400, "InvalidInput", ErrorCode::InvalidInput),
            ] {
                let server = Server::start([lost.clone(), refusal(status, code)]).await;
                let error = submit(&server.client(Options::new()), [("r", kind.clone())]).await.unwrap_err();
                is_ambiguous_after(&error, last);
                let sent = AmbiguousWrite::of(&error).unwrap().transaction();
                assert_eq!((sent.partition_key().as_str(), &sent.operations()[0].kind), ("p", &kind));
                // Without an identifier, no lookup is sent.
                assert_eq!(server.received().len(), 2);
            }
            let server = Server::start([lost.clone(), done()]).await;
            assert!(submit(&server.client(Options::new()), [("r", kind)]).await.is_ok(), "{lost:?}");
        }
    }
}

/// Tests each kind of read with each failure that makes a write ambiguous. A read changes nothing, so its error is never ambiguous.
#[tokio::test(start_paused = true)]
async fn con_11_a_read_is_never_ambiguous() {
    for lost in [
        Reply::Cut,
        Reply::CutBody,
        Reply::Silence,
        Reply::SlowBody,
        refusal(408, "RequestTimeout"),
        refusal(500, "OperationTimedOut"),
        refusal(500, "InternalError"),
        refusal(503, "ServerBusy"),
        answer(502, &["Content-Type: text/html"], "<html>"),
        answer(504, &[], ""),
    ] {
        let server = Server::start(vec![lost.clone(); 20]).await;
        let client = server.client(Options::new());
        let outcomes = [
            client.get(&table(), &key(), &Select::All).await.map(drop),
            client.query(&table(), &Query::new(KeyRange::ALL), None).await.map(drop),
            client.list_tables("", None, 10).await.map(drop),
            client.access_policies(&table()).await.map(drop),
            client.service_properties().await.map(drop),
        ];
        for (number, outcome) in outcomes.into_iter().enumerate() {
            let error = outcome.unwrap_err();
            assert!(!error.is_ambiguous(), "read {number} after {lost:?}: {error}");
        }
        assert_eq!(server.received().len(), 20, "{lost:?}: each read was retried");
    }
}

#[tokio::test(start_paused = true)]
async fn con_11_a_refusal_without_a_lost_response_is_definite() {
    for kind in all() {
        for earlier in [vec![], vec![refusal(503, "ServerBusy")], vec![refusal(429, "TooManyRequests")]] {
            let count = earlier.len() + 1;
            let replies = earlier.into_iter().chain([refusal(409, "EntityAlreadyExists")]);
            let server = Server::start(replies).await;
            let client = server.client(Options::new().operation_ids(true));
            let error = submit(&client, [("r", kind.clone())]).await.unwrap_err();
            assert!(error.is_already_exists() && !error.is_ambiguous(), "{error}");
            assert_eq!(server.received().len(), count);
        }
    }
}

/// Sends a write with an identifier to a server that loses the first response and rejects the retry. Returns the server, the client and the error of the write.
async fn refused_after_loss(kind: &OperationKind, code: &str) -> (Server, AzureTables, Error) {
    let server = Server::start([Reply::Cut, refusal(412, code)]).await;
    let client = server.client(Options::new().operation_ids(true));
    let error = submit(&client, [("r", kind.clone())]).await.unwrap_err();
    (server, client, error)
}

#[tokio::test(start_paused = true)]
async fn con_11_the_sent_operation_id_proves_the_outcome() {
    for kind in all().into_iter().take(5) {
        let (server, client, error) = refused_after_loss(&kind, "UpdateConditionNotSatisfied").await;
        // The server also rejects the lookup of the outcome.
        assert_eq!(server.received().len(), 3);
        is_ambiguous_after(&error, ErrorCode::UpdateConditionNotSatisfied);
        let id = server.sent_id();
        for (found, applied) in [
            (entity_of(&id, 1), true),
            (entity_of("00000000-0000-0000-0000-000000000007", 1), false),
            (entity(STORED, 1), false),
            (refusal(404, "ResourceNotFound"), false),
        ] {
            server.then([found]);
            let outcome = client.outcome_of(&error).await.unwrap();
            assert_eq!(outcome.is_some(), applied, "{kind:?}");
            let etag = outcome.map(|etags| etags[0].as_ref().unwrap().to_string());
            assert!(etag.is_none_or(|etag| etag == written()));
        }
        server.then([refusal(403, "AuthorizationFailure")]);
        assert!(client.outcome_of(&error).await.is_err());
    }
    // A deletion leaves no evidence.
    let (server, client, error) =
        refused_after_loss(&OperationKind::Delete(stale()), "ResourceNotFound").await;
    assert!(error.is_ambiguous() && client.outcome_of(&error).await.unwrap().is_none());
    assert_eq!(server.received().len(), 2);
    let other = Error::new(ErrorCode::OperationTimedOut, "of a read");
    assert_eq!(client.outcome_of(&other).await.unwrap_err().rule(), Some("CON-11"));
}

/// Tests that the call itself looks up the outcome and succeeds if the write was applied, even if no attempt received a response.
#[tokio::test(start_paused = true)]
async fn con_11_a_write_that_was_applied_is_a_success() {
    for last in [vec![refusal(412, "UpdateConditionNotSatisfied")], vec![Reply::Cut; 3]] {
        let server = Server::start([Reply::Cut].into_iter().chain(last).chain([Reply::EntityAsSent])).await;
        let client = server.client(Options::new().operation_ids(true));
        let etags = submit(&client, [("r", OperationKind::Merge(row(1), stale()))]).await.unwrap();
        assert_eq!(etags, [Some(written())]);
    }
}

#[tokio::test(start_paused = true)]
async fn con_11_and_sel_2_an_operation_id_is_hidden() {
    let id = "00000000-0000-0000-0000-000000000007";
    let page = |text: &str| json(200, &format!(r#"{{"value":[{text}]}}"#));
    let Reply::Answer { body, .. } = entity_of(id, 1) else { unreachable!() };
    let server = Server::start([entity_of(id, 1), page(&body), entity_of(id, 1)]).await;
    let client = server.client(Options::new().operation_ids(true));
    let found = client.get(&table(), &key(), &Select::All).await.unwrap().unwrap();
    assert_eq!((found.row.view().len(), found.etag.to_string()), (1, written()));
    assert_eq!(found.row.with_timestamp(0), row(1));
    let found = client.query(&table(), &Query::new(KeyRange::ALL), None).await.unwrap().rows;
    let found = found.get(0).unwrap();
    assert_eq!((found.row.len(), found.etag().to_string()), (1, written()));
    // Without the option, the identifier is an ordinary property.
    let client = server.client(Options::new());
    assert_eq!(client.get(&table(), &key(), &Select::All).await.unwrap().unwrap().row.view().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn con_11_a_property_of_that_name_is_refused_before_anything_is_sent() {
    let own = || {
        let mut own = table_core::row::RowWriter::new();
        own.property("OperationId", ValueRef::String("x"));
        OperationKind::Insert(own.finish())
    };
    let server = Server::start([done()]).await;
    let error = submit(&server.client(Options::new().operation_ids(true)), [("r", own())]).await.unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("CON-11")));
    assert!(server.received().is_empty());
    assert!(submit(&server.client(Options::new()), [("r", own())]).await.is_ok());
}

/// Tests a program whose own property has the name and type of the write identifier. Its value may be older than the write, so it proves nothing.
#[tokio::test(start_paused = true)]
async fn con_11_an_identifier_of_the_program_proves_nothing() {
    let id = "00000000-0000-0000-0000-000000000007";
    for is_requested in [false, true] {
        let server = Server::start([Reply::Cut, refusal(400, "InvalidInput")]).await;
        let client = server.client(Options::new());
        let mut own = table_core::row::RowWriter::new();
        own.property("A", ValueRef::Int32(2));
        own.property("OperationId", ValueRef::Guid(uuid::Uuid::from_u128(7)));
        let partition_key = table_core::PartitionKey::new("p").unwrap();
        let limits = client.capabilities().limits;
        let mut transaction = table_core::Transaction::new(partition_key, limits).unwrap();
        let kind = OperationKind::Replace(own.finish(), IfMatch::Any);
        let row_key = table_core::RowKey::new("r").unwrap();
        transaction.push(table_core::Operation { row_key, kind }).unwrap();
        let transaction = if is_requested { transaction.identified() } else { transaction };
        let error = client.submit(&table(), transaction).await.unwrap_err();
        is_ambiguous_after(&error, ErrorCode::InvalidInput);
        server.then([entity_of(id, 1)]);
        assert_eq!(client.outcome_of(&error).await.unwrap(), None, "requested: {is_requested}");
    }
}

/// Tests a write whose caller requests an identifier. If the identifier does not fit, the write is sent without it.
#[tokio::test(start_paused = true)]
async fn con_11_a_requested_operation_id_is_sent_only_if_it_fits() {
    let wish = async |row: Row| {
        let server = Server::start([done()]).await;
        let client = server.client(Options::new());
        let limits = client.capabilities().limits;
        let partition_key = table_core::PartitionKey::new("p").unwrap();
        let mut transaction = table_core::Transaction::new(partition_key, limits).unwrap();
        let kind = OperationKind::Merge(row, stale());
        let row_key = table_core::RowKey::new("r").unwrap();
        transaction.push(table_core::Operation { row_key, kind }).unwrap();
        client.submit(&table(), transaction.identified()).await.unwrap();
        server.received()[0].body.contains("OperationId")
    };
    assert!(wish(row(1)).await);
    let mut full = table_core::row::RowWriter::new();
    for number in 0..252 {
        full.property(&format!("P{number}"), ValueRef::Int32(1));
    }
    assert!(!wish(full.finish()).await);
}

#[tokio::test(start_paused = true)]
async fn con_11_table_operations_are_ambiguous_after_a_lost_response() {
    for (status, code) in [(409, "TableAlreadyExists"), (409, "TableBeingDeleted")] {
        let server = Server::start([Reply::Cut, refusal(status, code)]).await;
        let error = server.client(Options::new()).create_table(&table()).await.unwrap_err();
        assert!(error.is_ambiguous() && error.table() == Some("Employee"), "{error}");
    }
    // The table exists, regardless of who created it.
    let server = Server::start([Reply::Cut, refusal(409, "TableAlreadyExists")]).await;
    assert!(!server.client(Options::new()).create_table_if_missing(&table()).await.unwrap());
    let server = Server::start([refusal(503, "ServerBusy"), refusal(409, "TableAlreadyExists")]).await;
    assert!(server.client(Options::new()).create_table(&table()).await.unwrap_err().is_already_exists());
    let server = Server::start([Reply::Cut, refusal(404, "ResourceNotFound")]).await;
    let error = server.client(Options::new()).delete_table(&table()).await.unwrap_err();
    assert!(error.is_ambiguous() && error.last_response().is_some_and(Error::is_not_found), "{error}");
    let server = Server::start([refusal(404, "ResourceNotFound")]).await;
    assert!(server.client(Options::new()).delete_table(&table()).await.unwrap_err().is_not_found());
}

/// Tests that the page of a proxy proves nothing about a table or an entity, whatever its status. A response with an error code in a header, however, comes
/// from the service.
#[tokio::test(start_paused = true)]
async fn con_11_only_the_service_can_say_that_a_table_exists_or_an_entity_is_missing() {
    let page = |status| answer(status, &["Content-Type: text/html"], "<html><title>Conflict</title></html>");
    for reply in [page(409), answer(409, &[], "")] {
        let server = Server::start([reply]).await;
        let error = server.client(Options::new()).create_table_if_missing(&table()).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InternalError, "{error}");
        assert!(error.to_string().contains("check for a proxy"), "{error}");
    }
    let server = Server::start([answer(409, &["x-ms-error-code: TableAlreadyExists"], "")]).await;
    assert!(!server.client(Options::new()).create_table_if_missing(&table()).await.unwrap());
    for (status, kind) in [
        (409, OperationKind::Insert(row(1))),
        (404, OperationKind::Delete(IfMatch::Any)),
        (404, OperationKind::Replace(row(1), IfMatch::Any)),
        (412, OperationKind::Merge(row(1), stale())),
    ] {
        let server = Server::start([page(status)]).await;
        let error = submit(&server.client(Options::new()), [("r", kind)]).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InternalError, "{status}: {error}");
    }
    let server = Server::start([page(404)]).await;
    let error = server.client(Options::new()).delete_table(&table()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InternalError, "{error}");
    let server = Server::start([page(404)]).await;
    let error = server.client(Options::new()).get(&table(), &key(), &Select::All).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InternalError, "{error}");
}

fn batch_refusal(status: u16, code: &str, message: &str) -> Reply {
    batch_part(status, &refusal_body(code, message))
}

fn batch_part(status: u16, body: &str) -> Reply {
    let body = format!(
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n\
         HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n\r\n{body}\r\n--c--\r\n--b--\r\n"
    );
    answer(202, &["Content-Type: multipart/mixed; boundary=b"], &body)
}

#[tokio::test(start_paused = true)]
async fn con_11_and_egt_9_a_batch_is_proven_as_a_whole_or_ambiguous() {
    let exists = || batch_refusal(409, "EntityAlreadyExists", "0:It exists.");
    let operations = || {
        [
            ("r", OperationKind::Insert(row(1))),
            ("s", OperationKind::Delete(IfMatch::Any)),
            ("t", OperationKind::InsertOrMerge(row(1))),
        ]
    };
    for (ids, replies, expected) in [
        (true, vec![Reply::Cut, exists(), Reply::EntityAsSent, Reply::EntityAsSent], Ok(())),
        (
            true,
            vec![Reply::Cut, exists(), Reply::EntityAsSent, entity(STORED, 1)],
            Err(ErrorCode::OperationTimedOut),
        ),
        (true, vec![Reply::Cut, exists(), entity(STORED, 1)], Err(ErrorCode::OperationTimedOut)),
        (false, vec![Reply::Cut, exists()], Err(ErrorCode::OperationTimedOut)),
        (true, vec![refusal(503, "ServerBusy"), exists()], Err(ErrorCode::EntityAlreadyExists)),
    ] {
        let requests = replies.len();
        let server = Server::start(replies).await;
        let client = server.client(Options::new().operation_ids(ids));
        let outcome = submit(&client, operations()).await;
        if let Err(error) = &outcome {
            assert_eq!((error.operation(), error.key()), (Some(0), Some(("p", "r"))), "EGT-34");
        }
        let expected = expected.map(|()| vec![Some(written()), None, Some(written())]);
        assert_eq!(outcome.map_err(|error| error.code()), expected);
        assert_eq!(server.received().len(), requests);
    }
}

#[tokio::test(start_paused = true)]
async fn egt_38_a_batch_refused_as_a_whole_was_not_applied() {
    let operations = || [("r", OperationKind::Insert(row(1))), ("s", OperationKind::Insert(row(1)))];
    let server = Server::start([refusal(413, "RequestBodyTooLarge")]).await;
    let client = server.client(Options::new());
    let error = submit(&client, operations()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RequestBodyTooLarge);
    let server = Server::start(vec![Reply::Cut; 4]).await;
    let client = server.client(Options::new());
    assert!(submit(&client, operations()).await.unwrap_err().is_ambiguous());
}

/// Tests a batch with a throttled operation. A batch is atomic, so none of its operations was applied, and the batch is sent again.
#[tokio::test(start_paused = true)]
async fn rty_1_and_egt_9_a_batch_with_a_throttled_operation_is_sent_again() {
    let busy = || batch_refusal(503, "ServerBusy", "1:The server is busy.");
    let operations = || [("r", OperationKind::Insert(row(1))), ("s", OperationKind::Delete(IfMatch::Any))];
    for earlier in
        [vec![busy()], vec![busy(), batch_refusal(429, "TooManyRequests", "0:No.")], vec![Reply::Cut, busy()]]
    {
        let attempts = earlier.len() + 1;
        let server = Server::start(earlier.into_iter().chain([batch_done()])).await;
        submit(&server.client(Options::new()), operations()).await.unwrap();
        assert_eq!(server.lines(), vec!["POST /$batch"; attempts]);
    }
    // The retry policy limits the number of attempts, whether the whole batch or only one operation is throttled.
    let whole = || refusal(503, "ServerBusy");
    for kinds in 0..8 {
        let reply = |attempt: usize| if kinds >> (attempt % 3) & 1 == 1 { busy() } else { whole() };
        let server = Server::start((0..30).map(reply)).await;
        let client = server.client(Options::new());
        let error = submit(&client, operations()).await.unwrap_err();
        let attempts = client.pipeline().retry().max_retries as usize + 1;
        assert_eq!(server.lines().len(), attempts, "{kinds:03b}");
        let of_part = kinds >> ((attempts - 1) % 3) & 1 == 1;
        assert_eq!((error.code(), error.operation()), (ErrorCode::ServerBusy, of_part.then_some(1)));
        assert!(!error.is_ambiguous());
    }
    // A permanent error of an operation is not retried.
    let server =
        Server::start([busy(), batch_refusal(409, "EntityAlreadyExists", "0:It exists."), batch_done()])
            .await;
    let error = submit(&server.client(Options::new()), operations()).await.unwrap_err();
    assert_eq!((error.code(), server.lines().len()), (ErrorCode::EntityAlreadyExists, 2));
}

/// Tests that a part of a batch is classified like a response to the whole batch: by its status, the service's code, and the presence of an error body.
#[tokio::test(start_paused = true)]
async fn rty_1_and_con_11_a_part_of_a_batch_is_classified_as_a_whole_response() {
    let operations = || [("r", OperationKind::Insert(row(1))), ("s", OperationKind::Insert(row(1)))];
    let bodies =
        ["", "ServerBusy", "ServiceUnavailable", "InternalError", "OperationTimedOut", "TooManyRequests"];
    for status in [400, 403, 408, 413, 429, 499, 500, 501, 502, 503, 504, 505, 507, 520, 598] {
        for code in bodies {
            let body = if code.is_empty() { String::new() } else { refusal_body(code, "0:no") };
            let mut outcomes = Vec::new();
            for reply in [json(status, &body), batch_part(status, &body)] {
                let server =
                    Server::start([reply, batch_refusal(409, "EntityAlreadyExists", "0:It exists.")]).await;
                let error = submit(&server.client(Options::new()), operations()).await.unwrap_err();
                outcomes.push((error.is_ambiguous(), error.code(), server.received().len()));
            }
            assert_eq!(outcomes[0], outcomes[1], "{status} {code}");
        }
    }
}
