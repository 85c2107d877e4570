//! Tests query parameters. Their names may be in upper or lower case, which a signature treats as equal. Some of their values are not valid UTF-8.

use tests::ask::{Answer, Ask};

use crate::SERVER;

fn get(query: &str) -> Answer {
    Ask::queue("GET", format!("cases/messages{query}")).of(&SERVER)
}

fn put(query: &str, text: &str) -> u16 {
    let body = format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>");
    Ask::queue("POST", format!("cases/messages{query}")).body("application/xml", body).of(&SERVER).status
}

/// Tests that parameter names are accepted in any case. If the server did not recognise a `PeekOnly` in a different case, it would hide the message from its
/// consumers.
#[test]
fn auth_22_parameters_of_queues_have_names_in_any_case() {
    assert_eq!(Ask::queue("PUT", "cases").of(&SERVER).status, 201);
    assert_eq!((put("?VisibilityTimeout=60", "later"), put("", "now")), (201, 201));
    for query in ["?PeekOnly=true", "?peekonly=true&NumOfMessages=2", "?PEEKONLY=TRUE"] {
        let peeked = get(query).body;
        assert!(peeked.contains(">now<") && !peeked.contains(">later<"), "{query}: {peeked}");
        assert!(!peeked.contains("PopReceipt"), "{query}: {peeked}");
    }
    let listed = Ask::queue("GET", "?Comp=list&Prefix=cases").of(&SERVER).body;
    assert_eq!(listed.matches("<Name>").count(), 1, "{listed}");
    let leased = get("?VisibilityTimeout=60").body;
    let [id, receipt] = ["MessageId", "PopReceipt"].map(|name| {
        let rest = leased.split(&format!("<{name}>")).nth(1).unwrap();
        rest.split('<').next().unwrap().replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
    });
    let target = format!("cases/messages/{id}?PopReceipt={receipt}");
    assert_eq!(Ask::queue("DELETE", target).of(&SERVER).status, 204);
}

#[test]
fn auth_22_parameters_of_tables_have_names_in_any_case() {
    let properties = Ask::new("GET", "?ResType=service&COMP=properties").of(&SERVER);
    assert!(properties.status == 200 && properties.body.contains("<Cors"), "{}", properties.body);
    assert_eq!(Ask::new("POST", "Tables").json("{\"TableName\":\"Cases\"}").of(&SERVER).status, 201);
    let policies = Ask::new("GET", "Cases?Comp=acl").of(&SERVER);
    assert!(policies.status == 200 && policies.body.contains("SignedIdentifiers"), "{}", policies.body);
    // The signature must cover the parameter that selects the operation.
    for added in ["Cases?comp=acl", "Cases?Comp=acl", "Cases?COMP=acl&comp=list"] {
        let altered = Ask::new("GET", added).signed_as("Cases").of(&SERVER);
        assert_eq!(altered.code(), (403, "AuthenticationFailed"), "{added}");
    }
}

/// Tests that invalid bytes are rejected. If they were replaced with U+FFFD, the request would read a different entity than the client requested.
#[test]
fn qry_2_a_query_is_utf_8() {
    assert_eq!(Ask::new("POST", "Tables").json("{\"TableName\":\"NotUtf8\"}").of(&SERVER).status, 201);
    for (row, text) in ["\u{fffd}", "50%", "%zz", "\u{e9}"].into_iter().enumerate() {
        let entity = format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",\"Text\":\"{text}\"}}");
        assert_eq!(Ask::new("POST", "NotUtf8").json(entity).of(&SERVER).status, 201);
    }
    for bytes in ["%FF", "%E9", "%C0%80", "%ED%A0%80", "%F5%80%80%80", "%E4%BD"] {
        for target in [
            format!("NotUtf8()?$filter=Text%20eq%20'{bytes}'"),
            format!("NotUtf8()?$top=1&%24filter=Text%20ge%20'a{bytes}a'"),
            format!("NotUtf8()?$select={bytes}"),
            format!("Tables?NextTableName={bytes}"),
        ] {
            let answer = Ask::new("GET", target.as_str()).of(&SERVER);
            assert_eq!(answer.code(), (400, "InvalidInput"), "{target}: {}", answer.body);
        }
        let listed = Ask::queue("GET", format!("?comp=list&prefix={bytes}")).of(&SERVER);
        assert_eq!(listed.code(), (400, "InvalidInput"), "{bytes}: {}", listed.body);
    }
    for (encoded, row) in
        [("%EF%BF%BD", "0"), ("50%", "1"), ("50%25", "1"), ("%zz", "2"), ("%C3%A9", "3"), ("%c3%a9", "3")]
    {
        let answer = Ask::new("GET", format!("NotUtf8()?$filter=Text%20eq%20'{encoded}'")).of(&SERVER);
        assert!(answer.body.contains(&format!("\"RowKey\":\"{row}\"")), "{encoded}: {}", answer.body);
    }
}
