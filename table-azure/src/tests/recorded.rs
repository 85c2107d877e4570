//! Tests with recorded requests and responses in their original order (EX-1 to EX-25).

use table_core::etag::IfMatch;
use table_core::filter::Comparison;
use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::row::RowWriter;
use table_core::{
    ETag, EntityKey, ErrorCode, Filter, Operation, OperationKind, PartitionKey, Row, RowKey, TableStore,
    Transaction, ValueRef,
};

use super::server::*;
use crate::sas::{AccessPolicy, StoredAccessPolicy, TablePermissions};
use crate::{AzureTables, Options};

const ETAG: &str = "W/\"datetime'2026-11-20T08%3A14%3A48.1444672Z'\"";

fn ada() -> Row {
    let mut row = RowWriter::new();
    row.property("FirstName", ValueRef::String("Ada"));
    row.property("Age", ValueRef::Int32(34));
    row.property("Salary", ValueRef::Double(12.5));
    row.property("Bonus", ValueRef::Double(3.0));
    row.property("Active", ValueRef::Boolean(true));
    row.property("BadgeId", ValueRef::Int64(9_007_199_254_740_993));
    row.property("Hired", ValueRef::DateTime(635_442_654_321_234_567));
    row.property("Ref", ValueRef::Guid("c9da6455-213d-42c9-9a79-3e9149a57833".parse().unwrap()));
    row.property("Photo", ValueRef::Binary(&[1, 2, 3, 4]));
    row.finish()
}

async fn write(
    client: &AzureTables,
    partition: &str,
    operations: impl IntoIterator<Item = (&str, OperationKind)>,
) -> table_core::Result<Vec<Option<ETag>>> {
    let limits = client.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new(partition).unwrap(), limits).unwrap();
    for (row_key, kind) in operations {
        transaction.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
    }
    client.submit(&table(), transaction).await
}

