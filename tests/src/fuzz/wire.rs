//! Fuzz targets for parts of requests: batches, shared access signatures and XML bodies.

use std::time::Duration;

use chrono::DateTime;
use table_core::TableName;
use table_wire::auth::AccountKey;
use table_wire::batch::{Batch, read_requests};
use table_wire::sas::{SasToken, SasVerifier, StoredAccessPolicy, TablePermissions, TableSas};
use table_wire::{ErrorBody, ServiceProperties, acl, queue};

fn key() -> AccountKey {
    AccountKey::new("contoso", "dW5zcGVha2FibGU=").unwrap_or_else(|error| panic!("{error}"))
}

/// Parses a batch body with the boundary used in the samples.
pub(super) fn batch(bytes: &[u8]) -> bool {
    let Ok(batch) = read_requests("multipart/mixed; boundary=batch_7", bytes) else { return false };
    let parts = match batch {
        Batch::Query(part) => vec![part],
        Batch::ChangeSet(parts) => parts,
    };
    for part in &parts {
        assert!(part.target().len() <= bytes.len() && part.header("if-match").len() <= bytes.len());
    }
    true
}

/// Parses a shared access signature (SAS). An accepted SAS must survive formatting and parsing. The result of the signature check is ignored.
pub(super) fn sas(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(token) = text.parse::<SasToken>() else { return false };
    let again = token.query_string().parse::<SasToken>();
    assert!(again.is_ok_and(|again| again == token), "a token that was written again");
    assert!(!format!("{token:?}").contains("unspeakable"));
    // Random input practically never has a valid signature, so the result is ignored.
    drop(SasVerifier::new(key()).verify(&token));
    true
}

/// Parses XML bodies: access policies, service properties, messages and errors. Accepted policies and properties must survive a round trip.
pub(super) fn xml(bytes: &[u8]) -> bool {
    drop(ErrorBody::read(bytes));
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let (policies, properties, message) =
        (acl::read::<TablePermissions>(text), ServiceProperties::read(text), queue::read_text(text));
    if let Some(policies) = &policies
        && StoredAccessPolicy::check(policies).is_ok()
    {
        assert_eq!(acl::read(&acl::write(policies)).as_ref(), Some(policies), "policies written again");
    }
    if let Some(properties) = &properties {
        let again = ServiceProperties::read(&properties.to_xml());
        assert_eq!(again.as_ref(), Some(properties), "properties written again");
    }
    policies.is_some() || properties.is_some() || message.is_some()
}

pub(super) fn batches() -> Vec<Vec<u8>> {
    let part = |method: &str, target: &str, more: &str| {
        format!(
            "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n{method} {target} HTTP/1.1\r\n{more}"
        )
    };
    let url = "http://localhost/contoso/Employee(PartitionKey='Sales',RowKey='1')";
    let (delete, insert) = (
        part("DELETE", url, "If-Match: *\r\n\r\n"),
        part(
            "POST",
            "/contoso/Employee",
            "Content-Type: application/json\r\n\r\n{\"PartitionKey\":\"Sales\",\"RowKey\":\"2\"}",
        ),
    );
    let set = format!(
        "--batch_7\r\nContent-Type: multipart/mixed; boundary=changeset_7\r\n\r\n--changeset_7\r\n{delete}\r\n\
         --changeset_7\r\n{insert}\r\n--changeset_7--\r\n--batch_7--\r\n"
    );
    let query =
        format!("--batch_7\r\n{}\r\n--batch_7--\r\n", part("GET", url, "Accept: application/json\r\n\r\n"));
    [set, query].map(String::into_bytes).into()
}

pub(super) fn tokens() -> Vec<Vec<u8>> {
    let start = DateTime::from_timestamp(1_795_161_600, 0).unwrap_or_default();
    let table = || TableSas::table(TableName::new("Employee").unwrap_or_else(|error| panic!("{error}")));
    let one =
        table().allow(TablePermissions::READ).valid_for(start, Duration::from_secs(60 * 60)).sign(&key());
    let narrow = table()
        .allow(TablePermissions::READ)
        .partition("Sales")
        .and_then(|sas| sas.valid_for(start, Duration::from_secs(60 * 60)).sign(&key()));
    let tokens = [one, narrow].map(|token| token.unwrap_or_else(|error| panic!("{error}")).query_string());
    let account = "sv=2019-02-02&ss=tq&srt=sco&sp=rwdlacup&se=2030-01-01T00:00:00Z&spr=https,http&sip=127.0.0.1&sig=c2ln";
    tokens.into_iter().chain([account.to_owned()]).map(String::into_bytes).collect()
}

pub(super) fn documents() -> Vec<Vec<u8>> {
    [
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers><SignedIdentifier><Id>a&amp;b</Id><AccessPolicy>\
         <Start>2024-01-01T00:00:00Z</Start><Expiry>2030-01-01T00:00:00.1234567Z</Expiry><Permission>raud</Permission>\
         </AccessPolicy></SignedIdentifier></SignedIdentifiers>",
        "<SignedIdentifiers/>",
        "<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete><Read>false</Read><Write>true</Write>\
         <RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging><Cors><CorsRule>\
         <AllowedOrigins>http://contoso.com,*</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods>\
         <MaxAgeInSeconds>60</MaxAgeInSeconds><ExposedHeaders>x-ms-meta*</ExposedHeaders><AllowedHeaders>*</AllowedHeaders>\
         </CorsRule></Cors></StorageServiceProperties>",
        "<QueueMessage><MessageText>&lt;a href=\"x\"&gt;&#x1F600; é</MessageText></QueueMessage>",
    ]
    .into_iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}
