//! Tests of request URLs and of the presence or absence of headers (REQ, INS, IFM, UPS, JSON rules).

use table_core::etag::IfMatch;
use table_core::query::{KeyRange, Query, Select};
use table_core::{ETag, EntityKey, Filter, Operation, OperationKind, PartitionKey, RowKey, TableName};
use table_core::{Entity, TableStore, TableStoreExt, Transaction};

use super::server::*;
use crate::{AzureTables, Options, ServiceProperties};

/// Returns a batch response with two successful parts.
pub(super) fn batch_done() -> Reply {
    let part = "--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n";
    let body =
        format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{part}{part}--c--\r\n--b--\r\n");
    answer(202, &["Content-Type: multipart/mixed; boundary=b"], &body)
}

fn etag() -> IfMatch {
    ETag::parse("W/\"datetime'2026-11-20T07%3A00%3A00Z'\"").unwrap().into()
}

/// Returns one write of each kind.
fn kinds() -> [OperationKind; 6] {
    [
        OperationKind::Insert(row(1)),
        OperationKind::Replace(row(1), etag()),
        OperationKind::InsertOrReplace(row(1)),
        OperationKind::Merge(row(1), IfMatch::Any),
        OperationKind::InsertOrMerge(row(1)),
        OperationKind::Delete(IfMatch::Any),
    ]
}

/// Inserts one entity with the given key.
async fn insert(client: &AzureTables, partition_key: &str, row_key: &str) -> table_core::Result<()> {
    let limits = client.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new(partition_key).unwrap(), limits)?;
    let kind = OperationKind::Insert(row(1));
    transaction.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind })?;
    client.submit(&table(), transaction).await.map(|_| ())
}

