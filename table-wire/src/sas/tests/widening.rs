//! Tests that an altered token never permits more than the original. An alteration removes, adds, duplicates, reorders or re-encodes parameters, or moves
//! values to other fields.

use std::time::Duration;

use chrono::{DateTime, Utc};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use table_core::{Clock, ErrorCode, Result};

use super::alteration::{ACCOUNT, alteration, apply, pairs, texts};
use super::*;
use crate::sas::parameters::Parameters;

const VERSIONS: [&str; 6] =
    ["2013-08-15", "2015-02-21", "2015-04-05", "2019-02-02", "2020-12-06", "2026-02-06"];

fn account_key() -> AccountKey {
    AccountKey::new(ACCOUNT, "a2V5").unwrap()
}

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_795_161_600 + seconds, 0).unwrap()
}

fn version() -> impl Strategy<Value = SignedVersion> {
    select(VERSIONS.to_vec()).prop_map(|version| SignedVersion::new(version).unwrap())
}

fn protocol() -> impl Strategy<Value = Protocol> {
    select(vec![Protocol::Unsaid, Protocol::Https, Protocol::HttpsAndHttp])
}

fn lifetime() -> impl Strategy<Value = Lifetime> {
    let until = Lifetime::until(at(100));
    select(vec![until, until.starting(at(10))])
}

/// Generates table tokens. Combinations of values that cannot be signed are discarded.
fn of_table() -> impl Strategy<Value = SasToken> {
    let ends = vec(prop::option::of(texts()), 4);
    let rest =
        (protocol(), version(), prop::option::of(select(vec!["readers", "2015-02-21"])), any::<bool>());
    (select(vec!["", "r", "rd", "raud"]), prop::option::of(lifetime()), ends, rest).prop_filter_map(
        "not signed",
        |(letters, lifetime, ends, (protocol, version, policy, addressed))| {
            let mut range = Parameters::default();
            for (name, value) in ["spk", "srk", "epk", "erk"].into_iter().zip(ends) {
                range.put(name, value.unwrap_or_default());
            }
            let employee = TableName::new("Employee").unwrap();
            let mut sas = TableSas::table(employee).range(SignedRange::read(&range).ok()?);
            sas = sas.allow(TablePermissions::read(letters).unwrap()).protocol(protocol).version(version);
            sas = sas.addresses(if addressed { "10.0.0.1" } else { "" });
            sas = lifetime.map_or(sas.clone(), |lifetime| sas.lifetime(lifetime));
            sas = policy.map_or(sas.clone(), |policy| sas.policy(policy));
            sas.sign(&account_key()).ok()
        },
    )
}

/// Generates account SAS tokens.
fn of_account() -> impl Strategy<Value = SasToken> {
    let letters = (select(vec!["t", "q", "bqt"]), select(vec!["o", "sco"]), select(vec!["r", "rwdlacu"]));
    (letters, lifetime(), protocol(), version(), any::<bool>()).prop_filter_map(
        "not signed",
        |((services, types, permissions), lifetime, protocol, version, addressed)| {
            let (services, types) = (Services::read(services).unwrap(), ResourceTypes::read(types).unwrap());
            AccountSas::new(services, types, AccountPermissions::read(permissions).unwrap(), lifetime)
                .protocol(protocol)
                .version(version)
                .addresses(if addressed { "10.0.0.1-10.0.0.9" } else { "" })
                .sign(&account_key())
                .ok()
        },
    )
}

/// Returns verifiers with different clock times and callers.
fn authorities() -> Vec<SasVerifier> {
    let policy = |id: &str, letters: &str, expiry| {
        let permissions = Some(TablePermissions::read(letters).unwrap());
        StoredAccessPolicy::new(id, AccessPolicy { start: None, expiry, permissions }).unwrap()
    };
    let policies = vec![
        policy("readers", "r", Some(at(1_000))),
        policy("2015-02-21", "raud", Some(at(1_000))),
        policy("r", "raud", Some(at(1_000))),
        policy("https", "raud", None),
    ];
    let caller = |last, secure| Some(Caller { address: [10, 0, 0, last].into(), secure });
    let callers = [None, caller(1, true), caller(1, false), caller(200, true)];
    let times = [0, 50, 500].map(|seconds| Clock::of_instants(move || at(seconds)));
    let each = times.iter().flat_map(|clock| callers.map(|caller| (clock.clone(), caller)));
    each.map(|(clock, caller)| {
        let mut authority = SasVerifier::new(account_key()).clock(clock);
        if let Some(caller) = caller {
            authority = authority.caller(caller);
        }
        authority.set_policies(&TableName::new("Employee").unwrap(), policies.clone()).unwrap();
        authority
    })
    .collect()
}

