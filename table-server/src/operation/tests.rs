//! Tests that each request is counted under the operation that it executes, which is determined from the response and from the changes to the account.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use http::Request;
use serde_json::Value;
use table_core::queue::PutMessage;
use table_core::{Engine, QueueName, QueueStore};
use table_wire::sas::Caller;

use super::*;
use crate::account::Account;
use crate::answer::Answer;
use crate::authorize::Access;
use crate::refusal::Refusal;
use crate::route;

const NAME: &str = "devstoreaccount1";
const ENTITY: &str = "{\"PartitionKey\":\"Sales\",\"RowKey\":\"1\",\"Age\":34}";
const ACL: &str = "<SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy/></SignedIdentifier></SignedIdentifiers>";
const PROPERTIES: &str = "<StorageServiceProperties><DefaultServiceVersion>2019-02-02</DefaultServiceVersion></StorageServiceProperties>";
const BATCH: &str = "--b\r\nContent-Type: application/http\r\n\r\nGET http://x/Employee(PartitionKey='Sales',RowKey='1') HTTP/1.1\r\n\r\n\r\n--b--\r\n";

/// The request methods, each with the value of `X-HTTP-Method`.
const METHODS: [(&str, &str); 14] = [
    ("GET", ""),
    ("HEAD", ""),
    ("POST", ""),
    ("PUT", ""),
    ("PATCH", ""),
    ("MERGE", ""),
    ("DELETE", ""),
    ("OPTIONS", ""),
    ("OPTIONS", "GET"),
    ("POST", "GET"),
    ("POST", "PUT"),
    ("POST", "PATCH"),
    ("POST", "MERGE"),
    ("POST", "DELETE"),
];

/// The paths. Variants with one or two trailing slashes are also tested.
const TABLES: [&str; 13] = [
    "",
    "Tables",
    "tables()",
    "Tables('Employee')",
    "$batch",
    "Employee",
    "Employee()",
    "Employee/Tables",
    "Employee('Sales')",
    "Employee(PartitionKey='Sales',RowKey='1')",
    "Employee(RowKey='1',PartitionKey='Sales')",
    "Employee(PartitionKey='Sales'",
    "Missing(PartitionKey='Sales',RowKey='1')",
];
const QUEUES: [&str; 9] = [
    "",
    "work",
    "fresh",
    "messages",
    "work/messages",
    "work/messages/ID",
    "work/messages/ID/messages",
    "work/other",
    "messages/messages",
];
const QUERIES: [&str; 9] = [
    "",
    "comp=acl",
    "comp=ACL",
    "comp=metadata",
    "comp=list",
    "comp=other",
    "peekonly=true",
    "restype=service&comp=properties",
    "restype=service&comp=stats",
];
/// The bodies, each with its media type.
const BODIES: [(&str, &str); 8] = [
    ("", ""),
    ("application/json", "{\"PartitionKey\":\"Sales\",\"RowKey\":\"1\",\"Grade\":1}"),
    ("application/json", "{\"PartitionKey\":\"Sales\",\"RowKey\":\"2\"}"),
    ("application/json", "{\"TableName\":\"Fresh\"}"),
    ("multipart/mixed; boundary=b", BATCH),
    ("application/xml", ACL),
    ("application/xml", PROPERTIES),
    ("application/xml", "<QueueMessage><MessageText>b</MessageText></QueueMessage>"),
];

/// A request, and the operation under which it is counted.
struct Asked {
    counted: Operation,
    answer: Result<Answer, Refusal>,
}

