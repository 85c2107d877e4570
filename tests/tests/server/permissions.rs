//! Tests table and queue SAS tokens. Each operation is tested with each set of permissions. No request may access keys outside the range of its token.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use table_core::{QueueName, TableName};
use table_wire::auth::AccountKey;
use table_wire::sas::{AccessPolicy, Lifetime, QueuePermissions, QueueToken, TablePermissions, TableSas};
use tests::ask::{Answer, Ask};

use crate::{ACCOUNT, KEY, SERVER};

pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);

pub(crate) fn key() -> AccountKey {
    AccountKey::new(ACCOUNT, KEY).unwrap()
}

pub(crate) fn lifetime() -> Lifetime {
    Lifetime::valid_for(Utc::now(), HOUR).starting(Utc::now() - TimeDelta::minutes(5))
}

pub(crate) fn create(table: &str) {
    let made = Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{table}\"}}")).of(&SERVER);
    assert_eq!(made.status, 201, "{}", made.body);
    put(table, "r");
}

/// Inserts or replaces an entity that an earlier operation may have deleted.
fn put(table: &str, row: &str) {
    let target = format!("{table}(PartitionKey='p',RowKey='{row}')");
    assert_eq!(Ask::new("PUT", target).json("{}").of(&SERVER).status, 204);
}

/// Sends a request with the token as its only credential. Returns the response.
pub(crate) fn with(ask: &Ask, target: &str, token: &str) -> Answer {
    let separator = if target.contains('?') { '&' } else { '?' };
    ask.clone().signed(None).target(format!("{target}{separator}{token}")).of(&SERVER)
}

/// The operations on tables and entities. Each has the permissions that a table SAS needs, or `None` if no table SAS can permit it.
fn table_operations() -> Vec<(Ask, String, Option<&'static str>)> {
    let entity = "Letters(PartitionKey='p',RowKey='r')";
    let any = |verb| Ask::new(verb, "").json("{}").header("if-match", "*");
    let upsert = |verb| Ask::new(verb, "").json("{}");
    let insert = "{\"PartitionKey\":\"p\",\"RowKey\":\"new\"}";
    let table = "{\"TableName\":\"MadeByToken\"}";
    let batch = |operation: &str| {
        let body = format!(
            "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n{operation}\r\n--c--\r\n--b--\r\n"
        );
        Ask::new("POST", "").body("multipart/mixed; boundary=b", body)
    };
    let line = |verb: &str, headers: &str| {
        batch(&format!(
            "{verb} /contoso/{entity} HTTP/1.1\r\nContent-Type: application/json\r\n{headers}\r\n{{}}"
        ))
    };
    let post =
        batch(&format!("POST /contoso/Letters HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{insert}"));
    [
        (Ask::new("GET", ""), entity, Some("r")),
        (Ask::new("GET", ""), "Letters()", Some("r")),
        (Ask::new("POST", "").json(insert), "Letters", Some("a")),
        (any("PUT"), entity, Some("u")),
        (any("MERGE"), entity, Some("u")),
        (any("PATCH"), entity, Some("u")),
        (upsert("PUT"), entity, Some("au")),
        (upsert("MERGE"), entity, Some("au")),
        (any("DELETE"), entity, Some("d")),
        (any("POST").header("x-http-method", "DELETE"), entity, Some("d")),
        (any("POST").header("x-http-method", "MERGE"), entity, Some("u")),
        (post, "$batch", Some("a")),
        (line("PUT", ""), "$batch", Some("au")),
        (line("PUT", "If-Match: *\r\n"), "$batch", Some("u")),
        (line("DELETE", "If-Match: *\r\n"), "$batch", Some("d")),
        (Ask::new("POST", "").json(table), "Tables", None),
        (Ask::new("GET", ""), "Tables", None),
        (Ask::new("DELETE", ""), "Tables('Letters')", None),
        (Ask::new("GET", ""), "Letters?comp=acl", None),
        (Ask::new("PUT", "").body("application/xml", ""), "Letters?comp=acl", None),
        (Ask::new("GET", ""), "?restype=service&comp=properties", None),
        (Ask::new("GET", ""), "?restype=service&comp=stats", None),
    ]
    .map(|(ask, target, needed)| (ask, target.to_owned(), needed))
    .into()
}