/// Parses and verifies a token's text.
fn allowed(authority: &SasVerifier, text: &str) -> Result<Grant> {
    authority.verify(&text.parse()?)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn sas_2_4_and_asas_2_no_alteration_widens_a_token(
        token in prop_oneof![2 => of_table(), 1 => of_account()],
        alterations in vec(vec(alteration(), 1..4), 40),
    ) {
        let original = token.query_string();
        let authorities = authorities();
        let granted: Vec<_> = authorities.iter().map(|authority| allowed(authority, &original).ok()).collect();
        for alterations in alterations {
            let mut altered = pairs(&original);
            for alteration in &alterations {
                apply(&mut altered, alteration, &token);
            }
            let text = altered.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
            let Ok(read) = text.parse::<SasToken>() else { continue };
            for (authority, granted) in authorities.iter().zip(&granted) {
                if let Ok(wide) = authority.verify(&read) {
                    prop_assert_eq!(Some(&wide), granted.as_ref(), "{} became {}", original, text);
                }
            }
        }
    }
}

/// Tests that an empty field counts as missing. This library never writes empty fields, but tokens signed by other programs may have them.
#[test]
fn sas_2_an_empty_field_equals_a_missing_one() {
    let clock = Clock::of_instants(|| at(0));
    let authority = SasVerifier::new(account_key()).clock(clock);
    let expiry = "se=2026-11-20T09%3A00%3A00Z";
    for (fields, stripped) in [
        (format!("sv=2019-02-02&tn=Employee&sp=r&{expiry}&spk=&epk="), "&spk=&epk="),
        (format!("sv=2019-02-02&tn=Employee&sp=r&{expiry}&spk=Sales&srk=&epk=Sales&erk="), "&erk="),
        (format!("sv=2019-02-02&tn=Employee&sp=r&{expiry}&si="), "&si="),
        (format!("sv=2019-02-02&tn=Employee&sp=r&st=&{expiry}&sip=&spr="), "&sip=&spr="),
    ] {
        let signed = Parameters::read(&fields).unwrap().string_to_sign_of_table(ACCOUNT).unwrap();
        let whole = format!("{fields}&sig={}", encode(&account_key().sign(&signed)));
        let granted = allowed(&authority, &whole).unwrap();
        assert_eq!(allowed(&authority, &whole.replace(stripped, "")).unwrap(), granted, "{fields}");
    }
}

#[test]
fn sas_4_fields_that_a_version_does_not_sign_are_refused() {
    let sas = employee().allow(TablePermissions::READ).valid_for(at(0), Duration::from_secs(60 * 60));
    let old = sas.version(SignedVersion::new("2013-08-15").unwrap()).sign(&account_key()).unwrap();
    let authority = SasVerifier::new(account_key()).clock(Clock::of_instants(|| at(0)));
    assert!(authority.verify(&old).is_ok());
    for added in ["&sip=10.0.0.1", "&spr=https"] {
        let error = allowed(&authority, &format!("{}{added}", old.query_string())).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("SAS-4")), "{added}");
    }
}

#[test]
fn sas_2_a_line_break_in_a_field_is_refused() {
    for (name, rule) in [("sp", "SAS-2"), ("si", "SAS-2"), ("sip", "SAS-2"), ("erk", "SAS-2")] {
        let mut parameters = Parameters::read("sv=2019-02-02&tn=Employee").unwrap();
        parameters.put(name, "r\nd");
        assert_eq!(parameters.string_to_sign_of_table(ACCOUNT).unwrap_err().rule(), Some(rule), "{name}");
    }
    let named = employee().policy("readers\n").sign(&account_key());
    assert_eq!(named.unwrap_err().rule(), Some("ACL-2"));
}
