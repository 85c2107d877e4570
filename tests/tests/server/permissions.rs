//! Shared access signatures under attack: each parameter altered alone, and each permission alone against each operation.

use std::net::Ipv4Addr;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use table_core::{QueueName, TableName};
use table_wire::auth::AccountKey;
use table_wire::sas::{
    AccessPolicy, AccountPermissions, AccountSas, Lifetime, Protocol, QueuePermissions, QueueToken,
    ResourceTypes, Services, SignedRange, TablePermissions, TableSas,
};
use tests::ask::{Answer, Ask};

use crate::{ACCOUNT, KEY, SERVER};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn key() -> AccountKey {
    AccountKey::new(ACCOUNT, KEY).unwrap()
}

fn lifetime() -> Lifetime {
    Lifetime::lasting(Utc::now(), HOUR).starting(Utc::now() - TimeDelta::minutes(5))
}

fn create(table: &str) {
    let made = Ask::new("POST", "Tables").json(format!("{{\"TableName\":\"{table}\"}}")).of(&SERVER);
    assert_eq!(made.status, 201, "{}", made.body);
    put(table, "r");
}

/// Stores an entity again, because an operation may have deleted it.
fn put(table: &str, row: &str) {
    let target = format!("{table}(PartitionKey='p',RowKey='{row}')");
    assert_eq!(Ask::new("PUT", target).json("{}").of(&SERVER).status, 204);
}

/// Returns a request with the token as its only proof.
fn with(ask: &Ask, target: &str, token: &str) -> Answer {
    let separator = if target.contains('?') { '&' } else { '?' };
    ask.clone().signed(None).target(format!("{target}{separator}{token}")).of(&SERVER)
}

/// Returns each token that differs from the given one in one parameter: altered, emptied, removed or repeated.
fn alterations(token: &str) -> Vec<String> {
    let pairs: Vec<(&str, &str)> = token.split('&').map(|pair| pair.split_once('=').unwrap()).collect();
    let mut altered = Vec::new();
    for (at, (name, value)) in pairs.iter().copied().enumerate() {
        let mut put = |new: Option<String>| {
            let old = |index: usize| format!("{}={}", pairs[index].0, pairs[index].1);
            let all =
                (0..pairs.len()).filter_map(|index| if index == at { new.clone() } else { Some(old(index)) });
            altered.push(all.collect::<Vec<_>>().join("&"));
        };
        let (first, rest) = value.split_at(1);
        put(Some(format!("{name}={}{rest}", if first == "1" { "2" } else { "1" })));
        put(Some(format!("{name}={value}1")));
        put(Some(format!("{name}={value}%00")));
        put(Some(format!("{name}={value}%0A")));
        put(Some(format!("{name}={value}%20")));
        put(Some(format!("{name}=")));
        put(None);
        put(Some(format!("{}={value}", name.to_uppercase())));
        put(Some(format!("{name}={value}&{name}={value}")));
        put(Some(format!("{name}={value}&{name}=1")));
        put(Some(format!("{name}=1&{name}={value}")));
    }
    altered
}

/// Returns the parameters that a token does not have, each of which would change what is signed.
fn additions(token: &str) -> Vec<String> {
    let all = [
        "st=2020-01-01",
        "sip=127.0.0.1",
        "spr=https,http",
        "si=policy",
        "spk=a",
        "srk=a",
        "epk=z",
        "erk=z",
        "ss=tq",
        "srt=sco",
        "tn=Altered",
        "ses=scope",
    ];
    let missing = all.iter().filter(|one| !format!("&{token}").contains(&format!("&{}", &one[..3])));
    missing.map(|one| format!("{token}&{one}")).collect()
}

