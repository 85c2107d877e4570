//! Names of parameters in upper and lower case, which are equal in the signed text of a request.

use tests::ask::{Answer, Ask};

use crate::SERVER;

fn get(query: &str) -> Answer {
    Ask::queue("GET", format!("cases/messages{query}")).of(&SERVER)
}

fn put(query: &str, text: &str) -> u16 {
    let body = format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>");
    Ask::queue("POST", format!("cases/messages{query}")).body("application/xml", body).of(&SERVER).status
}

/// An ignored `PeekOnly` would hide the message from its consumers.
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
    // The signature covers the parameter that selects the operation.
    for added in ["Cases?comp=acl", "Cases?Comp=acl", "Cases?COMP=acl&comp=list"] {
        let altered = Ask::new("GET", added).signed_as("Cases").of(&SERVER);
        assert_eq!(altered.code(), (403, "AuthenticationFailed"), "{added}");
    }
}
