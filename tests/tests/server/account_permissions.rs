//! Tests account SAS tokens. Each operation is tested with combinations of services, resource types and permissions.

use table_wire::sas::{AccountPermissions, AccountSas, ResourceTypes, Services};
use tests::ask::{Answer, Ask};

use crate::SERVER;
use crate::permissions::{key, lifetime, with};

/// The letters of all permissions, in SAS order.
const LETTERS: &str = "rwdlacup";

/// An operation, and the values that an account SAS needs to permit it (ASAS-4).
struct Operation {
    ask: Ask,
    target: String,
    service: char,
    resource: char,
    /// Sets of permissions. Each of them permits the operation. If the list is empty, no account SAS permits it.
    any: &'static [&'static str],
}

const XML: &str = "application/xml";
const MESSAGE: &str = "<QueueMessage><MessageText>a</MessageText></QueueMessage>";

/// The table operations, as listed in rule ASAS-4.
fn table_operations() -> Vec<Operation> {
    let entity = "Account(PartitionKey='p',RowKey='r')";
    let any = |verb| Ask::new(verb, "").json("{}").header("if-match", "*");
    let upsert = |verb| Ask::new(verb, "").json("{}");
    let insert = Ask::new("POST", "").json("{\"PartitionKey\":\"p\",\"RowKey\":\"new\"}");
    let create = Ask::new("POST", "").json("{\"TableName\":\"AccountMade\"}");
    let get = || Ask::new("GET", "");
    let properties = "?restype=service&comp=properties";
    [
        (get(), "Tables", 'c', &["l"][..]),
        (create, "Tables", 'c', &["w", "c"]),
        (Ask::new("DELETE", ""), "Tables('AccountGone')", 'c', &["d"]),
        (get(), entity, 'o', &["r"]),
        (get(), "Account()", 'o', &["r"]),
        (insert, "Account", 'o', &["a"]),
        (upsert("PUT"), entity, 'o', &["au"]),
        (upsert("MERGE"), entity, 'o', &["au"]),
        (any("PUT"), entity, 'o', &["u"]),
        (any("PATCH"), entity, 'o', &["u"]),
        (any("DELETE"), entity, 'o', &["d"]),
        (get(), properties, 's', &["r"]),
        (get().secondary(), "?restype=service&comp=stats", 's', &["r"]),
        (Ask::new("PUT", "").body(XML, "<StorageServiceProperties/>"), properties, 's', &["w"]),
        (get(), "Account?comp=acl", 'c', &[]),
        (Ask::new("PUT", "").body(XML, ""), "Account?comp=acl", 'c', &[]),
    ]
    .map(|(ask, target, resource, any)| Operation {
        ask,
        target: target.to_owned(),
        service: 't',
        resource,
        any,
    })
    .into()
}

/// The queue operations, as listed in the documentation of the service on account SAS tokens.
fn queue_operations(id: &str, receipt: &str) -> Vec<Operation> {
    let ask = |verb| Ask::queue(verb, "");
    let body = |verb| ask(verb).body(XML, MESSAGE);
    let one = format!("account/messages/{id}?popreceipt={receipt}");
    let update = format!("{one}&visibilitytimeout=0");
    let properties = "?restype=service&comp=properties";
    [
        (ask("GET"), "?comp=list", 's', &["l"][..]),
        (ask("GET"), properties, 's', &["r"]),
        (ask("PUT").body(XML, "<StorageServiceProperties/>"), properties, 's', &["w"]),
        (ask("PUT"), "accountmade", 'c', &["c", "w"]),
        (ask("DELETE"), "accountgone", 'c', &["d"]),
        (ask("GET"), "account?comp=metadata", 'c', &["r"]),
        (ask("PUT"), "account?comp=metadata", 'c', &["w"]),
        (ask("GET"), "account?comp=acl", 'c', &[]),
        (ask("PUT"), "account?comp=acl", 'c', &[]),
        (body("POST"), "account/messages", 'o', &["a"]),
        (ask("GET"), "account/messages", 'o', &["p"]),
        (ask("GET"), "account/messages?peekonly=true", 'o', &["r"]),
        (body("PUT"), &update, 'o', &["u"]),
        (ask("DELETE"), &one, 'o', &["p"]),
        (ask("DELETE"), "account/messages", 'o', &["d"]),
    ]
    .map(|(ask, target, resource, any)| Operation {
        ask,
        target: target.to_owned(),
        service: 'q',
        resource,
        any,
    })
    .into()
}

