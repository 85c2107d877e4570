//! Tests for public bug reports about Azurite, the service and its clients. Each test cites its report, and expects the behaviour of the service.

use std::time::Duration;

use chrono::Utc;
use table_core::QueueName;
use table_wire::auth::AccountKey;
use table_wire::sas::{AccessPolicy, QueuePermissions, QueueToken};
use tests::ask::{Answer, Ask};

use crate::{ACCOUNT, KEY, SERVER};

fn create(table: &str) {
    let made = Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{table}\"}}")).of(&SERVER);
    assert_eq!(made.status, 201, "{}", made.body);
}

fn insert(table: &str, row: &str, properties: &str) -> Answer {
    let body = format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\"{properties}}}");
    Ask::new("POST", table).json(body).of(&SERVER)
}

/// Encodes text for a URL query.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Returns the row keys that match a filter.
fn found(table: &str, filter: &str) -> Vec<String> {
    let answer = Ask::new("GET", format!("{table}()?$filter={}", encoded(filter))).of(&SERVER);
    assert_eq!(answer.status, 200, "{filter}: {}", answer.body);
    let rows = answer.body.split("\"RowKey\":\"").skip(1);
    rows.map(|row| row.split('"').next().unwrap().to_owned()).collect()
}

#[test]
fn filters_of_reports_find_what_the_service_finds() {
    create("Filters");
    for number in 1..=3 {
        let digits = |count: usize| number.to_string().repeat(count);
        let guid = [8, 4, 4, 4, 12].map(digits).join("-");
        let is_first = number == 1;
        let properties = format!(
            ",\"Guid\":\"{guid}\",\"Guid@odata.type\":\"Edm.Guid\",\"Long\":\"{number}00\",\"Long@odata.type\":\"Edm.Int64\",\"Number\":{number},\
             \"Binary\":\"AAGg/w==\",\"Binary@odata.type\":\"Edm.Binary\",\"When\":\"{number}970-01-01T00:00:00Z\",\"When@odata.type\":\"Edm.DateTime\",\
             \"Text\":\"{number}\",\"Ratio\":1.5e24,\"Ratio@odata.type\":\"Edm.Double\",\"Flag\":{is_first}"
        );
        assert_eq!(insert("Filters", &number.to_string(), &properties).status, 201);
    }
    let second = "guid'22222222-2222-2222-2222-222222222222'";
    for (report, filter, expected) in [
        ("Azurite 1827", format!("Guid gt {second}"), &["3"][..]),
        ("Azurite 1827", format!("Guid ge {second}"), &["2", "3"]),
        ("Azurite 1827", format!("Guid ne {second}"), &["1", "3"]),
        (
            "Azurite 2396",
            "(((PartitionKey eq 'p') and (RowKey ge '1')) and (Flag eq false)) and (Long gt 100L)".to_owned(),
            &["2", "3"],
        ),
        ("Azurite 2396", "Long gt 60L".to_owned(), &["1", "2", "3"]),
        ("Azurite 1828", "not (RowKey lt '2')".to_owned(), &["2", "3"]),
        ("Azurite 1599", "'2' eq RowKey".to_owned(), &["2"]),
        ("Azurite 1599", "2 lt Number".to_owned(), &["3"]),
        ("Azurite 970", "Number gt 11 and Timestamp lt datetime'9999-01-01T00:00:00Z'".to_owned(), &[]),
        ("Azurite 2069", "When ge datetime'1970-01-01T00:00:00.0000000Z'".to_owned(), &["1", "2", "3"]),
        ("Azurite 2069", "When lt datetime'2000-01-01T00:00:00Z'".to_owned(), &["1"]),
        (
            "azure-sdk-for-net 32468",
            "Text eq '1' and Timestamp ge datetime'2022-10-24T21:50:41Z'".to_owned(),
            &["1"],
        ),
        ("azure-docs 53329", "Timestamp ge datetime'2010-01-01T00:00:00'".to_owned(), &["1", "2", "3"]),
        ("azure-sdk-for-net 29256", "Binary eq X'0001A0FF'".to_owned(), &["1", "2", "3"]),
        ("azure-sdk-for-net 29256", "Binary eq binary'0001a0ff'".to_owned(), &["1", "2", "3"]),
        ("azure-sdk-for-net 29256", "Binary eq X'0001160255'".to_owned(), &[]),
        ("Azurite 2342", "Missing gt ''".to_owned(), &[]),
        ("Azurite 2342", "Missing lt ''".to_owned(), &[]),
        ("azure-sdk-for-js 18148", "Ratio gt 1.0e24".to_owned(), &["1", "2", "3"]),
    ] {
        assert_eq!(found("Filters", &filter), expected, "{report}: {filter}");
    }
    // Azurite 1573 and 1880: an empty filter is treated as no filter.
    for query in ["$filter=", "$filter=%20", "$filter=&$select=&$top=20"] {
        let answer = Ask::new("GET", format!("Filters()?{query}")).of(&SERVER);
        assert_eq!((answer.status, answer.body.matches("\"RowKey\"").count()), (200, 3), "{query}");
    }
    // azure-storage-node 316: a number outside the range of Int32 needs its suffix.
    let answer = Ask::new("GET", "Filters()?$filter=Long%20eq%201498179600055").of(&SERVER);
    assert!(matches!(answer.status, 200 | 400), "{}", answer.body);
    // cloudemu 709: a selected property keeps its type.
    let selected = Ask::new("GET", "Filters()?$select=PartitionKey,RowKey,Long&$top=1");
    let selected = selected.header("accept", "application/json;odata=minimalmetadata").of(&SERVER);
    assert!(
        selected.body.contains("\"Long@odata.type\":\"Edm.Int64\",\"Long\":\"100\""),
        "{}",
        selected.body
    );
}

