//! Tests of Azurite and Cosmos DB responses that deviate from the service (AZ, COS rules).

use table_core::query::{KeyRange, Query, Select};
use table_core::{EntityKey, TableStore, ValueRef};

use super::server::*;
use crate::{AzureTables, Credential, Options, Target};

/// Creates a client for the server with Cosmos DB as its target.
fn cosmos(server: &Server) -> AzureTables {
    let key = crate::auth::EMULATOR_KEY;
    let key = Credential::shared_key(crate::auth::EMULATOR_ACCOUNT, key).unwrap();
    let options = Options::new().target(Target::Cosmos).clock(clock());
    AzureTables::with_options(&server.endpoint, key, options).unwrap()
}

/// Tests that the client ignores metadata with a wrong table or type. A property that is omitted or has a null value must be absent.
#[tokio::test]
async fn az_6_and_15_metadata_is_ignored_and_omitted_properties_are_absent() {
    let metadata = r#""odata.metadata":"http://127.0.0.1:10002/devstoreaccount1/$metadata#Tables/@Element""#;
    let row = r#""odata.etag":"W/\"x\"","PartitionKey":"p","RowKey":"r","Timestamp":"2026-11-20T07:00:00Z""#;
    let page = format!(r#"{{{metadata},"value":[{{{row},"A":1}},{{{row},"A":1,"B":null}}]}}"#);
    let server = Server::start([json(200, &page)]).await;
    let query = Query { select: Select::names(["A", "B"]), ..Query::new(KeyRange::ALL) };
    let page = server.client(Options::new()).query(&table(), &query, None).await.unwrap();
    assert_eq!(page.rows.len(), 2);
    for entity in page.rows.iter() {
        assert_eq!(entity.row.find("A", &mut 0).unwrap(), Some(ValueRef::Int32(1)));
        assert_eq!(entity.row.find("B", &mut 0).unwrap(), None);
    }
}

/// Tests that lists of tables omit the invalid names of Cosmos DB, which no other operation of this library accepts.
#[tokio::test]
async fn cos_3_lists_omit_invalid_table_names() {
    let names = ["my-table", "ab", "Employee", "日本", &"x".repeat(64)]
        .map(|name| format!(r#"{{"TableName":"{name}"}}"#));
    let server = Server::start([json(200, &format!(r#"{{"value":[{}]}}"#, names.join(",")))]).await;
    let page = cosmos(&server).list_tables("", None, 100).await.unwrap();
    assert_eq!(page.names.iter().map(ToString::to_string).collect::<Vec<_>>(), ["Employee"]);
}

#[tokio::test]
async fn cos_9_and_10_metadata_and_digits_of_cosmos_are_read() {
    let base = "https://contoso.table.cosmos.azure.com";
    let etag = "W/\"datetime'2020-10-02T22%3A48%3A03.9000000Z'\"";
    let created =
        format!(r#"{{"TableName":"Employee","odata.metadata":"{base}/$metadata#Tables/@Element"}}"#);
    let entity = format!(
        r#"{{"odata.metadata":"{base}/Employee/$metadata#Employee/@Element","odata.etag":"{}","PartitionKey":"p","RowKey":"r","A":1,"At@odata.type":"Edm.DateTime","At":"1970-01-01T00:00:00.0000000Z","Timestamp":"2020-10-02T22:48:03.9000000Z"}}"#,
        etag.replace('"', "\\\"")
    );
    let header = format!("ETag: {etag}");
    let server = Server::start([answer(201, &[JSON, &header], &created), json(200, &entity)]).await;
    let client = cosmos(&server);
    client.create_table(&table()).await.unwrap();
    let key = EntityKey::new("p", "r").unwrap();
    let found = client.get(&table(), &key, &Select::All).await.unwrap().unwrap();
    // The `ETag` is preserved as received, without normalisation (ETAG-4).
    assert_eq!(found.etag.to_string(), etag);
    let at = found.row.view().find("At", &mut 0).unwrap();
    assert_eq!(at, Some(ValueRef::DateTime(621_355_968_000_000_000)));
}

/// Tests that the client returns an error immediately if a new stored policy is not yet in effect.
#[tokio::test]
async fn acl_3_a_policy_not_yet_in_effect_is_reported_at_once() {
    let server = Server::start([
        answer(204, &[], ""),
        refusal(403, "AuthenticationFailed"),
        entity("2026-11-20T07:00:00Z", 1),
    ])
    .await;
    server.client(Options::new()).set_access_policies(&table(), &[]).await.unwrap();
    let token = Credential::shared_access_signature("sv=2019-02-02&si=readers&tn=Employee&sig=c2VjcmV0");
    let reader = AzureTables::new(&server.endpoint, token).unwrap();
    let key = EntityKey::new("p", "r").unwrap();
    let refused = reader.get(&table(), &key, &Select::All).await.unwrap_err();
    assert_eq!(refused.code(), table_core::ErrorCode::AuthenticationFailed);
    assert_eq!(server.received().len(), 2);
    assert!(reader.get(&table(), &key, &Select::All).await.unwrap().is_some());
}