/// Handles a request as a server does after verifying the signature.
async fn ask(
    account: &Account,
    service: Service,
    (method, tunnelled): (&str, &str),
    target: &str,
    (media_type, body): (&str, &str),
) -> Asked {
    let mut request = Request::builder().method(method).uri(format!("/{target}"));
    let headers = [
        ("accept", "application/json;odata=nometadata"),
        ("if-match", "*"),
        ("x-ms-meta-owner", "Sales"),
        ("origin", "https://contoso.com"),
        ("access-control-request-method", "GET"),
        ("x-http-method", tunnelled),
        ("content-type", media_type),
    ];
    for (name, value) in headers.into_iter().filter(|(_, value)| !value.is_empty()) {
        request = request.header(name, value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
    let mut exchange = Exchange::new(service, parts, caller);
    exchange.body = body.to_owned().into();
    exchange.locate(std::slice::from_ref(&account)).unwrap();
    let answer = route::answer(account, &Access::Key, &exchange).await;
    Asked { counted: Operation::of(&exchange), answer }
}

/// The parts of an account that a request can change, as text.
#[derive(Debug, PartialEq, Eq)]
struct State {
    tables: String,
    /// The entities of the table `Employee`, without their Timestamps.
    entities: Vec<String>,
    queues: String,
    messages: u64,
    metadata: String,
    policies: [String; 2],
    properties: [String; 2],
}

async fn state(account: &Account) -> State {
    let read = async |service, target: &str| {
        let target = format!("{NAME}/{target}");
        ask(account, service, ("GET", ""), &target, ("", "")).await.answer.unwrap_or_default()
    };
    let entities = read(Service::Tables, "Employee()").await.body;
    let entities: Value = serde_json::from_str(&entities).unwrap_or_default();
    let entities = entities["value"].as_array().cloned().unwrap_or_default().into_iter();
    let entities = entities.map(|mut entity| {
        entity.as_object_mut().unwrap().remove("Timestamp");
        entity.to_string()
    });
    let queue = QueueName::new("work").unwrap();
    State {
        tables: read(Service::Tables, "Tables").await.body,
        entities: entities.collect(),
        queues: read(Service::Queues, "?comp=list").await.body,
        messages: account.engine.approximate_count(&queue).await.unwrap_or_default(),
        metadata: format!("{:?}", read(Service::Queues, "work?comp=metadata").await.metadata),
        policies: [
            read(Service::Tables, "Employee?comp=acl").await.body,
            read(Service::Queues, "work?comp=acl").await.body,
        ],
        properties: [
            read(Service::Tables, "?restype=service&comp=properties").await.body,
            read(Service::Queues, "?restype=service&comp=properties").await.body,
        ],
    }
}

/// Returns an account with the table `Employee`, which has one entity, and the queue `work`, which has two messages. Also returns the identifier and the
/// receipt of the first message.
async fn account() -> (Account, String, String) {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    for (target, body) in [("Tables", "{\"TableName\":\"Employee\"}"), ("Employee", ENTITY)] {
        let target = format!("{NAME}/{target}");
        let asked = ask(&account, Service::Tables, ("POST", ""), &target, ("application/json", body)).await;
        assert_eq!(asked.answer.unwrap().status, 201);
    }
    let queue = QueueName::new("work").unwrap();
    account.engine.create_queue(&queue).await.unwrap();
    let lease = account.engine.put(&queue, PutMessage::new("a")).await.unwrap();
    account.engine.put(&queue, PutMessage::new("a")).await.unwrap();
    let receipt = form_urlencoded::byte_serialize(lease.receipt.as_str().as_bytes()).collect();
    (account, lease.message.id.to_string(), receipt)
}

/// Returns the operation executed by an accepted request, or `Other` if the request had no effect, for example because it wrote the value already stored.
fn executed(answer: &Answer, before: &State, after: &State) -> Operation {
    let has = |text: &str| answer.body.contains(text);
    let has_header = |name: &str| answer.headers.iter().any(|(found, _)| *found == name);
    let more = |one: &str, other: &str| one.len() > other.len();
    let entity = || after.entities.iter().find(|entity| entity.contains("\"RowKey\":\"1\"")).unwrap();
    match () {
        () if has("--batchresponse_") => Operation::EntityGroupTransaction,
        () if more(&after.tables, &before.tables) => Operation::CreateTable,
        () if more(&before.tables, &after.tables) => Operation::DeleteTable,
        () if after.entities.len() > before.entities.len() => Operation::InsertEntity,
        () if after.entities.len() < before.entities.len() => Operation::DeleteEntity,
        () if after.entities != before.entities && entity().contains("Age") => Operation::MergeEntity,
        () if after.entities != before.entities => Operation::UpdateEntity,
        () if more(&after.queues, &before.queues) => Operation::CreateQueue,
        () if more(&before.queues, &after.queues) => Operation::DeleteQueue,
        () if after.messages > before.messages => Operation::PutMessage,
        () if after.messages == 0 && before.messages == 2 => Operation::ClearMessages,
        () if after.messages < before.messages => Operation::DeleteMessage,
        () if after.metadata != before.metadata => Operation::QueueMetadata,
        () if has_header("x-ms-approximate-messages-count") => Operation::QueueMetadata,
        () if after.policies[0] != before.policies[0] => Operation::TableAcl,
        () if after.policies[1] != before.policies[1] => Operation::QueueAcl,
        () if after.properties != before.properties => Operation::ServiceProperties,
        () if has("<StorageServiceProperties>") => Operation::ServiceProperties,
        () if has("<StorageServiceStats>") => Operation::ServiceStats,
        () if has("<EnumerationResults") => Operation::ListQueues,
        () if has("<PopReceipt>") => Operation::GetMessages,
        () if has("<QueueMessagesList>") => Operation::PeekMessages,
        () if has_header("x-ms-popreceipt") => Operation::UpdateMessage,
        () if has("\"TableName\"") && has("\"value\"") => Operation::QueryTables,
        () if has("\"TableName\"") => Operation::GetTable,
        () if has("\"RowKey\"") && has("\"value\"") => Operation::QueryEntities,
        () if has("\"RowKey\"") => Operation::GetEntity,
        () => Operation::Other,
    }
}

/// A request to a service. The target contains the placeholders `ID` and `RECEIPT` for a message's identifier and receipt.
struct Case {
    service: Service,
    method: (&'static str, &'static str),
    target: String,
    body: (&'static str, &'static str),
}

/// Returns requests with each combination of a method, a path, a query and a body. Only some of them are valid.
fn cases() -> Vec<Case> {
    let paths = TABLES.map(|path| (Service::Tables, path)).into_iter();
    let mut cases = Vec::new();
    for (service, path) in paths.chain(QUEUES.map(|path| (Service::Queues, path))) {
        let is_queue = service == Service::Queues;
        let of_messages = if is_queue { "&popreceipt=RECEIPT&visibilitytimeout=1" } else { "" };
        let queries = QUERIES.into_iter().flat_map(|query| ["", "/", "//"].map(|slashes| (query, slashes)));
        for (query, slashes) in queries {
            for method in METHODS.into_iter().filter(|(_, tunnelled)| !is_queue || tunnelled.is_empty()) {
                let copies: &[&str] = if method == ("GET", "") { &["", "-secondary"] } else { &[""] };
                let verb = if method.1.is_empty() { method.0 } else { method.1 };
                let bodies = if ["POST", "PUT", "PATCH", "MERGE"].contains(&verb) {
                    &BODIES[..]
                } else {
                    &BODIES[..1]
                };
                for (copy, body) in
                    copies.iter().flat_map(|copy| bodies.iter().map(move |body| (copy, *body)))
                {
                    let target = format!("{NAME}{copy}/{path}{slashes}?{query}{of_messages}");
                    cases.push(Case { service, method, target, body });
                }
            }
        }
    }
    cases
}

#[tokio::test]
async fn a_request_is_counted_for_the_operation_that_it_executes() {
    let (mut found, mut wrong) = (BTreeSet::new(), Vec::new());
    let mut current = account().await;
    let mut before = state(&current.0).await;
    for Case { service, method, target, body } in cases() {
        let (account, id, receipt) = &current;
        let sent = target.replace("ID", id).replace("RECEIPT", receipt);
        let Asked { counted, answer } = ask(account, service, method, &sent, body).await;
        let executed = if method.0 == "OPTIONS" {
            // The router treats every request with this method as a preflight request.
            Operation::Preflight
        } else if let Ok(answer) = answer {
            executed(&answer, &before, &state(account).await)
        } else {
            continue;
        };
        found.insert(executed.name());
        if executed != counted && executed != Operation::Other {
            let [executed, counted] = [executed, counted].map(Operation::name);
            wrong.push(format!("{method:?} {target} {}: {executed}, counted as {counted}", body.1));
        }
        // These operations change the receipt.
        let is_new = [Operation::GetMessages, Operation::UpdateMessage].contains(&executed);
        if is_new || state(&current.0).await != before {
            current = self::account().await;
            before = state(&current.0).await;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let of_these_services = Operation::ALL.iter().filter(|operation| **operation != Operation::Blob);
    assert_eq!(found, of_these_services.map(|operation| operation.name()).collect());
}

/// Tests that a rejected request is counted under the requested operation.
#[test]
fn rejected_requests_of_tables_have_an_operation() {
    for (verb, path, expected) in [
        ("GET", "Missing('Sales')", Operation::GetEntity),
        ("DELETE", "Missing('Sales')/", Operation::DeleteEntity),
        ("POST", "Missing/Tables", Operation::InsertEntity),
        ("POST", "Missing/$batch", Operation::InsertEntity),
        ("GET", "$batch", Operation::Other),
        ("PUT", "Missing", Operation::Other),
        ("TRACE", "Employee", Operation::Other),
        ("GET", "", Operation::Other),
        ("GET", "Employee(", Operation::Other),
    ] {
        assert_eq!(Operation::of_tables(verb, path, false), expected, "{verb} {path}");
    }
}
