//! Tests that invalid responses cause typed errors, without panics and without secrets in messages (ERR-2, KEY-5).

use table_core::etag::IfMatch;
use table_core::limits::Limits;
use table_core::query::{KeyRange, Query, Select};
use table_core::row::{Row, RowWriter};
use table_core::{
    EntityKey, ErrorCode, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction,
    ValueRef,
};

use super::server::*;
use crate::{Options, ServiceError, ServiceProperties};

fn key() -> EntityKey {
    EntityKey::new("p", "r").unwrap()
}

const HTML: &str = "Content-Type: text/html; charset=us-ascii";

#[tokio::test]
async fn key_5_and_err_2_a_refusal_in_html() {
    let server =
        Server::start([answer(400, &[HTML], "<html><title>Bad Request - Invalid URL</title>")]).await;
    let client = server.client(Options::new());
    let error = submit(&client, [("r", OperationKind::InsertOrReplace(row(1)))]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidInput);
    assert!(!error.to_string().contains('<'), "{error}");
}

#[tokio::test]
async fn get_2_an_html_page_does_not_mean_that_an_entity_is_missing() {
    let replies = [
        answer(404, &[HTML], "<html>"),
        answer(404, &[], ""),
        refusal(404, "NotFound"),
        refusal(404, "EntityNotFound"),
    ];
    let server = Server::start(replies).await;
    let client = server.client(Options::new());
    let page = client.get(&table(), &key(), &Select::All).await.unwrap_err();
    assert_eq!(page.code(), ErrorCode::InternalError, "{page}");
    assert!(client.get(&table(), &key(), &Select::All).await.unwrap_err().is_not_found());
    for _ in 0..2 {
        assert_eq!(client.get(&table(), &key(), &Select::All).await.unwrap(), None); // COS-12, GET-2
    }
}

/// Tests a web server that sends JSON and a weak `ETag` but is not a table service. Also tests a cache that returns the wrong entity.
#[tokio::test]
async fn get_1_only_the_requested_entity_is_returned() {
    let etag = "ETag: W/\"12-abc\"";
    for body in [
        r#"{"status":"ok"}"#,
        r#"{"PartitionKey":"p","status":"ok"}"#,
        r#"{"PartitionKey":"p","RowKey":"s","status":"ok"}"#,
        r#"{"PartitionKey":"P","RowKey":"r","status":"ok"}"#,
    ] {
        for select in [Select::All, Select::names(["status"])] {
            let server = Server::start([answer(200, &["Content-Type: application/json", etag], body)]).await;
            let found = server.client(Options::new()).get(&table(), &key(), &select).await;
            assert_eq!(found.unwrap_err().code(), ErrorCode::InternalError, "{body}");
        }
    }
}

/// Tests an error in the format of Azure Resource Manager, as gateways send it. It proves nothing about an entity or a table. The service itself sends
/// `odata.error` or a request ID.
#[tokio::test]
async fn get_2_and_con_11_an_error_of_another_api_states_nothing_about_an_entity_or_a_table() {
    let gateway = |status: u16, code: &str| {
        let body = format!(r#"{{"error":{{"code":"{code}","message":"no"}}}}"#);
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}",
            body.len()
        );
        Reply::Bytes(format!("{head}\r\n\r\n{body}").into_bytes())
    };
    let replies = [gateway(404, "NotFound"), gateway(409, "Conflict"), gateway(501, "NotImplemented")];
    let server = Server::start(replies).await;
    let client = server.client(Options::new());
    let error = client.get(&table(), &key(), &Select::All).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InternalError, "{error}");
    let error = client.create_table(&table()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InternalError, "{error}");
    // The gateway may have forwarded the request.
    let error = submit(&client, [("r", OperationKind::Delete(IfMatch::Any))]).await.unwrap_err();
    assert!(error.is_ambiguous(), "{error}");
}

#[tokio::test]
async fn invalid_or_unexpected_json_is_a_backend_fault() {
    let bodies = [
        "",
        "{",
        "[]",
        "{\"value\":1}",
        "{\"value\":[1]}",
        "{\"value\":[{\"PartitionKey\":\"p\"}]}",
        "\u{0}",
        r#"{"value":[{"odata.etag":"strong","PartitionKey":"p","RowKey":"r"}]}"#,
        r#"{"value":[{"PartitionKey":"p","RowKey":"r","Timestamp":"yesterday"}]}"#,
    ];
    let json_bodies = bodies.map(|body| json(200, body));
    let types = [
        answer(200, &[HTML], "<html>"),
        answer(200, &[], "{}"),
        answer(200, &["Content-Type: application/atom+xml"], "<x/>"),
    ];
    for reply in json_bodies.into_iter().chain(types) {
        let server = Server::start([reply.clone(), reply.clone(), reply.clone()]).await;
        let client = server.client(Options::new());
        let query = client.query(&table(), &Query::new(KeyRange::ALL), None).await;
        let list = client.list_tables("", None, 10).await;
        let errors = [query.unwrap_err(), list.unwrap_err()];
        for error in errors {
            assert_eq!(error.code(), ErrorCode::InternalError, "{reply:?}: {error}");
        }
    }
    for body in ["", "{}", r#"{"odata.etag":"strong"}"#, r#"{"A":[1]}"#] {
        let server = Server::start([json(200, body)]).await;
        let error = server.client(Options::new()).get(&table(), &key(), &Select::All).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InternalError, "{body}: {error}");
    }
}

