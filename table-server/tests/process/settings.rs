//! Tests that stored policies, service properties and queue metadata survive a restart with the same folder.

use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY, Scheme};

use crate::child::{Running, on};
use crate::wire::{Asked, plain, status};

const PROPERTIES: &str = "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>https://contoso.com</AllowedOrigins>\
    <AllowedMethods>GET</AllowedMethods><MaxAgeInSeconds>60</MaxAgeInSeconds><ExposedHeaders/><AllowedHeaders/></CorsRule></Cors></StorageServiceProperties>";

fn policies(permission: &str) -> String {
    format!(
        "<SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy><Start>2026-01-01T00:00:00Z</Start>\
         <Expiry>2099-01-01T00:00:00Z</Expiry><Permission>{permission}</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"
    )
}

#[test]
fn properties_policies_and_metadata_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let key = AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap();
    let (table, queue) = (policies("r"), policies("rp"));
    let put = |scheme, target, body| Asked { scheme, body, ..Asked::tables("PUT", target) };
    let server = Running::start(on(folder.path()));
    let created =
        Asked { body: "{\"TableName\":\"Employee\"}", ..Asked::tables("POST", "/devstoreaccount1/Tables") };
    assert_eq!(status(&created.of(server.tables, &key)), "201");
    let created =
        Asked { more: &[("x-ms-meta-color", "red")], ..Asked::queues("PUT", "/devstoreaccount1/work") };
    assert_eq!(status(&created.of(server.queues, &key)), "201");
    for (address, request) in [
        (
            server.tables,
            put(Scheme::TableLite, "/devstoreaccount1/?restype=service&comp=properties", PROPERTIES),
        ),
        (server.tables, put(Scheme::TableLite, "/devstoreaccount1/Employee?comp=acl", &table)),
        (server.queues, put(Scheme::Storage, "/devstoreaccount1/work?comp=acl", &queue)),
    ] {
        let answer = request.of(address, &key);
        assert!(["202", "204"].contains(&status(&answer)), "{answer}");
    }
    // Acknowledged changes survive a kill.
    server.end("-KILL");

    let server = Running::start(on(folder.path()));
    let tables = |target| Asked::tables("GET", target).of(server.tables, &key);
    let queues = |target| Asked::queues("GET", target).of(server.queues, &key);
    let properties = tables("/devstoreaccount1/?restype=service&comp=properties");
    assert!(properties.contains("<AllowedOrigins>https://contoso.com</AllowedOrigins>"), "{properties}");
    let policies = tables("/devstoreaccount1/Employee?comp=acl");
    assert!(
        policies.contains("<Id>readers</Id>") && policies.contains("<Permission>r</Permission>"),
        "{policies}"
    );
    let policies = queues("/devstoreaccount1/work?comp=acl");
    assert!(
        policies.contains("<Id>readers</Id>") && policies.contains("<Permission>rp</Permission>"),
        "{policies}"
    );
    let metadata = queues("/devstoreaccount1/work?comp=metadata");
    assert!(metadata.contains("x-ms-meta-color: red"), "{metadata}");
    // The CORS rules are applied.
    let preflight = "OPTIONS /devstoreaccount1/Employee HTTP/1.1\r\nhost: x\r\norigin: https://contoso.com\r\n\
                     access-control-request-method: GET\r\nconnection: close\r\n\r\n";
    assert_eq!(status(&plain(server.tables, preflight)), "200");
}