/// Returns the services, resource types and permissions of each token to test.
///
/// Some tokens have all services and types, and few permissions or all but one. The others have all permissions, and each combination of services and types.
fn signatures() -> Vec<(&'static str, &'static str, String)> {
    let mut letters = vec!["au".to_owned()];
    for one in LETTERS.chars() {
        letters.extend([one.to_string(), LETTERS.replace(one, "")]);
    }
    let resources = ["s", "c", "o", "sc", "so", "co", "sco"];
    let mut all: Vec<_> = letters.into_iter().map(|letters| ("tq", "sco", letters)).collect();
    for services in ["t", "q", "tq"] {
        all.extend(resources.map(|types| (services, types, LETTERS.to_owned())));
    }
    all
}

fn token(services: &str, types: &str, letters: &str) -> String {
    let service = |letter| if letter == 't' { Services::TABLE } else { Services::QUEUE };
    let resource = |letter| match letter {
        's' => ResourceTypes::SERVICE,
        'c' => ResourceTypes::CONTAINER,
        _ => ResourceTypes::OBJECT,
    };
    let services = services.chars().map(service).reduce(Services::and).unwrap();
    let types = types.chars().map(resource).reduce(ResourceTypes::and).unwrap();
    let letters = AccountPermissions::read(letters).unwrap();
    AccountSas::new(services, types, letters, lifetime()).sign(&key()).unwrap().query_string()
}

/// Sends an operation with each token and checks the response. `prepare` restores the initial state before each request and returns the operation.
fn check(prepare: impl Fn() -> Operation) {
    for (services, types, letters) in signatures() {
        let Operation { ask, target, service, resource, any } = prepare();
        let permits = |set: &&str| set.chars().all(|letter| letters.contains(letter));
        let expected = if any.is_empty() {
            Some("")
        } else if !services.contains(service) {
            Some("AuthorizationServiceMismatch")
        } else if !types.contains(resource) {
            Some("AuthorizationResourceTypeMismatch")
        } else if !any.iter().any(permits) {
            Some("AuthorizationPermissionMismatch")
        } else {
            None
        };
        let answer: Answer = with(&ask, &target, &token(services, types, &letters));
        let context =
            format!("{services} {types} {letters}: {target} {ask:?}: {} {}", answer.head, answer.body);
        match expected {
            None => assert!(answer.status < 300, "{context}"),
            Some("") => assert_eq!(answer.status, 403, "{context}"),
            Some(code) => assert_eq!(answer.code(), (403, code), "{context}"),
        }
    }
}

#[test]
fn asas_4_and_5_each_signature_permits_exactly_its_operations_on_tables() {
    let create =
        |name: &str| Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{name}\"}}")).of(&SERVER);
    assert_eq!(create("Account").status, 201);
    for at in 0..table_operations().len() {
        check(|| {
            let entity = Ask::new("PUT", "Account(PartitionKey='p',RowKey='r')").json("{}").of(&SERVER);
            assert_eq!(entity.status, 204);
            let gone = Ask::new("DELETE", "Account(PartitionKey='p',RowKey='new')").header("if-match", "*");
            assert!(matches!(gone.of(&SERVER).status, 204 | 404));
            assert!(matches!(create("AccountGone").status, 201 | 409));
            assert!(matches!(Ask::new("DELETE", "Tables('AccountMade')").of(&SERVER).status, 204 | 404));
            table_operations().swap_remove(at)
        });
    }
}

#[test]
fn asas_4_and_5_each_signature_permits_exactly_its_operations_on_queues() {
    let create = |name: &str| Ask::queue("PUT", name).of(&SERVER);
    assert_eq!(create("account").status, 201);
    for at in 0..queue_operations("", "").len() {
        check(|| {
            assert_eq!(Ask::queue("DELETE", "account/messages").of(&SERVER).status, 204);
            let made = Ask::queue("POST", "account/messages").body(XML, MESSAGE).of(&SERVER);
            let element = |name: &str| {
                let rest = made.body.split(&format!("<{name}>")).nth(1).unwrap();
                rest.split('<').next().unwrap().replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
            };
            assert!(matches!(create("accountgone").status, 201 | 204));
            assert!(matches!(Ask::queue("DELETE", "accountmade").of(&SERVER).status, 204 | 404));
            queue_operations(&element("MessageId"), &element("PopReceipt")).swap_remove(at)
        });
    }
}
