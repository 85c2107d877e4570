//! Tests of the signature vectors SIG-10 to SIG-14: each token is created, parsed and verified.

mod alteration;
mod widening;

use chrono::DateTime;
use table_core::{Clock, TableName};

use super::*;
use crate::auth::AccountKey;
use crate::percent::encode;

const KEY: [&str; 2] =
    ["Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6", "IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="];

fn key() -> AccountKey {
    AccountKey::new("devstoreaccount1", &KEY.concat()).unwrap()
}

fn until_2030() -> Lifetime {
    Lifetime::until(DateTime::from_timestamp(1_893_456_000, 0).unwrap())
}

fn employee() -> TableSas {
    TableSas::table(TableName::new("Employee").unwrap())
}

/// Checks a token's string to sign and signature, and that its text can be parsed back.
#[track_caller]
fn check(token: &SasToken, string: &str, signature: &str) {
    let read: SasToken = token.query_string().parse().unwrap();
    assert_eq!(read, *token);
    let signed = match read.table() {
        Some(_) => read.0.string_to_sign_of_table("devstoreaccount1"),
        None => read.0.string_to_sign_of_account("devstoreaccount1"),
    };
    assert_eq!(signed.unwrap(), string);
    assert_eq!(read.0.get("sig"), signature);
    assert!(key().verifies(string, signature));
}

#[test]
fn sig_10_and_ex_24_a_table() {
    let token = employee().allow(TablePermissions::READ).lifetime(until_2030()).sign(&key()).unwrap();
    let string = "r\n\n2030-01-01T00:00:00Z\n/table/devstoreaccount1/employee\n\n\n\n2019-02-02\n\n\n\n";
    check(&token, string, "lUsxefRj+w8Y6asnedj9XtISuI3uAUbpir0DrOvA5xc=");
    let parts: Vec<_> = token.query_string().split('&').map(str::to_owned).collect();
    for part in "sv=2019-02-02&sp=r&se=2030-01-01T00%3A00%3A00Z&tn=Employee&sig=lUsxefRj%2Bw8Y6asnedj9XtISuI3uAUbpir0DrOvA5xc%3D".split('&') {
        assert!(parts.iter().any(|own| own == part), "{part}");
    }
}

#[test]
fn sig_11_a_table_with_everything() {
    let token = employee()
        .allow(TablePermissions::read("raud").unwrap())
        .lifetime(until_2030().starting(DateTime::from_timestamp(1_767_225_600, 0).unwrap()))
        .addresses("127.0.0.1")
        .protocol(Protocol::HttpsAndHttp)
        .range(SignedRange::new(("Sales", Some("00001")), ("Sales", Some("00099"))).unwrap())
        .sign(&key())
        .unwrap();
    let string = "raud\n2026-01-01T00:00:00Z\n2030-01-01T00:00:00Z\n/table/devstoreaccount1/employee\n\n127.0.0.1\nhttps,http\n2019-02-02\nSales\n00001\nSales\n00099";
    check(&token, string, "i93OuGMOOUWLvGvGBqzWilXYfYmusKlCmjuFckGHWYw=");
}

#[test]
fn sig_12_a_policy() {
    let token = employee().policy("readers").sign(&key()).unwrap();
    let string = "\n\n\n/table/devstoreaccount1/employee\nreaders\n\n\n2019-02-02\n\n\n\n";
    check(&token, string, "CwcOsQr8NwnpVzlp8OQb/LdumqFtfBhmjekt0WgjPLw=");
    assert_eq!(token.policy(), Some("readers"));
}

#[test]
fn sig_13_and_14_and_asas_2_an_account() {
    let sas = AccountSas::new(
        Services::TABLE,
        ResourceTypes::read("sco").unwrap(),
        AccountPermissions::read("rwdlacu").unwrap(),
        until_2030(),
    )
    .protocol(Protocol::HttpsAndHttp);
    let string = "devstoreaccount1\nrwdlacu\nt\nsco\n\n2030-01-01T00:00:00Z\n\nhttps,http\n2019-02-02\n";
    check(&sas.sign(&key()).unwrap(), string, "dKEa4zPUq/dWdOLrCYusn1Jnz45OJCCdBPi+hMWeijk=");
    let newer = sas.version(SignedVersion::new("2021-06-08").unwrap());
    let string = "devstoreaccount1\nrwdlacu\nt\nsco\n\n2030-01-01T00:00:00Z\n\nhttps,http\n2021-06-08\n\n";
    check(&newer.sign(&key()).unwrap(), string, "khagXkWp0P76URLLo2vWCC9VYZXXH5enRTxyrxKwh7Y=");
}