/// Tests azure-sdk-for-python 45046: a filter for Timestamps after the latest one must not match any entity.
#[test]
fn timestamps_are_compared_to_the_last_digit() {
    create("Watermarks");
    let stamps: Vec<String> = (0..4)
        .map(|row| {
            let inserted = insert("Watermarks", &row.to_string(), "").body;
            inserted.split("\"Timestamp\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
        })
        .collect();
    for (at, stamp) in stamps.iter().enumerate() {
        assert_eq!(found("Watermarks", &format!("Timestamp gt datetime'{stamp}'")).len(), 3 - at, "{stamp}");
        assert_eq!(found("Watermarks", &format!("Timestamp eq datetime'{stamp}'")).len(), 1, "{stamp}");
    }
}

#[test]
fn keys_of_reports_are_written_read_and_deleted() {
    create("Keys");
    for (report, key) in [
        ("azure-storage-java 39", "O'Neil"),
        ("Azurite 1377", "test1234'test"),
        ("Azurite 1377", "100%"),
        ("azure-sdk-for-php 472", "a%20b"),
        ("azure-sdk-for-php 472", "%25"),
        ("AzureStorageExplorer 7555", "test''test"),
        ("azure-sdk-for-python 20301", "\\\"A'aaa\\\"_bbbb3"),
        ("azure-sdk-for-node 305", "C\u{f4}tes d'agneau"),
        ("azure-storage-python 76", "row~key"),
        ("azure-sdk-for-node 528", "a&b=c+d e;f,g(h)"),
    ] {
        let plain = key.replace("\\\"", "\"");
        let inserted = insert("Keys", key, ",\"Age\":1");
        assert_eq!(inserted.status, 201, "{report}: {}", inserted.body);
        let target = format!("Keys(PartitionKey='p',RowKey='{}')", encoded(&plain.replace('\'', "''")));
        assert_eq!(Ask::new("GET", target.as_str()).of(&SERVER).status, 200, "{report}");
        assert_eq!(found("Keys", &format!("RowKey eq '{}'", plain.replace('\'', "''"))).len(), 1, "{report}");
        let merge =
            Ask::new("MERGE", target.as_str()).header("if-match", "*").json("{\"Age\":2}").of(&SERVER);
        assert_eq!(merge.status, 204, "{report}: {}", merge.body);
        let deleted = batch("DELETE", &target, "If-Match: *\r\n", "");
        assert!(deleted.body.contains("HTTP/1.1 204"), "{report}: {}", deleted.body);
        assert_eq!(Ask::new("GET", target).of(&SERVER).status, 404, "{report}");
    }
    // Azurite 1371, AzureStorageExplorer 5465: no key may contain these characters.
    for key in ["b#", "a/b", "a\\\\b", "a?b", "a\\u0001b", "a\\u007fb"] {
        assert_eq!(insert("Keys", key, "").status, 400, "{key}");
    }
}

/// Sends a batch that contains one operation.
fn batch(verb: &str, target: &str, headers: &str, body: &str) -> Answer {
    let body = format!(
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n\
         {verb} http://127.0.0.1/{ACCOUNT}/{target} HTTP/1.1\r\nContent-Type: application/json\r\n{headers}\r\n{body}\r\n--c--\r\n--b--\r\n"
    );
    Ask::new("POST", "$batch").body("multipart/mixed; boundary=b", body).of(&SERVER)
}

#[test]
fn writes_of_reports_have_the_effect_that_they_have_in_the_service() {
    create("Writes");
    let stale = "If-Match: W/\"datetime'2015-01-01T23%3A14%3A33.4980000Z'\"\r\n";
    let target = |row: &str| format!("Writes(PartitionKey='p',RowKey='{row}')");
    assert_eq!(insert("Writes", "there", ",\"Age\":1").status, 201);
    for (report, verb, row, headers, expected) in [
        ("Azurite 1232", "MERGE", "new1", "", "204"),
        ("Azurite 1232", "PUT", "new2", "", "204"),
        ("Azurite 1565", "PATCH", "new3", "", "204"),
        ("Azurite 1565", "PATCH", "missing", "If-Match: *\r\n", "404"),
        ("azure-sdk-for-net 32808", "MERGE", "missing", "If-Match: *\r\n", "404"),
        ("Azurite 1233", "PUT", "there", stale, "412"),
        ("Azurite 1233", "MERGE", "there", stale, "412"),
        ("Azurite 793", "PATCH", "there", stale, "412"),
        ("Azurite 793", "DELETE", "there", stale, "412"),
    ] {
        let answer = batch(verb, &target(row), headers, "{\"Age\":2}");
        assert!(
            answer.body.contains(&format!("HTTP/1.1 {expected} ")),
            "{report} {verb} {row}: {}",
            answer.body
        );
    }
    // azure-sdk-for-net 785: a merge with a null keeps the stored value.
    let merge =
        Ask::new("MERGE", target("there")).header("if-match", "*").json("{\"Age\":null,\"Name\":\"a\"}");
    assert_eq!(merge.of(&SERVER).status, 204);
    let read = Ask::new("GET", target("there")).of(&SERVER);
    assert!(read.body.contains("\"Age\":1") && read.body.contains("\"Name\":\"a\""), "{}", read.body);
    // Azurite 1456 and 1457, azure-storage-net 101: nulls are not stored.
    let nulls = insert("Writes", "nulls", ",\"LastRun\":null,\"Resource\":null,\"Failures\":0");
    assert!(nulls.status == 201 && !nulls.body.contains("LastRun"), "{}", nulls.body);
    // Azurite 1757, azure-storage-net 443: the default time in .NET is before the earliest time that the service accepts.
    let early =
        insert("Writes", "early", ",\"At\":\"0001-01-01T00:00:00Z\",\"At@odata.type\":\"Edm.DateTime\"");
    assert_eq!(early.code(), (400, "OutOfRangeInput"), "{}", early.body);
    // azure-storage-node 149, azure-sdk-for-js 18148: whole and large Doubles stay Doubles.
    for (value, expected) in [
        ("\"100.0\"", "\"D\":100.0"),
        ("100", "\"D\":100.0"),
        ("\"1.23456789012346e+24\"", "\"D\":1.23456789012346"),
    ] {
        let row = expected.len().to_string() + &value.len().to_string();
        let answer = insert("Writes", &row, &format!(",\"D\":{value},\"D@odata.type\":\"Edm.Double\""));
        assert!(answer.status == 201 && answer.body.contains(expected), "{value}: {}", answer.body);
    }
    // cloudemu 709: the error code for a table that already exists.
    let again = Ask::new("POST", "Tables").json("{\"TableName\":\"Writes\"}").of(&SERVER);
    assert_eq!(again.code(), (409, "TableAlreadyExists"));
    // Azurite 675: a filter on tables.
    let listed = Ask::new("GET", "Tables?$filter=TableName%20eq%20'NoSuchTable'").of(&SERVER);
    assert_eq!((listed.status, listed.body.as_str()), (200, "{\"value\":[]}"));
}

#[test]
fn queues_of_reports_behave_like_the_service() {
    assert_eq!(Ask::queue("PUT", "reports").of(&SERVER).status, 201);
    let message = "<QueueMessage><MessageText>a</MessageText></QueueMessage>";
    let put = |query: &str| {
        Ask::queue("POST", format!("reports/messages{query}")).body("application/xml", message).of(&SERVER)
    };
    let element = |answer: &Answer, name: &str| {
        let rest =
            answer.body.split(&format!("<{name}>")).nth(1).unwrap_or_else(|| panic!("{}", answer.body));
        encoded(rest.split('<').next().unwrap())
    };
    // azurite (legacy) 116 and 118, azure-sdk-for-go 23092: an update that changes only the visibility returns the time at which the message becomes visible.
    let sent = put("");
    let target = format!(
        "reports/messages/{}?popreceipt={}&visibilitytimeout=0",
        element(&sent, "MessageId"),
        element(&sent, "PopReceipt")
    );
    let updated = Ask::queue("PUT", target).of(&SERVER);
    assert!(updated.status == 204 && updated.header("x-ms-time-next-visible").is_some(), "{}", updated.head);
    // azurite (legacy) 117: a message becomes visible exactly at its visibility time.
    let peeked = Ask::queue("GET", "reports/messages?peekonly=true").of(&SERVER);
    assert_eq!(
        (element(&peeked, "MessageText").as_str(), element(&peeked, "DequeueCount").as_str()),
        ("a", "0")
    );
    // Azurite 2343: a received message is hidden for its visibility timeout and then becomes visible again.
    let receive = || Ask::queue("GET", "reports/messages?visibilitytimeout=1").of(&SERVER);
    assert_eq!(element(&receive(), "DequeueCount"), "1");
    assert!(!receive().body.contains("<QueueMessage>"));
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(element(&receive(), "DequeueCount"), "2");
    // gopherstack 2448: a message that would expire immediately is rejected.
    assert_eq!(put("?messagettl=0").code(), (400, "OutOfRangeQueryParameterValue"));
    // Azurite 825: a SAS without a start time. Azurite 662: a SAS for a queue can never create the queue.
    let permissions = QueuePermissions::READ.and(QueuePermissions::ADD).and(QueuePermissions::UPDATE);
    let permissions = Some(permissions.and(QueuePermissions::PROCESS));
    let policy =
        AccessPolicy { start: None, expiry: Some(Utc::now() + chrono::TimeDelta::days(2)), permissions };
    let name = QueueName::new("reports").unwrap();
    let token = QueueToken::sign(&AccountKey::new(ACCOUNT, KEY).unwrap(), &name, policy, None)
        .unwrap()
        .query_string();
    let with = |verb, path: &str| Ask::queue(verb, format!("{path}?{token}")).signed(None).of(&SERVER);
    assert_eq!(with("GET", "reports/messages").status, 200);
    assert_eq!(with("PUT", "reports").code(), (403, "AuthorizationFailure"));
}
