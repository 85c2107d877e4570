//! Tests of reads from the secondary endpoint (RTY-5, AUTH-8).

use std::time::Duration;

use table_core::query::Select;
use table_core::{EntityKey, ErrorCode, OperationKind, PartitionKey, TableStore, Transaction};
use tokio::time::Instant;

use super::server::*;
use crate::Options;
use crate::http::Settings;

fn key() -> EntityKey {
    EntityKey::new("p", "r").unwrap()
}

fn options(secondary: &Server) -> Options {
    let endpoint = format!("{}-secondary", secondary.endpoint);
    Options::new().secondary_endpoint(endpoint)
}

fn reader(primary: &Server, secondary: &Server) -> crate::SecondaryReads {
    primary.client(options(secondary)).secondary_reads().unwrap()
}

#[tokio::test(start_paused = true)]
async fn rty_5_and_auth_8_a_read_goes_to_the_secondary_and_is_signed_for_the_account() {
    let primary = Server::start([refusal(503, "ServerBusy")]).await;
    let secondary = Server::start([entity("2026-11-20T07:00:00Z", 1)]).await;
    let client = reader(&primary, &secondary);
    assert!(client.get(&table(), &key(), &Select::All).await.unwrap().is_some());
    let received = secondary.received();
    let path = "/devstoreaccount1-secondary/Employee(PartitionKey='p',RowKey='r')";
    assert_eq!(received[0].target, path);
    // The server has verified the signature. Its text starts with the account name without `-secondary`.
    assert_eq!((primary.received().len(), received.len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn rty_5_a_miss_on_the_secondary_goes_to_the_primary_at_once() {
    let primary = Server::start([Reply::Cut, entity("2026-11-20T07:00:00Z", 1)]).await;
    let secondary = Server::start([refusal(404, "ResourceNotFound")]).await;
    let client = reader(&primary, &secondary);
    let began = Instant::now();
    assert!(client.get(&table(), &key(), &Select::All).await.unwrap().is_some());
    assert!(began.elapsed() < Duration::from_secs(1), "no second delay: {:?}", began.elapsed());
    assert_eq!((primary.received().len(), secondary.received().len()), (2, 1));

    let primary = Server::start([Reply::Cut, refusal(404, "ResourceNotFound")]).await;
    let secondary = Server::start([refusal(404, "TableNotFound")]).await;
    let client = reader(&primary, &secondary);
    assert_eq!(client.get(&table(), &key(), &Select::All).await.unwrap(), None);
}

/// Tests that reads for decisions always go to the primary. Only a separate handle reads from the secondary, and it rejects writes.
#[tokio::test(start_paused = true)]
async fn rty_5_and_con_2_decisions_never_use_possibly_stale_reads() {
    let replies =
        [refusal(503, "ServerBusy"), entity("2026-11-20T07:00:00Z", 1), refusal(503, "ServerBusy"), done()];
    let primary = Server::start(replies).await;
    let secondary = Server::start([]).await;
    let client = primary.client(options(&secondary));
    assert!(client.get(&table(), &key(), &Select::All).await.unwrap().is_some());
    submit(&client, [("r", OperationKind::Insert(row(1)))]).await.unwrap();
    assert_eq!((primary.received().len(), secondary.received().len()), (4, 0));

    let reader = client.secondary_reads().unwrap();
    let limits = reader.capabilities().limits;
    let nothing = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
    for refused in [
        reader.submit(&table(), nothing).await.map(drop),
        reader.create_table(&table()).await,
        reader.delete_table(&table()).await,
    ] {
        let error = refused.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::Unsupported, Some("RTY-5")));
    }
    assert_eq!((primary.received().len(), secondary.received().len()), (4, 0));
}

#[tokio::test]
async fn con_2_and_cos_7_the_secondary_reports_its_replication_progress() {
    let body = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceStats><GeoReplication><Status>live</Status><LastSyncTime>Fri, 20 Nov 2026 07:59:00 GMT</LastSyncTime></GeoReplication></StorageServiceStats>";
    let primary = Server::start([]).await;
    let xml = |body: &str| answer(200, &["Content-Type: application/xml"], body);
    let secondary = Server::start([xml(body), xml("<html/>")]).await;
    let client = primary.client(options(&secondary));
    let stats = client.service_stats().await.unwrap();
    assert_eq!(stats.status, "live");
    assert_eq!(stats.last_sync_time.unwrap().to_rfc3339(), "2026-11-20T07:59:00+00:00");
    assert_eq!(client.service_stats().await.unwrap_err().code(), ErrorCode::InternalError);
    assert_eq!(secondary.received()[0].target, "/devstoreaccount1-secondary/?restype=service&comp=stats");
    let key = crate::Credential::shared_key("contoso", "a2V5").unwrap();
    let cosmos = crate::AzureTables::new("https://contoso.table.cosmos.azure.com", key).unwrap();
    assert_eq!(cosmos.service_stats().await.unwrap_err().rule(), Some("COS-7"));
    assert!(primary.received().is_empty());
}

/// Tests that only a success response from the secondary completes a read. The secondary may be disabled or may reject the credential, or a proxy may respond
/// in its place.
#[tokio::test(start_paused = true)]
async fn rty_5_a_refusal_by_the_secondary_goes_to_the_primary_at_once() {
    for refused in [
        refusal(400, "InvalidInput"),
        refusal(401, "AuthenticationFailed"),
        refusal(403, "AccountIsDisabled"),
        refusal(404, "ResourceNotFound"),
        refusal(405, "MethodNotAllowed"),
        answer(302, &["Location: https://contoso.com"], ""),
        answer(403, &["Content-Type: text/html"], "<html>"),
    ] {
        let primary = Server::start([refusal(503, "ServerBusy"), entity("2026-11-20T07:00:00Z", 1)]).await;
        let secondary = Server::start([refused.clone()]).await;
        let client = reader(&primary, &secondary);
        let began = Instant::now();
        let found = client.get(&table(), &key(), &Select::All).await;
        assert!(found.is_ok_and(|found| found.is_some()), "{refused:?}");
        assert!(began.elapsed() < Duration::from_secs(1), "no second delay: {:?}", began.elapsed());
        assert_eq!((primary.received().len(), secondary.received().len()), (2, 1));
    }
}

#[test]
fn acc_1_the_connections_to_each_endpoint_have_the_settings_that_it_needs() {
    let [here, far, secure] =
        ["http://127.0.0.1:10002/contoso", "http://tables.contoso.com", "https://tables.contoso.com"];
    for (primary, secondary) in
        [(here, far), (far, here), (here, secure), (secure, here), (far, secure), (far, far)]
    {
        let credential = crate::Credential::shared_key("contoso", "a2V5").unwrap();
        let options = Options::new().secondary_endpoint(secondary).allow_credentials_over_plain_http(true);
        let client = crate::AzureTables::with_options(primary, credential, options).unwrap();
        let needed = [primary, secondary]
            .map(|endpoint| Some(Settings::of(&crate::endpoint::Endpoint::new(endpoint).unwrap())));
        let reads = client.or_secondary().unwrap();
        let [first, second] = needed;
        assert_eq!(reads.pipeline().settings(), (first, second), "{primary}, {secondary}");
        let stats = client.pipeline().at(client.secondary().unwrap()).unwrap();
        assert_eq!(stats.settings(), (second, None), "{primary}, {secondary}");
    }
}