#[test]
fn sas_2_no_parameter_of_a_table_can_be_altered() {
    create("Altered");
    let sas = || TableSas::table(TableName::new("Altered").unwrap()).allow(TablePermissions::READ);
    let full = sas()
        .range(SignedRange::new(("o", Some("a")), ("q", Some("z"))).unwrap())
        .addresses("127.0.0.1-127.0.0.9")
        .protocol(Protocol::HttpsAndHttp)
        .lifetime(lifetime());
    let target = "Altered(PartitionKey='p',RowKey='r')";
    let read = |token: &str| with(&Ask::new("GET", ""), target, token);
    for sas in [full, sas().lasting(Utc::now(), HOUR)] {
        let token = sas.sign(&key()).unwrap().query_string();
        assert_eq!(read(&token).status, 200, "{token}");
        let unnamed: Vec<_> = token.split('&').filter(|pair| !pair.starts_with("tn=")).collect();
        let unnamed = unnamed.join("&");
        for altered in alterations(&token).into_iter().chain(additions(&token)) {
            let status = read(&altered).status;
            // Without its name the token belongs to the table in the path, which the signature covers.
            let nameless: Vec<_> = altered.split('&').filter(|pair| !pair.starts_with("TN=")).collect();
            let is_same = nameless.join("&") == unnamed;
            // Types of resources and an encryption scope are no parameters of a table.
            let ignored = ["srt=", "ses="].iter().any(|name| altered.contains(name));
            assert!(is_same || ignored || matches!(status, 400 | 403), "{status}: {altered}\n{token}");
        }
    }
}

#[test]
fn asas_2_no_parameter_of_an_account_can_be_altered() {
    let types = ResourceTypes::SERVICE.and(ResourceTypes::CONTAINER).and(ResourceTypes::OBJECT);
    let permissions = AccountPermissions::READ.and(AccountPermissions::LIST);
    let sas = AccountSas::new(Services::TABLE.and(Services::QUEUE), types, permissions, lifetime());
    let sas = sas.addresses("127.0.0.1").protocol(Protocol::HttpsAndHttp);
    let token = sas.sign(&key()).unwrap().query_string();
    let asks = [(Ask::new("GET", ""), "Tables"), (Ask::queue("GET", ""), "?comp=list")];
    for (ask, target) in &asks {
        assert_eq!(with(ask, target, &token).status, 200, "{token}");
        for altered in alterations(&token).into_iter().chain(additions(&token)) {
            // Keys of a range and policies are no parameters of an account's signature, and versions before 2020-12-06 have no encryption scope.
            let ignored =
                ["spk=", "srk=", "epk=", "erk=", "si=", "ses="].iter().any(|name| altered.contains(name));
            let status = with(ask, target, &altered).status;
            assert!(ignored || matches!(status, 400 | 403), "{target} {status}: {altered}\n{token}");
        }
    }
}

#[test]
fn sas_2_no_parameter_of_a_queue_can_be_altered() {
    assert_eq!(Ask::queue("PUT", "altered").of(&SERVER).status, 201);
    let policy = AccessPolicy {
        start: Some(Utc::now() - TimeDelta::minutes(5)),
        expiry: Some(Utc::now() + TimeDelta::hours(1)),
        permissions: Some(QueuePermissions::READ),
    };
    let token =
        QueueToken::sign(&key(), &QueueName::new("altered").unwrap(), policy, None).unwrap().query_string();
    let peek = |token: &str| with(&Ask::queue("GET", ""), "altered/messages?peekonly=true", token);
    assert_eq!(peek(&token).status, 200);
    for altered in alterations(&token).into_iter().chain(additions(&token)) {
        // A queue has no ranges of keys, types of resources or encryption scope.
        let ignored =
            ["spk=", "srk=", "epk=", "erk=", "srt=", "ses="].iter().any(|name| altered.contains(name));
        let status = peek(&altered).status;
        assert!(ignored || matches!(status, 400 | 403), "{status}: {altered}\n{token}");
    }
}