#[tokio::test]
async fn req_1_each_operation_has_its_route_and_takes_each_of_its_successes() {
    let xml = |status, body: &str| answer(status, &["Content-Type: application/xml"], body);
    let stats = "<?xml version=\"1.0\"?><StorageServiceStats><GeoReplication><Status>live</Status></GeoReplication></StorageServiceStats>";
    let replies = [
        json(200, r#"{"value":[]}"#),
        json(201, r#"{"TableName":"Employee"}"#),
        answer(204, &[], ""),
        answer(204, &[], ""),
        xml(200, "<?xml version=\"1.0\"?><SignedIdentifiers></SignedIdentifiers>"),
        answer(204, &[], ""),
        json(200, r#"{"value":[]}"#),
        entity("2026-11-20T07:00:00Z", 1),
        // This insert response contains the entity, although the request asked for no content (INS-2).
        answer(201, &[JSON, "ETag: W/\"x\""], r#"{"PartitionKey":"p","RowKey":"r","A":1}"#),
        done(),
        done(),
        done(),
        done(),
        answer(204, &[], ""),
        batch_done(),
        xml(200, "<?xml version=\"1.0\"?><StorageServiceProperties></StorageServiceProperties>"),
        answer(202, &[], ""),
        xml(200, stats),
    ];
    let count = replies.len();
    let server = Server::start(replies).await;
    let client = server.client(Options::new().secondary_endpoint(format!("{}-secondary", server.endpoint)));
    let key = EntityKey::new("p", "r").unwrap();
    client.list_tables("", None, 10).await.unwrap();
    client.create_table(&table()).await.unwrap();
    client.create_table(&table()).await.unwrap();
    client.delete_table(&table()).await.unwrap();
    client.access_policies(&table()).await.unwrap();
    client.set_access_policies(&table(), &[]).await.unwrap();
    client.query(&table(), &Query::new(KeyRange::ALL), None).await.unwrap();
    client.get(&table(), &key, &Select::All).await.unwrap().unwrap();
    for kind in kinds() {
        submit(&client, [("r", kind)]).await.unwrap();
    }
    let two = ["1", "2"].map(|row_key| (row_key, OperationKind::Insert(row(1))));
    submit(&client, two).await.unwrap();
    let properties = client.service_properties().await.unwrap();
    client.set_service_properties(&properties).await.unwrap();
    assert_eq!(
        properties,
        ServiceProperties::default(),
        "elements that the answer leaves out stay as they are"
    );
    assert_eq!(client.service_stats().await.unwrap().status, "live");

    let routes: Vec<_> = server
        .received()
        .iter()
        .map(|request| {
            let condition = request.header("if-match");
            let comp = request.target.split_once("comp=").map_or("", |(_, comp)| comp);
            format!("{} {comp}{}", request.line(), if condition.is_empty() { "" } else { "If-Match" })
        })
        .collect();
    let entity = "/Employee(PartitionKey='p',RowKey='r')";
    let expected = [
        "GET /Tables ".to_owned(),
        "POST /Tables ".to_owned(),
        "POST /Tables ".to_owned(),
        "DELETE /Tables('Employee') ".to_owned(),
        "GET /Employee acl".to_owned(),
        "PUT /Employee acl".to_owned(),
        "GET /Employee() ".to_owned(),
        format!("GET {entity} "),
        "POST /Employee ".to_owned(),
        format!("PUT {entity} If-Match"),
        format!("PUT {entity} "),
        format!("PATCH {entity} If-Match"),
        format!("PATCH {entity} "),
        format!("DELETE {entity} If-Match"),
        "POST /$batch ".to_owned(),
        "GET / properties".to_owned(),
        "PUT / properties".to_owned(),
        "GET -secondary/ stats".to_owned(),
    ];
    assert_eq!(routes, expected);
    assert_eq!(routes.len(), count);
}

/// Tests that the client needs the status and the body of a response, but no header.
#[tokio::test]
async fn req_4_no_response_header_is_required() {
    let bare = |status: u16, body: &str| Reply::Answer {
        head: format!("HTTP/1.1 {status} X\r\n"),
        body: body.to_owned(),
    };
    let refused = refusal_body("TableNotFound", "The table specified does not exist.");
    let server = Server::start([bare(204, ""), bare(404, &refused), bare(412, ""), bare(400, "")]).await;
    let client = server.client(Options::new());
    let write = |kind| submit(&client, [("r", kind)]);
    assert_eq!(write(OperationKind::Insert(row(1))).await.unwrap(), [None]);
    assert!(write(OperationKind::Insert(row(1))).await.unwrap_err().is_table_not_found());
    let mismatch = write(OperationKind::Merge(row(1), etag())).await.unwrap_err();
    assert!(mismatch.is_precondition_failed(), "{mismatch}");
    // With AZ-17, the body is empty as well.
    let invalid = write(OperationKind::Delete(IfMatch::Any)).await.unwrap_err();
    assert_eq!(invalid.code(), table_core::ErrorCode::InvalidInput);
}

#[tokio::test]
async fn ins_5_an_entity_is_read_at_the_address_in_its_location_header() {
    let location = "Employee(PartitionKey='partition-key%3A1',RowKey='row-key%3A1')";
    let header = format!("Location: https://contoso.table.core.windows.net/{location}");
    let server =
        Server::start([answer(204, &[&header], ""), entity_at("partition-key:1", "row-key:1")]).await;
    let client = server.client(Options::new());
    insert(&client, "partition-key:1", "row-key:1").await.unwrap();
    let key = EntityKey::new("partition-key:1", "row-key:1").unwrap();
    client.get(&table(), &key, &Select::All).await.unwrap().unwrap();
    assert_eq!(server.lines()[1], format!("GET /{location}"));
}

#[tokio::test]
async fn ifm_2_and_ups_5_a_write_has_at_most_one_condition_and_never_an_empty_one() {
    let server = Server::start([done(), done(), done(), done(), done(), done(), batch_done()]).await;
    let client = server.client(Options::new());
    for kind in kinds() {
        submit(&client, [("r", kind)]).await.unwrap();
    }
    let [_, _, upsert, merge, ..] = kinds();
    submit(&client, [("1", upsert), ("2", merge)]).await.unwrap();
    let received = server.received();
    for request in &received {
        let conditions: Vec<_> = request.headers.iter().filter(|(name, _)| name.starts_with("if-")).collect();
        assert!(
            conditions.iter().all(|(name, value)| name == "if-match" && !value.is_empty()),
            "{request:?}"
        );
        assert!(conditions.len() <= 1, "{request:?}");
    }
    let body = &received[6].body;
    assert_eq!(body.matches("\r\nIf-").count(), 1, "{body}");
    assert!(body.contains("\r\nIf-Match: *\r\n"), "{body}");
    assert!(ETag::parse("").is_err());
}

#[tokio::test]
async fn egt_7_and_8_a_batch_is_one_change_set_of_writes_and_reads_are_separate() {
    let server = Server::start([batch_done(), entity("2026-11-20T07:00:00Z", 1), done()]).await;
    let client = server.client(Options::new());
    let two = ["1", "2"].map(|row_key| (row_key, OperationKind::Delete(IfMatch::Any)));
    submit(&client, two).await.unwrap();
    client.get(&table(), &EntityKey::new("p", "r").unwrap(), &Select::All).await.unwrap().unwrap();
    submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap();
    let lines = server.lines();
    assert_eq!(lines, ["POST /$batch", "GET /Employee(PartitionKey='p',RowKey='r')", "POST /Employee"]);
    let body = &server.received()[0].body;
    assert_eq!(body.matches("Content-Type: multipart/mixed; boundary=changeset_").count(), 1, "{body}");
    assert_eq!(body.matches("Content-Type: application/http").count(), 2, "{body}");
    assert!(!body.contains("GET "), "{body}");
}

#[tokio::test]
async fn json_1_and_2_accept_requests_the_level_and_any_level_is_read() {
    let body = r#"{"odata.etag":"W/\"x\"","PartitionKey":"p","RowKey":"r","Timestamp":"2026-11-20T07:00:00Z","A":1}"#;
    let types = [
        "application/json",
        "application/json;odata=minimalmetadata",
        "application/json; odata=fullmetadata; streaming=true; charset=utf-8",
        "Application/JSON ;charset=utf-8",
    ];
    let replies = types.map(|name| answer(200, &[&format!("Content-Type: {name}")], body));
    // Azurite sends `AtomFormatNotSupported` as XML (AZ-8).
    let atom = "<?xml version=\"1.0\"?><m:error xmlns:m=\"http://x\"><m:code>AtomFormatNotSupported</m:code><m:message xml:lang=\"en-US\">Atom format is not supported.</m:message></m:error>";
    let refused = answer(415, &["Content-Type: application/xml"], atom);
    let server = Server::start(replies.into_iter().chain([refused, json(200, r#"{"value":[]}"#)])).await;
    let client = server.client(Options::new());
    let key = EntityKey::new("p", "r").unwrap();
    for name in types {
        let found = client.get(&table(), &key, &Select::All).await.unwrap().unwrap();
        assert_eq!(found.row.view().len(), 1, "{name}");
    }
    let refused = client.get(&table(), &key, &Select::All).await.unwrap_err();
    assert_eq!(refused.code(), table_core::ErrorCode::NotImplemented);
    assert!(refused.to_string().contains("Atom format is not supported."), "{refused}");
    client.query(&table(), &Query::new(KeyRange::ALL), None).await.unwrap();
    for request in server.received() {
        assert_eq!(request.header("accept"), "application/json;odata=minimalmetadata");
        // `$format` would take precedence over `Accept`.
        assert!(!request.target.contains("$format"), "{}", request.target);
    }
}

#[tokio::test]
async fn sel_4_an_empty_selection_requests_the_keys_instead_of_a_blank() {
    let server = Server::start([json(200, r#"{"value":[]}"#)]).await;
    let client = server.client(Options::new());
    let query = Query { select: Select::names(Vec::<String>::new()), ..Query::new(KeyRange::ALL) };
    client.query(&table(), &query, None).await.unwrap();
    let expected = [("$select".to_owned(), "PartitionKey,RowKey,Timestamp".to_owned())];
    assert_eq!(server.received()[0].query(), expected);
}

#[tokio::test]
async fn page_8_a_service_token_is_returned_without_being_interpreted() {
    let tokens = ["1!16!cGs4MDEwMTZlOA--", "1!20!cms4MDEwMTZlODEyMw--"];
    // Tokens that resemble valid ones, but have a wrong length or invalid base64.
    for tokens in [tokens, ["1!999!*_-!", "2!"]] {
        let headers = [
            format!("x-ms-continuation-NextPartitionKey: {}", tokens[0]),
            format!("x-ms-continuation-NextRowKey: {}", tokens[1]),
            JSON.to_owned(),
        ];
        let headers = [headers[0].as_str(), &headers[1], &headers[2]];
        let empty = r#"{"value":[]}"#;
        let server = Server::start([answer(200, &headers, empty), json(200, empty)]).await;
        let client = server.client(Options::new());
        let query = Query::new(KeyRange::ALL);
        let first = client.query(&table(), &query, None).await.unwrap();
        client.query(&table(), &query, first.continuation.as_ref()).await.unwrap();
        let sent = server.received()[1].query();
        let expected = [("NextPartitionKey", tokens[0]), ("NextRowKey", tokens[1])];
        assert_eq!(sent, expected.map(|(name, token)| (name.to_owned(), token.to_owned())));
    }
}

#[tokio::test]
async fn key_10_and_fil_8_an_overlong_url_is_sent_and_its_refusal_reported() {
    // The response to an overlong URL. It comes from the service's HTTP front end instead of the table service.
    let html = "<html><title>Bad Request - Request Too Long</title></html>";
    let refused = |status| answer(status, &["Content-Type: text/html; charset=us-ascii"], html);
    // Each character has three bytes in UTF-8, and each byte is encoded as three ASCII characters.
    let long = "語".repeat(512);
    let server = Server::start([entity_at(&long, &long), refused(414), refused(400)]).await;
    let client = server.client(Options::new());
    let key = EntityKey::new(&long, &long).unwrap();
    client.get(&table(), &key, &Select::All).await.unwrap().unwrap();
    let error = client.get(&table(), &key, &Select::All).await.unwrap_err();
    assert_eq!((error.code(), error.is_not_found()), (table_core::ErrorCode::InvalidInput, false), "{error}");
    let encoded = "%E8%AA%9E".repeat(512);
    let path = format!("GET /Employee(PartitionKey='{encoded}',RowKey='{encoded}')");
    assert_eq!(server.lines(), [path.clone(), path]);

    let query = |count| Query {
        filter: Filter::parse(&vec!["A eq 'x'"; count].join(" or ")).unwrap(),
        ..Query::new(KeyRange::ALL)
    };
    let error = client.query(&table(), &query(2_000), None).await.unwrap_err();
    assert_eq!((error.code(), error.rule()), (table_core::ErrorCode::InvalidInput, None), "{error}");
    assert!(server.received()[2].target.len() > 32 * 1_024);
    assert_eq!(server.received()[2].query()[0].1.matches("A eq 'x'").count(), 2_000);
    // The HTTP client cannot send this request.
    let error = client.query(&table(), &query(4_000), None).await.unwrap_err();
    assert_eq!((error.code(), error.rule()), (table_core::ErrorCode::InvalidInput, Some("FIL-8")), "{error}");
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn lit_5_a_plus_is_encoded_and_a_space_is_not_a_plus() {
    let server = Server::start([json(200, r#"{"value":[]}"#), entity_at("a+b c", "r")]).await;
    let client = server.client(Options::new());
    let query = Query { filter: Filter::parse("A eq 'a+b c'").unwrap(), ..Query::new(KeyRange::ALL) };
    client.query(&table(), &query, None).await.unwrap();
    client.get(&table(), &EntityKey::new("a+b c", "r").unwrap(), &Select::All).await.unwrap();
    let received = server.received();
    assert!(received[0].target.ends_with("?$filter=A%20eq%20%27a%2Bb%20c%27"), "{}", received[0].target);
    assert!(received[1].target.contains("PartitionKey='a%2Bb%20c'"), "{}", received[1].target);
}

/// Tests that the service's metrics tables (Storage Analytics), such as `$MetricsHourPrimaryTransactionsBlob`, can be read but not created.
#[tokio::test]
async fn tbl_5_metrics_tables_are_read_and_never_created() {
    let row = r#"{"PartitionKey":"20140423T0900","RowKey":"user;All","Timestamp":"2014-04-23T10:00:00Z","TotalRequests@odata.type":"Edm.Int64","TotalRequests":"7"}"#;
    let server = Server::start([json(200, &format!(r#"{{"value":[{row}]}}"#))]).await;
    let client = server.client(Options::new());
    let metrics = TableName::new("$MetricsHourPrimaryTransactionsBlob").unwrap();
    let query = Query::new(KeyRange::partition("20140423T0900"));
    let page = client.query(&metrics, &query, None).await.unwrap();
    assert_eq!(page.rows.get(0).unwrap().row_key, "user;All");
    let refused = client.create_table(&metrics).await.unwrap_err();
    assert_eq!(refused.code(), table_core::ErrorCode::InvalidResourceName);
    let lines = server.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("GET /$MetricsHourPrimaryTransactionsBlob()"), "{lines:?}");
}

/// The declaration of a row in a metrics table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "$MetricsHourPrimaryTransactionsTable",
    allow(hot_partition, reason = "the layout of the service")
)]
#[partition_key(pattern("yyyyMMddTHHmm", hour))]
#[row_key(without(';', access), ";", operation)]
struct Measured {
    hour: chrono::DateTime<chrono::Utc>,
    access: String,
    operation: String,
    total_requests: i64,
    availability: f64,
}

#[tokio::test]
async fn tbl_5_metrics_are_read_by_a_typed_handle() {
    let row = |operation: &str| {
        format!(
            r#"{{"odata.etag":"W/\"datetime'2014-04-23T10%3A00%3A00Z'\"","PartitionKey":"20140423T0900","RowKey":"user;{operation}","Timestamp":"2014-04-23T10:00:00Z","TotalRequests@odata.type":"Edm.Int64","TotalRequests":"7","Availability":100.0,"AverageE2ELatency":1.5}}"#
        )
    };
    let page = format!(r#"{{"value":[{},{}]}}"#, row("All"), row("QueryEntities"));
    let server = Server::start([json(200, &page), json(200, &row("All"))]).await;
    let requests = server.client(Options::new()).table::<Measured>();
    let hour: chrono::DateTime<chrono::Utc> = "2014-04-23T09:00:00Z".parse().unwrap();
    let of_hour = requests.query(Measured::partition(hour)).collect().await.unwrap();
    let operations: Vec<_> = of_hour.iter().map(|row| row.operation.as_str()).collect();
    assert_eq!(operations, ["All", "QueryEntities"]);
    let all = requests.get(Measured::key(hour, "user", "All")).await.unwrap().unwrap();
    assert_eq!((all.total_requests, all.availability), (7, 100.0));
    let (lines, table) = (server.lines(), "GET /$MetricsHourPrimaryTransactionsTable");
    assert_eq!(lines[0], format!("{table}()"));
    assert_eq!(server.received()[0].query()[0].1, "PartitionKey eq '20140423T0900'");
    assert_eq!(lines[1], format!("{table}(PartitionKey='20140423T0900',RowKey='user%3BAll')"));
    // The handle rejects the creation of a system table before a request is sent.
    let refused = requests.create_if_missing().await.unwrap_err();
    assert_eq!(refused.code(), table_core::ErrorCode::InvalidResourceName);
    assert_eq!(server.lines().len(), 2);
}