/// Returns `true` if a request was executed, or `false` if it was rejected. The status of a batch is in the response body.
fn is_executed(answer: &Answer, context: &str) -> bool {
    let refused = answer.status == 403 || answer.body.contains("HTTP/1.1 403 ");
    assert!(refused || answer.status < 300, "{context}: {} {}", answer.status, answer.body);
    !refused
}

#[test]
fn sas_5_each_set_of_letters_permits_exactly_its_operations() {
    create("Letters");
    let letters = [
        ('r', TablePermissions::READ),
        ('a', TablePermissions::ADD),
        ('u', TablePermissions::UPDATE),
        ('d', TablePermissions::DELETE),
    ];
    for set in 1..1 << letters.len() {
        let chosen =
            letters.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, letter)| *letter);
        let chosen: Vec<_> = chosen.collect();
        let allowed = chosen.iter().fold(TablePermissions::NONE, |all, (_, one)| all.and(*one));
        let sas =
            TableSas::table(TableName::new("Letters").unwrap()).allow(allowed).valid_for(Utc::now(), HOUR);
        let token = sas.sign(&key()).unwrap().query_string();
        for (ask, target, needed) in table_operations() {
            put("Letters", "r");
            let gone = Ask::new("DELETE", "Letters(PartitionKey='p',RowKey='new')").header("if-match", "*");
            assert!(matches!(gone.of(&SERVER).status, 204 | 404));
            let has = |letter: char| chosen.iter().any(|(own, _)| *own == letter);
            let expected = needed.is_some_and(|needed| needed.chars().all(has));
            let context = format!("{chosen:?} {target} {ask:?}");
            assert_eq!(is_executed(&with(&ask, &target, &token), &context), expected, "{context}");
        }
    }
}

/// The operations on queues. Each has the permission letter that a queue SAS needs, or `None` if no queue SAS can permit it.
fn queue_operations(id: &str, receipt: &str) -> Vec<(Ask, String, Option<char>)> {
    let message = "<QueueMessage><MessageText>a</MessageText></QueueMessage>";
    let ask = |verb| Ask::queue(verb, "");
    let body = |verb| ask(verb).body("application/xml", message);
    let one = format!("letters/messages/{id}?popreceipt={receipt}");
    [
        (ask("GET"), "letters/messages?peekonly=true".to_owned(), Some('r')),
        (ask("GET"), "letters?comp=metadata".to_owned(), Some('r')),
        (ask("HEAD"), "letters?comp=metadata".to_owned(), Some('r')),
        (body("POST"), "letters/messages".to_owned(), Some('a')),
        (body("PUT"), format!("{one}&visibilitytimeout=0"), Some('u')),
        (ask("GET"), "letters/messages".to_owned(), Some('p')),
        (ask("DELETE"), one, Some('p')),
        (ask("DELETE"), "letters/messages".to_owned(), None),
        (ask("PUT"), "letters".to_owned(), None),
        (ask("DELETE"), "letters".to_owned(), None),
        (ask("PUT"), "letters?comp=metadata".to_owned(), None),
        (ask("GET"), "letters?comp=acl".to_owned(), None),
        (ask("PUT"), "letters?comp=acl".to_owned(), None),
        (ask("GET"), "?comp=list".to_owned(), None),
        (ask("GET"), "?restype=service&comp=properties".to_owned(), None),
    ]
    .into()
}

#[test]
fn sas_5_each_set_of_letters_of_a_queue_permits_exactly_its_operations() {
    assert_eq!(Ask::queue("PUT", "letters").of(&SERVER).status, 201);
    let letters = [
        ('r', QueuePermissions::READ),
        ('a', QueuePermissions::ADD),
        ('u', QueuePermissions::UPDATE),
        ('p', QueuePermissions::PROCESS),
    ];
    for set in 1..1 << letters.len() {
        let chosen =
            letters.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, letter)| *letter);
        let chosen: Vec<_> = chosen.collect();
        let permissions = chosen.iter().fold(QueuePermissions::NONE, |all, (_, one)| all.and(*one));
        let expiry = Some(Utc::now() + TimeDelta::hours(1));
        let policy = AccessPolicy { start: None, expiry, permissions: Some(permissions) };
        let name = QueueName::new("letters").unwrap();
        let token = QueueToken::sign(&key(), &name, policy, None).unwrap().query_string();
        for at in 0..queue_operations("", "").len() {
            let message = "<QueueMessage><MessageText>a</MessageText></QueueMessage>";
            let made = Ask::queue("POST", "letters/messages").body("application/xml", message).of(&SERVER);
            let element = |name: &str| {
                let rest = made.body.split(&format!("<{name}>")).nth(1).unwrap();
                rest.split('<').next().unwrap().replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
            };
            let (ask, target, needed) =
                queue_operations(&element("MessageId"), &element("PopReceipt")).swap_remove(at);
            let expected = needed.is_some_and(|needed| chosen.iter().any(|(own, _)| *own == needed));
            let context = format!("{chosen:?} {target} {ask:?}");
            assert_eq!(is_executed(&with(&ask, &target, &token), &context), expected, "{context}");
            assert_eq!(Ask::queue("DELETE", "letters/messages").of(&SERVER).status, 204);
        }
    }
}