/// A token is for its table, its service and its account, and for the caller and the time that it names.
#[test]
fn sas_1_a_token_is_bound_to_its_place_caller_and_time() {
    create("Bound");
    create("Unbound");
    assert_eq!(Ask::queue("PUT", "bound").of(&SERVER).status, 201);
    let sas = || TableSas::table(TableName::new("Bound").unwrap()).allow(TablePermissions::READ);
    let token = |sas: TableSas| sas.sign(&key()).unwrap().query_string();
    let read = |target: &str, token: &str| with(&Ask::new("GET", ""), target, token).status;
    let valid = token(sas().lasting(Utc::now(), HOUR));
    assert_eq!(read("Bound()", &valid), 200);
    for target in [
        "Unbound()",
        "Unbound(PartitionKey='p',RowKey='r')",
        "Tables",
        "Tables('Bound')",
        "?restype=service&comp=properties",
    ] {
        assert_eq!(read(target, &valid), 403, "{target}");
        assert_ne!(read(target, &valid.replace("tn=Bound", "tn=Unbound")), 200, "{target}");
    }
    assert_ne!(with(&Ask::queue("GET", ""), "bound?comp=metadata", &valid).status, 200);
    let elsewhere = Ipv4Addr::new(10, 0, 0, 1).to_string();
    let late = Lifetime::until(Utc::now() - TimeDelta::seconds(1));
    let early = lifetime().starting(Utc::now() + TimeDelta::minutes(30));
    let other_key = AccountKey::new(ACCOUNT, "b3RoZXI=").unwrap();
    for refused in [
        token(sas().lasting(Utc::now(), HOUR).addresses(elsewhere)),
        token(sas().lasting(Utc::now(), HOUR).protocol(Protocol::Https)),
        token(sas().lifetime(late)),
        token(sas().lifetime(early)),
        sas().lasting(Utc::now(), HOUR).sign(&other_key).unwrap().query_string(),
    ] {
        assert_eq!(read("Bound()", &refused), 403, "{refused}");
    }
}

/// The operations on tables and entities, each with the permissions that it needs; `None` if no signature of a table permits it.
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

/// Returns `true` if a request was executed. A batch states it in its part.
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
            TableSas::table(TableName::new("Letters").unwrap()).allow(allowed).lasting(Utc::now(), HOUR);
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

/// The operations on queues, each with the letter that it needs; `None` if no signature of a queue permits it.
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

/// A token for one partition reads and writes no other, also by a continuation, a filter, a batch or a key in another spelling.
#[test]
fn sas_8_no_request_leaves_the_range_of_its_token() {
    create("Ranged");
    for partition in ["a", "o", "q", "z"] {
        let target = format!("Ranged(PartitionKey='{partition}',RowKey='r')");
        assert_eq!(Ask::new("PUT", target).json("{\"Secret\":1}").of(&SERVER).status, 204);
    }
    let letters = TablePermissions::READ.and(TablePermissions::ADD).and(TablePermissions::UPDATE);
    let sas = TableSas::table(TableName::new("Ranged").unwrap()).allow(letters.and(TablePermissions::DELETE));
    let token = sas.partition("p").unwrap().lasting(Utc::now(), HOUR).sign(&key()).unwrap().query_string();
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
        // A continuation outside of the range belongs to no query of this token.
        let expected = if query.contains("Next") { 400 } else { 200 };
        assert_eq!(answer.status, expected, "{query}: {}", answer.body);
    }
    // Inside of the range, pages continue.
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
            Ask::new("PUT", "").json("{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}"),
            Ask::new("MERGE", "").json("{}").header("if-match", "*"),
            Ask::new("DELETE", "").header("if-match", "*"),
        ] {
            assert_eq!(with(&ask, &target, &token).status, 403, "{target} {ask:?}");
        }
        let insert =
            Ask::new("POST", "").json(format!("{{\"PartitionKey\":\"{partition}x\",\"RowKey\":\"r\"}}"));
        assert_eq!(with(&insert, "Ranged", &token).status, 403, "{partition}");
    }
}