#[test]
fn sas_3_and_4_older_versions_sign_less() {
    let sas = employee().allow(TablePermissions::READ).lifetime(until_2030());
    let string = |version: &str| {
        let sas = sas.clone().version(SignedVersion::new(version).unwrap());
        sas.sign(&key()).unwrap().0.string_to_sign_of_table("devstoreaccount1").unwrap()
    };
    let se = "2030-01-01T00:00:00Z";
    assert_eq!(string("2013-08-15"), format!("r\n\n{se}\n/devstoreaccount1/employee\n\n2013-08-15\n\n\n\n"));
    assert_eq!(
        string("2015-02-21"),
        format!("r\n\n{se}\n/table/devstoreaccount1/employee\n\n2015-02-21\n\n\n\n")
    );
    assert_eq!(
        string("2015-04-05"),
        format!("r\n\n{se}\n/table/devstoreaccount1/employee\n\n\n\n2015-04-05\n\n\n\n")
    );
    let older = sas.clone().protocol(Protocol::Https).version(SignedVersion::new("2015-02-21").unwrap());
    assert_eq!(older.sign(&key()).unwrap_err().rule(), Some("SAS-4"));
    let account =
        AccountSas::new(Services::TABLE, ResourceTypes::OBJECT, AccountPermissions::READ, until_2030());
    let old = account.version(SignedVersion::new("2015-02-21").unwrap());
    assert_eq!(old.sign(&key()).unwrap_err().rule(), Some("ASAS-1"));
}

#[test]
fn asas_1_an_account_signature_needs_services_types_and_permissions() {
    let sign = |services, types, permissions| {
        AccountSas::new(services, types, permissions, until_2030()).sign(&key()).map_err(|error| error.rule())
    };
    let (services, types, permissions) = (Services::TABLE, ResourceTypes::OBJECT, AccountPermissions::READ);
    assert!(sign(services, types, permissions).is_ok());
    for refused in [
        sign(Services::NONE, types, permissions),
        sign(services, ResourceTypes::NONE, permissions),
        sign(services, types, AccountPermissions::NONE),
    ] {
        assert_eq!(refused.unwrap_err(), Some("ASAS-1"));
    }
}

#[test]
fn asas_3_letters_are_verified_in_their_given_order() {
    let string = "devstoreaccount1\ndr\nt\nos\n\n2030-01-01T00:00:00Z\n\n\n2019-02-02\n";
    let mut parameters = parameters::Parameters::default();
    for (name, value) in
        [("sv", "2019-02-02"), ("ss", "t"), ("srt", "os"), ("sp", "dr"), ("se", "2030-01-01T00:00:00Z")]
    {
        parameters.put(name, value);
    }
    parameters.put("sig", key().sign(string));
    let token = SasToken(parameters);
    let clock = Clock::of_instants(|| DateTime::UNIX_EPOCH);
    let Grant::Account(grant) = SasVerifier::new(key()).clock(clock).verify(&token).unwrap() else {
        panic!()
    };
    assert_eq!((grant.permissions.to_string(), grant.types.to_string()), ("rd".to_owned(), "so".to_owned()));
}

#[test]
fn no_printed_text_shows_a_secret() {
    let token = employee().policy("readers").sign(&key()).unwrap();
    let signature = token.0.get("sig").to_owned();
    let authority = SasVerifier::new(key());
    let scoped = authority.scoped(table_core::Engine::in_memory(), &token);
    let printed = format!("{token:?} {authority:?} {scoped:?} {scoped}");
    for secret in [signature.as_str(), KEY[0], KEY[1], &encode(&signature)] {
        assert!(!printed.contains(secret), "{printed}");
    }
}