/// Tests that a token for one partition gives no access to others. A continuation, a filter, a batch, or a key in a different spelling must not help.
#[test]
fn sas_8_no_request_leaves_the_range_of_its_token() {
    create("Ranged");
    for partition in ["a", "o", "q", "z"] {
        let target = format!("Ranged(PartitionKey='{partition}',RowKey='r')");
        assert_eq!(Ask::new("PUT", target).json("{\"Secret\":1}").of(&SERVER).status, 204);
    }
    let letters = TablePermissions::READ.and(TablePermissions::ADD).and(TablePermissions::UPDATE);
    let sas = TableSas::table(TableName::new("Ranged").unwrap()).allow(letters.and(TablePermissions::DELETE));
    let token = sas.partition("p").unwrap().valid_for(Utc::now(), HOUR).sign(&key()).unwrap().query_string();
    for query in [
        "",
        "$filter=PartitionKey%20ne%20'p'",
        "$filter=Secret%20eq%201",
        "$filter=not%20(PartitionKey%20eq%20'p')",
        "$filter=PartitionKey%20ge%20''",
        "NextPartitionKey=1!4!YQ--",
        "NextPartitionKey=1!4!cQ--&NextRowKey=1!4!cg--",
        "NextPartitionKey=1!0!",
        "$top=1&NextPartitionKey=1!4!eg--&NextRowKey=1!4!cg--",
        "$select=Secret",
    ] {
        let answer = with(&Ask::new("GET", ""), &format!("Ranged()?{query}"), &token);
        assert!(!answer.body.contains("\"Secret\":1"), "{query}: {}", answer.body);
        // No query with this token can return a continuation outside the range.
        let expected = if query.contains("Next") { 400 } else { 200 };
        assert_eq!(answer.status, expected, "{query}: {}", answer.body);
    }
    // Pages within the range can be continued.
    put("Ranged", "r2");
    let (mut pages, mut next) = (0, String::new());
    while pages < 9 {
        let page = with(&Ask::new("GET", ""), &format!("Ranged()?$top=1{next}"), &token);
        assert_eq!(
            (page.status, page.body.matches("\"PartitionKey\":\"p\"").count()),
            (200, 1),
            "{}",
            page.body
        );
        pages += 1;
        let [Some(partition), Some(row)] =
            ["partition", "row"].map(|key| page.header(&format!("x-ms-continuation-next{key}key")))
        else {
            break;
        };
        next = format!("&NextPartitionKey={partition}&NextRowKey={row}");
    }
    assert_eq!(pages, 2);
    for partition in ["a", "o", "q", "z", "%6F", "P"] {
        let target = format!("Ranged(PartitionKey='{partition}',RowKey='r')");
        for ask in [
            Ask::new("GET", ""),
            Ask::new("PUT", "").json("{}"),
            Ask::new("MERGE", "").json("{}").header("if-match", "*"),
            Ask::new("DELETE", "").header("if-match", "*"),
        ] {
            assert_eq!(with(&ask, &target, &token).status, 403, "{target} {ask:?}");
        }
        // The key of the body is inside the range, but the key of the URL is not. The permission is checked before the body is read.
        let other = Ask::new("PUT", "").json("{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}");
        assert_eq!(with(&other, &target, &token).status, 403, "{target}");
        let insert =
            Ask::new("POST", "").json(format!("{{\"PartitionKey\":\"{partition}x\",\"RowKey\":\"r\"}}"));
        assert_eq!(with(&insert, "Ranged", &token).status, 403, "{partition}");
    }
}
