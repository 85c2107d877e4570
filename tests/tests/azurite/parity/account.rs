//! Tests Azurite's responses to requests about signatures, the account and queues, and its wire format.

use std::io::{Read, Write};
use std::net::TcpStream;

use chrono::{TimeDelta, Utc};
use table_wire::auth::{Scheme, print_http_date};
use tests::ask::Ask;

use super::ask;

#[test]
fn azurite_accepts_both_forms_of_a_shared_key() {
    for scheme in [Scheme::Table, Scheme::TableLite] {
        let Some(answer) = ask(&Ask::new("GET", "Tables").signed(Some(scheme))) else { return };
        assert_eq!(answer.status, 200, "{scheme:?}: {}", answer.body);
    }
    for scheme in [Scheme::Storage, Scheme::StorageLite] {
        let Some(answer) = ask(&Ask::queue("GET", "?comp=list").signed(Some(scheme))) else { return };
        assert_eq!(answer.status, 200, "{scheme:?}: {}", answer.body);
    }
}

#[test]
fn azurite_accepts_any_date() {
    let old = print_http_date(Utc::now() - TimeDelta::days(20));
    let Some(answer) = ask(&Ask::new("GET", "Tables").header("x-ms-date", old)) else { return };
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[test]
fn azurite_refuses_unsigned_requests_with_another_code() {
    let wrong = Ask::new("GET", "Tables").signed(None);
    for asked in [wrong.clone(), wrong.header("authorization", "SharedKey devstoreaccount1:c2lnbmVk")] {
        let Some(answer) = ask(&asked) else { return };
        assert_eq!(answer.code(), (403, "AuthorizationFailure"), "{}", answer.body);
    }
}

#[test]
fn azurite_refuses_a_bearer_token_if_none_is_configured() {
    let asked = Ask::new("GET", "Tables").signed(None).header("authorization", "Bearer e30.e30.e30");
    let Some(answer) = ask(&asked) else { return };
    assert!(matches!(answer.status, 400..=403), "{} {}", answer.head, answer.body);
}

#[test]
fn azurite_refuses_six_policies() {
    let Some(made) = ask(&Ask::new("POST", "Tables").json("{\"TableName\":\"ParityPolicies\"}")) else {
        return;
    };
    assert_eq!(made.status, 201, "{}", made.body);
    for (count, expected) in [(5, (204, "")), (6, (400, "InvalidXmlDocument"))] {
        let one = |number: usize| {
            format!(
                "<SignedIdentifier><Id>p{number}</Id><AccessPolicy><Start>2026-01-01T00:00:00.0000000Z</Start>\
                 <Expiry>2030-01-01T00:00:00.0000000Z</Expiry><Permission>r</Permission></AccessPolicy></SignedIdentifier>"
            )
        };
        let all = (0..count).fold(String::new(), |all, number| all + &one(number));
        let body =
            format!("<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>{all}</SignedIdentifiers>");
        let asked = Ask::new("PUT", "ParityPolicies?comp=acl").body("application/xml", body);
        let Some(answer) = ask(&asked) else { return };
        assert_eq!(answer.code(), expected, "{} {}", answer.head, answer.body);
    }
}

#[test]
fn azurite_does_not_check_names_of_metadata() {
    let asked = Ask::queue("PUT", "paritymetadata").header("x-ms-meta-1-b", "Sales");
    let Some(answer) = ask(&asked) else { return };
    assert_eq!(answer.status, 201, "{}", answer.body);
}

#[test]
fn azurite_has_properties_and_statistics() {
    for asked in [
        Ask::new("GET", "?restype=service&comp=properties"),
        Ask::queue("GET", "?restype=service&comp=properties"),
    ] {
        let Some(answer) = ask(&asked) else { return };
        assert!(answer.body.contains("<StorageServiceProperties"), "{} {}", answer.head, answer.body);
    }
    let Some(answer) = ask(&Ask::new("GET", "?restype=service&comp=stats").secondary()) else { return };
    assert!(answer.body.contains("<GeoReplication>"), "{} {}", answer.head, answer.body);
}

#[test]
fn azurite_answers_a_preflight_by_its_rules() {
    let rules = "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties><Cors><CorsRule>\
        <AllowedOrigins>https://contoso.example</AllowedOrigins><AllowedMethods>GET</AllowedMethods>\
        <MaxAgeInSeconds>60</MaxAgeInSeconds><ExposedHeaders>*</ExposedHeaders><AllowedHeaders>*</AllowedHeaders>\
        </CorsRule></Cors></StorageServiceProperties>";
    let set = Ask::queue("PUT", "?restype=service&comp=properties").body("application/xml", rules);
    let Some(answer) = ask(&set) else { return };
    assert_eq!(answer.status, 202, "{}", answer.body);
    for (origin, expected) in [("https://contoso.example", 200), ("https://fabrikam.example", 403)] {
        let asked = Ask::queue("OPTIONS", "paritycors").signed(None).header("origin", origin);
        let Some(answer) = ask(&asked.header("access-control-request-method", "GET")) else { return };
        assert_eq!(answer.status, expected, "{origin}: {} {}", answer.head, answer.body);
    }
}

#[test]
fn azurite_returns_its_own_version() {
    let Some(answer) = ask(&Ask::new("GET", "Tables").header("x-ms-version", "2019-02-02")) else { return };
    assert_ne!(answer.header("x-ms-version"), Some("2019-02-02"), "{}", answer.head);
}

#[test]
fn azurite_has_error_bodies_in_both_forms() {
    let Some(answer) = ask(&Ask::new("GET", "ParityMissing()")) else { return };
    assert!(answer.body.contains("odata.error") && answer.header("x-ms-error-code").is_some());
    let Some(answer) = ask(&Ask::queue("GET", "paritymissing/messages")) else { return };
    assert!(answer.body.contains("<Code>QueueNotFound</Code>"), "{}", answer.body);
}

/// Sends `text` to the table service. Returns all bytes that are received before the connection closes.
fn plain(text: &str) -> Option<Vec<u8>> {
    let connection = crate::azurite()?;
    let host = connection.split("TableEndpoint=http://").nth(1)?.split('/').next()?;
    let mut stream = TcpStream::connect(host).unwrap();
    // The server may close the connection before all bytes have been sent.
    let _ = stream.write_all(text.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Some(answer)
}

#[test]
fn azurite_does_not_speak_http_2() {
    let Some(answer) = plain("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0") else { return };
    // An HTTP/2 server would respond with a SETTINGS frame (type 4).
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400"), "{answer:?}");
}

#[test]
fn azurite_refuses_a_body_above_four_mebibytes() {
    let head = "POST /devstoreaccount1/Tables HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n";
    let body = " ".repeat((4 << 20) + 1);
    let Some(answer) = plain(&format!("{head}content-length: {}\r\n\r\n{body}", body.len())) else { return };
    let text = String::from_utf8_lossy(&answer);
    // An unsigned request is rejected.
    assert!(text.is_empty() || text.starts_with("HTTP/1.1 4"), "{text}");
}

#[test]
fn azurite_has_no_health_metrics_or_reset() {
    for request in ["GET /health", "GET /ready", "GET /metrics", "POST /reset"] {
        let asked =
            format!("{request} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        let Some(answer) = plain(&asked) else { return };
        assert!(!answer.starts_with(b"HTTP/1.1 2"), "{request}: {}", String::from_utf8_lossy(&answer));
    }
}