#[tokio::test]
async fn ex_1_2_and_25_tables() {
    let missing = || refusal(404, "ResourceNotFound");
    let created =
        answer(204, &["Preference-Applied: return-no-content", "DataServiceId: x", "Location: x"], "");
    let server = Server::start([
        created,
        refusal(409, "TableAlreadyExists"),
        answer(204, &[], ""),
        missing(),
        // Some servers do not report which preference they applied.
        answer(201, &["Content-Type: application/json;odata=nometadata"], r#"{"TableName":"Employee"}"#),
    ])
    .await;
    let client = server.client(Options::new());
    client.create_table(&table()).await.unwrap();
    assert!(client.create_table(&table()).await.unwrap_err().is_already_exists());
    client.delete_table(&table()).await.unwrap();
    assert_eq!(client.delete_table(&table()).await.unwrap_err().code(), ErrorCode::ResourceNotFound);
    client.create_table(&table()).await.unwrap();
    assert_eq!(server.lines()[1..3], ["POST /Tables", "DELETE /Tables('Employee')"]);
    let create = &server.received()[0];
    assert_eq!(create.body, r#"{"TableName":"Employee"}"#);
    for (name, value) in [
        ("x-ms-version", "2019-02-02"),
        ("x-ms-date", "Fri, 20 Nov 2026 08:00:00 GMT"),
        ("dataserviceversion", "3.0"),
        ("content-type", "application/json"),
        ("prefer", "return-no-content"),
    ] {
        assert_eq!(create.header(name), value); // REQ-3
    }
}

#[tokio::test]
async fn ex_5_and_6_ins_4_and_json_8_every_type_round_trips() {
    let etag = format!("etag: {ETAG}");
    let read = r#"{"odata.metadata":"http://127.0.0.1:10002/devstoreaccount1/$metadata#Employee/@Element","odata.etag":"W/\"datetime'2026-11-20T08%3A14%3A48.1444672Z'\"","PartitionKey":"Sales","RowKey":"00001","FirstName":"Ada","Age":34,"Salary":12.5,"Bonus":3.0,"Active":true,"BadgeId@odata.type":"Edm.Int64","BadgeId":"9007199254740993","Hired@odata.type":"Edm.DateTime","Hired":"2014-08-22T00:50:32.1234567Z","Ref@odata.type":"Edm.Guid","Ref":"c9da6455-213d-42c9-9a79-3e9149a57833","Photo@odata.type":"Edm.Binary","Photo":"AQIDBA==","Timestamp":"2026-11-20T08:14:48.1444672Z"}"#;
    // The type annotations in Azurite's responses differ from those in requests (AZ-4).
    let azurite = read.replace(r#""Bonus":3.0"#, r#""Bonus@odata.type":"Edm.Double","Bonus":3"#);
    let server = Server::start([
        answer(204, &[&etag, "preference-applied: return-no-content"], ""),
        json(200, read),
        answer(200, &["content-type: application/json;odata=minimalmetadata", &etag], &azurite),
    ])
    .await;
    let client = server.client(Options::new());
    let committed = write(&client, "Sales", [("00001", OperationKind::Insert(ada()))]).await.unwrap();
    let key = EntityKey::new("Sales", "00001").unwrap();
    for _ in 0..2 {
        let found = client.get(&table(), &key, &Select::All).await.unwrap().unwrap();
        assert_eq!(Some(&found.etag), committed[0].as_ref());
        let sent: Vec<_> = ada().view().properties().map(|property| format!("{property:?}")).collect();
        let got: Vec<_> = found.row.view().properties().map(|property| format!("{property:?}")).collect();
        assert_eq!(got, sent);
    }
    let received = server.received();
    assert_eq!(received[0].header("prefer"), "return-no-content"); // INS-3
    assert_eq!(received[0].header("if-match"), "");
    let body = r#"{"PartitionKey":"Sales","RowKey":"00001","FirstName":"Ada","Age":34,"Salary":12.5,"Bonus@odata.type":"Edm.Double","Bonus":3.0,"Active":true,"BadgeId@odata.type":"Edm.Int64","BadgeId":"9007199254740993","Hired@odata.type":"Edm.DateTime","Hired":"2014-08-22T00:50:32.1234567Z","Ref@odata.type":"Edm.Guid","Ref":"c9da6455-213d-42c9-9a79-3e9149a57833","Photo@odata.type":"Edm.Binary","Photo":"AQIDBA=="}"#;
    assert_eq!(received[0].body, body);
    assert_eq!(server.lines()[1], "GET /Employee(PartitionKey='Sales',RowKey='00001')");
    assert_eq!(received[1].header("accept"), "application/json;odata=minimalmetadata"); // JSON-4
}

#[tokio::test]
async fn ex_4_and_8_to_13_conditions_and_missing_entities() {
    let new = "etag: W/\"datetime'2026-11-20T08%3A14%3A48.1604826Z'\"";
    let server = Server::start([
        refusal(409, "EntityAlreadyExists"),
        refusal(404, "ResourceNotFound"),
        refusal(404, "TableNotFound"),
        answer(204, &[new], ""),
        refusal(412, "UpdateConditionNotSatisfied"),
        refusal(404, "ResourceNotFound"),
        answer(204, &[new], ""),
        answer(204, &[], ""),
    ])
    .await;
    let client = server.client(Options::new());
    let condition = || IfMatch::from(ETag::parse(ETAG).unwrap());
    let code = |outcome: table_core::Result<Vec<Option<ETag>>>| outcome.unwrap_err().code();
    let insert = write(&client, "Sales", [("00001", OperationKind::Insert(row(1)))]).await;
    assert_eq!(code(insert), ErrorCode::EntityAlreadyExists);
    let key = EntityKey::new("Sales", "99999").unwrap();
    assert_eq!(client.get(&table(), &key, &Select::All).await.unwrap(), None);
    assert!(client.get(&table(), &key, &Select::All).await.unwrap_err().is_table_not_found()); // OPT-6
    let merge = || OperationKind::Merge(row(1), condition());
    let committed = write(&client, "Sales", [("00001", merge())]).await.unwrap();
    assert_eq!(
        committed[0].as_ref().unwrap().to_string(),
        "W/\"datetime'2026-11-20T08%3A14%3A48.1604826Z'\""
    );
    assert_eq!(
        code(write(&client, "Sales", [("00001", merge())]).await),
        ErrorCode::UpdateConditionNotSatisfied
    );
    let replace = OperationKind::Replace(row(1), IfMatch::Any);
    assert_eq!(code(write(&client, "Sales", [("00003", replace)]).await), ErrorCode::ResourceNotFound);
    write(&client, "Sales", [("00003", OperationKind::InsertOrMerge(row(1)))]).await.unwrap();
    let delete = OperationKind::Delete(IfMatch::Any);
    assert_eq!(write(&client, "Sales", [("00001", delete)]).await.unwrap(), [None]);
    let received = server.received();
    let conditions: Vec<_> = received[3..].iter().map(|request| request.header("if-match")).collect();
    assert_eq!(conditions, [ETAG, ETAG, "*", "", "*"]); // ETAG-4, UPS-1, DEL-1
    let methods: Vec<_> = received[3..].iter().map(|request| request.method.as_str()).collect();
    assert_eq!(methods, ["PATCH", "PATCH", "PUT", "PATCH", "DELETE"]);
}

#[tokio::test]
async fn ex_15_16_and_qry_1_queries() {
    let page = r#"{"odata.metadata":"x","value":[{"odata.etag":"W/\"datetime'2026-11-20T08%3A14%3A48.1815042Z'\"","PartitionKey":"Marketing","RowKey":"00001","Timestamp":"2026-11-20T08:14:48.1815042Z","FirstName":"Don"}]}"#;
    let tokens =
        ["x-ms-continuation-nextpartitionkey: TWFya2V0aW5n", "x-ms-continuation-nextrowkey: MDAwMDI=", JSON];
    let server =
        Server::start([answer(200, &tokens, page), json(200, page), json(200, r#"{"value":[]}"#)]).await;
    let client = server.client(Options::new());
    let rows = TextRange {
        lower: std::ops::Bound::Included("00001".into()),
        upper: std::ops::Bound::Excluded("00003".into()),
    };
    let select = Select::names(["RowKey", "FirstName"]);
    let query = Query { select, top: Some(1), ..Query::new(KeyRange::rows("Marketing", rows)) };
    let first = client.query(&table(), &query, None).await.unwrap();
    let second = client.query(&table(), &query, first.continuation.as_ref()).await.unwrap();
    assert_eq!((first.rows.len(), second.continuation), (1, None));
    assert_eq!(
        first.rows.get(0).unwrap().etag().to_string(),
        "W/\"datetime'2026-11-20T08%3A14%3A48.1815042Z'\""
    );
    let target = &server.received()[1].target;
    let filter = "$filter=PartitionKey%20eq%20%27Marketing%27%20and%20RowKey%20ge%20%2700001%27%20and%20RowKey%20lt%20%2700003%27";
    assert!(
        target.contains(filter)
            && target.ends_with("&$top=1&NextPartitionKey=TWFya2V0aW5n&NextRowKey=MDAwMDI%3D"),
        "{target}"
    );

    let not = !Filter::compare("FirstName", Comparison::Eq, "Jun");
    let filter = Some(Filter::compare("Age", Comparison::Gt, 30).and(not));
    let query = Query { filter, ..Query::new(KeyRange::partition("Marketing")) };
    assert!(client.query(&table(), &query, None).await.unwrap().rows.is_empty()); // QRY-4
    let text = "PartitionKey eq 'Marketing' and Age gt 30 and not (FirstName eq 'Jun')";
    assert_eq!(server.received()[2].query(), [("$filter".to_owned(), text.to_owned())]);
}

#[tokio::test]
async fn ex_17_a_batch() {
    let part = |head: &str| {
        format!(
            "--changesetresponse_B\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 204 No Content\r\n{head}\r\n\r\n"
        )
    };
    let body = format!(
        "--batchresponse_A\r\nContent-Type: multipart/mixed; boundary=changesetresponse_B\r\n\r\n{}{}--changesetresponse_B--\r\n--batchresponse_A--\r\n",
        part("DataServiceVersion: 3.0;\r\nETag: W/\"datetime'2026-11-20T08%3A14%3A48.1935155Z'\"\r\n"),
        part("DataServiceVersion: 1.0;\r\n"),
    );
    let server =
        Server::start([answer(202, &["Content-Type: multipart/mixed; boundary=batchresponse_A"], &body)])
            .await;
    let client = server.client(Options::new());
    let operations = [("1", OperationKind::Insert(row(1))), ("2", OperationKind::Delete(IfMatch::Any))];
    let committed = write(&client, "HR", operations).await.unwrap();
    let etag = ETag::parse("W/\"datetime'2026-11-20T08%3A14%3A48.1935155Z'\"").unwrap();
    assert_eq!(committed, [Some(etag), None]);
    // The server has verified the signature. It covers the content type, which contains the boundary (AUTH-10).
    let received = &server.received()[0];
    assert_eq!(received.line(), "POST /$batch");
    let boundary = received.header("content-type").strip_prefix("multipart/mixed; boundary=").unwrap();
    assert!(received.body.starts_with(&format!("--{boundary}\r\n")), "{boundary}");
    let url = format!("DELETE {}/Employee(PartitionKey='HR',RowKey='2') HTTP/1.1\r\n", server.endpoint);
    assert!(received.body.contains(&url), "{}", received.body); // EGT-22
    assert!(!received.body.to_ascii_lowercase().contains("authorization"));
}

/// Returns a batch response that consists of recorded parts.
fn batch_answer(parts: &[&str]) -> Reply {
    let head = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary";
    let parts: Vec<_> =
        parts.iter().map(|part| format!("--changesetresponse_B\r\n{head}\r\n\r\n{part}\r\n")).collect();
    let parts = parts.concat();
    let body = format!(
        "--batchresponse_A\r\nContent-Type: multipart/mixed; boundary=changesetresponse_B\r\n\r\n{parts}--changesetresponse_B--\r\n--batchresponse_A--\r\n"
    );
    answer(202, &["Content-Type: multipart/mixed; boundary=batchresponse_A"], &body)
}

#[tokio::test]
async fn ex_18_to_20_batches_that_fail_name_the_operation() {
    // Azurite numbers its parts from 1 (AZ-2). Only the message contains the index (EGT-11).
    let azurite = "HTTP/1.1 409 Conflict\r\nContent-ID: 2\r\nDataServiceVersion: 3.0;\r\n\
        Content-Type: application/json;odata=minimalmetadata;charset=utf-8\r\n\r\n";
    let service = "HTTP/1.1 409 Conflict\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\n\
        Preference-Applied: return-no-content\r\nDataServiceVersion: 3.0;\r\n\
        Content-Type: application/json;odata=minimalmetadata;streaming=true;charset=utf-8\r\n\r\n";
    let twice = "1:A command with RowKey '2' is already present in the batch. An entity can appear only once in a batch. ";
    let invalid = azurite.replace("409 Conflict", "400 Bad Request");
    let exists = "The specified entity already exists.";
    let bodies = [
        (azurite, refusal_body("EntityAlreadyExists", &format!("1:{exists}"))),
        (service, refusal_body("EntityAlreadyExists", &format!("3:{exists}"))),
        (&invalid, refusal_body("InvalidDuplicateRow", twice)),
    ];
    let replies = bodies.map(|(head, body)| batch_answer(&[&format!("{head}{body}")]));
    let server = Server::start(replies).await;
    let client = server.client(Options::new());
    for (code, index) in [
        (ErrorCode::EntityAlreadyExists, 1),
        (ErrorCode::EntityAlreadyExists, 3),
        (ErrorCode::InvalidDuplicateRow, 1),
    ] {
        let inserts = ["9", "1", "2", "3"].map(|key| (key, OperationKind::Insert(row(1))));
        let error = write(&client, "HR", inserts).await.unwrap_err();
        assert_eq!((error.code(), error.operation()), (code, Some(index)), "{error}");
        assert_eq!(error.key(), Some(("HR", ["9", "1", "2", "3"][index])));
    }
    assert!(!server.received()[0].body.contains("Content-ID"), "EGT-11");
}

#[tokio::test]
async fn ex_22_tables_by_prefix() {
    let answer = json(200, r#"{"value":[{"TableName":"Employee"}]}"#);
    let server = Server::start([answer]).await;
    let page = server.client(Options::new()).list_tables("Emp", None, 1_000).await.unwrap();
    assert_eq!(page.names, [table()]);
    assert_eq!(page.next, None);
}

#[tokio::test]
async fn ex_23_and_acl_1_policies_round_trip() {
    const BODY: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy><Start>2026-01-01T00:00:00Z</Start><Expiry>2030-01-01T00:00:00Z</Expiry><Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>";
    let xml = |body: &str| answer(200, &["content-type: application/xml"], body);
    let server =
        Server::start([answer(204, &[], ""), xml(BODY), xml("<SignedIdentifiers/>"), xml("<html/>")]).await;
    let client = server.client(Options::new());
    let at = |text: &str| Some(text.parse().unwrap());
    let policy = AccessPolicy {
        start: at("2026-01-01T00:00:00Z"),
        expiry: at("2030-01-01T00:00:00Z"),
        permissions: Some(TablePermissions::READ),
    };
    let policies = [StoredAccessPolicy::new("readers", policy).unwrap()];
    client.set_access_policies(&table(), &policies).await.unwrap();
    assert_eq!(client.access_policies(&table()).await.unwrap(), policies);
    assert_eq!(client.access_policies(&table()).await.unwrap(), []);
    // A page from a proxy is not an empty list of policies.
    assert_eq!(client.access_policies(&table()).await.unwrap_err().code(), ErrorCode::InternalError);
    let received = server.received();
    assert_eq!(received[0].body, BODY);
    assert_eq!(received[0].header("content-type"), "application/xml");
    // The requests are signed with an account key, and the signature covers `?comp=acl` (SIG-4). The server has verified it.
    assert!(received.iter().all(|request| request.header("authorization").starts_with("SharedKey")));
}