/// Tests entities that Azurite and Cosmos DB for Table can store but the service cannot. A query skips such an entity. A point read returns an error that names
/// it.
#[tokio::test]
async fn type_6_and_key_3_an_entity_that_cannot_be_represented_does_not_hide_the_other_entities_of_its_partition()
 {
    let date =
        r#""PartitionKey":"p","RowKey":"r","Born@odata.type":"Edm.DateTime","Born":"0001-01-01T00:00:00Z""#;
    let long = format!(r#""PartitionKey":"{}","RowKey":"r""#, "k".repeat(2_000));
    let entities = [
        date,
        &long,
        r#""PartitionKey":"a/b","RowKey":"r""#,
        r#""PartitionKey":"p","RowKey":"r","A@odata.type":"Edm.Int64","A":"zz""#,
        r#""PartitionKey":"p","RowKey":"r","A@odata.type":"Edm.Single","A":"1.5""#,
        r#""PartitionKey":"p","RowKey":"r","A":[1]"#,
    ];
    for entity in entities {
        let page = format!(
            r#"{{"value":[{{"PartitionKey":"p","RowKey":"1"}},{{{entity}}},{{"PartitionKey":"p","RowKey":"2"}}]}}"#
        );
        let server = Server::start([json(200, &page)]).await;
        let client = server.client(Options::new());
        let found = client.query(&table(), &Query::new(KeyRange::ALL), None).await.unwrap();
        let keys: Vec<_> = found.rows.iter().map(|entity| entity.row_key.to_owned()).collect();
        assert_eq!((keys, found.skipped), (vec!["1".to_owned(), "2".to_owned()], 1), "{entity}");
    }
    for entity in entities {
        let server = Server::start([json(200, &format!("{{{entity}}}"))]).await;
        let error = server.client(Options::new()).get(&table(), &key(), &Select::All).await.unwrap_err();
        // A retry would read the same entity, so the error does not suggest an outage. An entity with another key belongs to another request.
        let is_requested = entity.contains(r#""PartitionKey":"p","RowKey":"r""#);
        let code = if is_requested { ErrorCode::EntityMismatch } else { ErrorCode::InternalError };
        assert_eq!(error.code(), code, "{entity}: {error}");
        assert_eq!((error.table(), error.key()), (Some("Employee"), Some(("p", "r"))), "{error}");
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert!(!entity.contains("Born") || source.is_some_and(|source| source.contains("Born")), "{error}");
    }
    // The service itself writes the Timestamp, so this response does not come from a table service.
    let late = r#"{"PartitionKey":"p","RowKey":"r","A":[1],"Timestamp":"yesterday"}"#;
    let server = Server::start([json(200, late)]).await;
    let error = server.client(Options::new()).get(&table(), &key(), &Select::All).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InternalError, "{error}");
}

#[tokio::test]
async fn errors_carry_the_services_code_request_id_and_operation() {
    let server = Server::start([refusal(403, "AccountIsDisabled")]).await;
    let client = server.client(Options::new());
    let error = submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::AuthorizationFailure);
    assert_eq!((error.table(), error.key()), (Some("Employee"), Some(("p", "r"))));
    let source = std::error::Error::source(&error).unwrap().downcast_ref::<ServiceError>().unwrap();
    assert_eq!(source.code(), Some("AccountIsDisabled"));
    assert_eq!((source.operation(), source.status(), source.message()), ("insert", 403, "no"));
    assert_eq!(source.request_id(), Some("c0ffee"));
    let text = "AuthorizationFailure: insert: no [request c0ffee] (operation 0; table `Employee`; PartitionKey 'p', RowKey 'r')";
    assert_eq!(error.to_string(), text);
    assert_eq!(source.to_string(), "the service answered 403 AccountIsDisabled");
}

#[tokio::test]
async fn a_batch_response_of_the_wrong_type_is_ambiguous() {
    let server = Server::start([answer(202, &[HTML], "<html>")]).await;
    let client = server.client(Options::new());
    let operations = [("r", OperationKind::Insert(row(1))), ("s", OperationKind::Insert(row(1)))];
    assert!(submit(&client, operations).await.unwrap_err().is_ambiguous());
}

/// Tests that a page from another server does not acknowledge a write. A captive portal has written nothing, but a gateway may have forwarded the request
/// (CON-11).
#[tokio::test]
async fn con_11_an_html_page_does_not_acknowledge_a_write() {
    for kind in [
        OperationKind::Insert(row(1)),
        OperationKind::Delete(IfMatch::Any),
        OperationKind::InsertOrMerge(row(1)),
    ] {
        for status in [200, 202, 203] {
            let server = Server::start([answer(status, &[HTML], "<html>")]).await;
            let error = submit(&server.client(Options::new()), [("r", kind.clone())]).await.unwrap_err();
            assert!(error.is_ambiguous() && error.key() == Some(("p", "r")), "{status}: {error}");
        }
    }
}

