//! Tests attacks with SAS tokens. A parameter of the token is altered, or the token is used for another resource, by another caller or at another time.

use std::net::Ipv4Addr;

use chrono::{TimeDelta, Utc};
use table_core::{QueueName, TableName};
use table_wire::auth::AccountKey;
use table_wire::sas::{
    AccessPolicy, AccountPermissions, AccountSas, Lifetime, Protocol, QueuePermissions, QueueToken,
    ResourceTypes, Services, SignedRange, TablePermissions, TableSas,
};
use tests::ask::Ask;

use crate::permissions::{HOUR, create, key, lifetime, with};
use crate::{ACCOUNT, SERVER};

/// Returns variants of a token in which one parameter is altered, emptied, removed or repeated.
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

/// Returns parameters that a token lacks. Each of them would change the signed text.
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
    for sas in [full, sas().valid_for(Utc::now(), HOUR)] {
        let token = sas.sign(&key()).unwrap().query_string();
        assert_eq!(read(&token).status, 200, "{token}");
        let unnamed: Vec<_> = token.split('&').filter(|pair| !pair.starts_with("tn=")).collect();
        let unnamed = unnamed.join("&");
        for altered in alterations(&token).into_iter().chain(additions(&token)) {
            let status = read(&altered).status;
            // If the token does not name a table, it is valid for the table in the path. The signature covers the path.
            let nameless: Vec<_> = altered.split('&').filter(|pair| !pair.starts_with("TN=")).collect();
            let is_same = nameless.join("&") == unnamed;
            // A table SAS signature covers neither resource types nor an encryption scope.
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
            // An account SAS signature covers neither key ranges nor policies. Before version 2020-12-06, it does not cover an encryption scope either.
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
        // A queue SAS signature covers neither key ranges, nor resource types, nor an encryption scope.
        let ignored =
            ["spk=", "srk=", "epk=", "erk=", "srt=", "ses="].iter().any(|name| altered.contains(name));
        let status = peek(&altered).status;
        assert!(ignored || matches!(status, 400 | 403), "{status}: {altered}\n{token}");
    }
}

/// Tests that a token is valid only for its table, service and account. It must also be used by the given caller and at the given time.
#[test]
fn sas_1_a_token_is_bound_to_its_place_caller_and_time() {
    create("Bound");
    create("Unbound");
    assert_eq!(Ask::queue("PUT", "bound").of(&SERVER).status, 201);
    let sas = || TableSas::table(TableName::new("Bound").unwrap()).allow(TablePermissions::READ);
    let token = |sas: TableSas| sas.sign(&key()).unwrap().query_string();
    let read = |target: &str, token: &str| with(&Ask::new("GET", ""), target, token).status;
    let valid = token(sas().valid_for(Utc::now(), HOUR));
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
        token(sas().valid_for(Utc::now(), HOUR).addresses(elsewhere)),
        token(sas().valid_for(Utc::now(), HOUR).protocol(Protocol::Https)),
        token(sas().lifetime(late)),
        token(sas().lifetime(early)),
        sas().valid_for(Utc::now(), HOUR).sign(&other_key).unwrap().query_string(),
    ] {
        assert_eq!(read("Bound()", &refused), 403, "{refused}");
    }
}