/// Tests that a page never acknowledges a change, whatever its success status (CON-11).
#[tokio::test]
async fn con_11_an_html_page_acknowledges_no_change_of_a_table_its_policies_or_the_settings() {
    for status in [200, 203, 206] {
        let page = answer(status, &[HTML], "<html>");
        let server = Server::start(vec![page; 4]).await;
        let client = server.client(Options::new());
        let outcomes = [
            client.create_table(&table()).await,
            client.delete_table(&table()).await,
            client.set_access_policies(&table(), &[]).await,
            client.set_service_properties(&ServiceProperties::default()).await,
        ];
        for (index, outcome) in outcomes.into_iter().enumerate() {
            assert!(outcome.is_err_and(|error| error.is_ambiguous()), "{status}, request {index}");
        }
    }
}

/// Tests the error pages of gateways. A gateway that responds with 5xx may have forwarded the request. One that responds with 4xx rejected the request itself.
#[tokio::test]
async fn con_11_an_error_page_of_a_gateway_leaves_a_write_ambiguous() {
    let client = |server: &Server| server.client(Options::new().retry(crate::RetryPolicy::NONE));
    for status in (500..=599).chain([400, 403, 404, 407, 499]) {
        let page = answer(status, &[HTML], "<html>");
        let server = Server::start([page.clone(), page]).await;
        let one = submit(&client(&server), [("r", OperationKind::Delete(IfMatch::Any))]).await.unwrap_err();
        let two = [("r", OperationKind::Insert(row(1))), ("s", OperationKind::Insert(row(2)))];
        let batch = submit(&client(&server), two).await.unwrap_err();
        assert_eq!(
            (one.is_ambiguous(), batch.is_ambiguous()),
            (status >= 500, status >= 500),
            "{status}: {one}"
        );
    }
    // If the service itself sends one of these statuses, the request had no effect.
    let body =
        r#"{"odata.error":{"code":"NotImplemented","message":{"lang":"en-US","value":"Not implemented."}}}"#;
    let server = Server::start([answer(501, &[JSON], body)]).await;
    let error = submit(&client(&server), [("r", OperationKind::Delete(IfMatch::Any))]).await.unwrap_err();
    assert!(!error.is_ambiguous(), "{error}");
}

/// Tests that the client stops reading an endless body. A write then has an ambiguous outcome.
#[tokio::test]
async fn con_11_and_err_2_an_endless_body_is_abandoned() {
    let server = Server::start([Reply::Endless, Reply::Endless]).await;
    let client = server.client(Options::new().retry(crate::RetryPolicy::NONE));
    let error = submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap_err();
    assert!(error.is_ambiguous(), "{error}");
    let error = client.get(&table(), &key(), &Select::All).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidInput);
}

#[tokio::test]
async fn egt_3_12_and_req_7_empty_and_oversized_batches_are_not_sent() {
    let server = Server::start([]).await;
    let client = server.client(Options::new());
    assert_eq!(submit(&client, []).await.unwrap_err().rule(), Some("EGT-12"));
    // Base64 expands 36 KiB to 48 KiB. The fifth entity therefore exceeds the body limit, although the entities themselves total less than 4 MiB (ENG-17).
    let mut large = RowWriter::new();
    for name in ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"] {
        large.property(name, ValueRef::Binary(&vec![0; 65_536]));
    }
    let insert = |row: &str, content: &Row| Operation {
        row_key: RowKey::new(row).unwrap(),
        kind: OperationKind::Insert(content.clone()),
    };
    let large = large.finish();
    let partition_key = || PartitionKey::new("p").unwrap();
    let limits = client.capabilities().limits;
    let mut transaction = Transaction::new(partition_key(), limits).unwrap();
    for row in ["1", "2", "3", "4"] {
        transaction.push(insert(row, &large)).unwrap();
    }
    let error = transaction.push(insert("5", &large)).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::RequestBodyTooLarge, Some("EGT-3")));
    // A transaction built with another store's limits is measured again before it is sent.
    let mut foreign = Transaction::new(partition_key(), Limits::PORTABLE).unwrap();
    for row in ["1", "2", "3", "4", "5"] {
        foreign.push(insert(row, &large)).unwrap();
    }
    let error = client.submit(&TableName::new("Employee").unwrap(), foreign).await.unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::RequestBodyTooLarge, Some("EGT-3")));
    assert!(server.received().is_empty());
}

/// Tests that no request is sent to a server that does not speak TLS, and that the client does not panic.
#[tokio::test(start_paused = true)]
async fn acc_1_https_is_tls() {
    let mut server = Server::start([done()]).await;
    server.endpoint = server.endpoint.replace("http://", "https://");
    let client = server.client(Options::new());
    let error = submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Io);
    assert!(server.received().is_empty());
}
