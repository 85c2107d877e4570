//! Tests of bearer tokens that are signed with real keys.
//!
//! `key.p8` and `other.p8` are RSA keys that OpenSSL generated for these tests (PKCS#8 in DER). They protect nothing.

use std::net::Ipv4Addr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Request;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPair, PublicKeyComponents};
use ring::signature::{RSA_PKCS1_SHA256, RSA_PKCS1_SHA512, RsaEncoding};
use serde_json::{Value, json};
use table_wire::sas::Caller;

use super::*;
use crate::service::Service;

const ISSUER: &str = "https://login.microsoftonline.com/ab1f708d-50f6-404c-a006-d71b2ac7a606/v2.0";

fn key(bytes: &[u8]) -> KeyPair {
    KeyPair::from_pkcs8(bytes).unwrap()
}

fn issuers_key() -> KeyPair {
    key(include_bytes!("tests/key.p8"))
}

/// Returns the public key as a JSON Web Key, as an issuer publishes it.
fn published(key: &KeyPair, id: &str) -> Value {
    let public: PublicKeyComponents<Vec<u8>> = key.public().into();
    let encode = |bytes: Vec<u8>| URL_SAFE_NO_PAD.encode(bytes);
    json!({"kty": "RSA", "use": "sig", "kid": id, "n": encode(public.n), "e": encode(public.e)})
}

fn claims() -> Value {
    let now = Utc::now().timestamp();
    json!({
        "iss": ISSUER, "aud": "https://storage.azure.com/", "sub": "a user",
        "iat": now - 10, "nbf": now - 10, "exp": now + 3_600,
    })
}

/// Returns the signed part of a token, `header.claims`.
fn content(header: &Value, claims: &Value) -> String {
    [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".")
}

fn signed(header: &Value, claims: &Value, key: &KeyPair, encoding: &'static dyn RsaEncoding) -> String {
    let content = content(header, claims);
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(encoding, &SystemRandom::new(), content.as_bytes(), &mut signature).unwrap();
    format!("{content}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn exchange(secure: bool) -> Exchange {
    let (parts, ()) = Request::get("https://host/contoso/Tables").body(()).unwrap().into_parts();
    Exchange::new(Service::Tables, parts, Caller { address: Ipv4Addr::LOCALHOST.into(), secure })
}

fn bearer() -> Bearer {
    let keys = json!({"keys": [published(&issuers_key(), "one")]}).to_string();
    Bearer::issued_by(ISSUER, None, &keys).unwrap()
}

/// Returns the reason why a token is rejected, or `""` if it is accepted.
fn refusal(bearer: &Bearer, token: &str) -> String {
    match bearer.verify(token, "contoso", &exchange(true)) {
        Ok(()) => String::new(),
        Err(refusal) => {
            assert_eq!((refusal.status, refusal.code), (403, "AuthenticationFailed"));
            assert!(!refusal.help.contains(token), "the token is repeated: {}", refusal.help);
            refusal.help
        }
    }
}

fn of_key() -> Value {
    json!({"alg": "RS256", "typ": "JWT", "kid": "one"})
}

#[test]
fn auth_12_a_token_signed_by_its_issuer_is_accepted() {
    let (bearer, key) = (bearer(), issuers_key());
    let token = signed(&of_key(), &claims(), &key, &RSA_PKCS1_SHA256);
    assert_eq!(refusal(&bearer, &token), "");
    // The token does not name its key.
    assert_eq!(refusal(&bearer, &signed(&json!({"alg": "RS256"}), &claims(), &key, &RSA_PKCS1_SHA256)), "");
    // A token must not be sent over plain HTTP.
    let refused = bearer.verify(&token, "contoso", &exchange(false)).unwrap_err();
    assert!(refused.help.contains("HTTP"), "{}", refused.help);
}

#[test]
fn auth_12_a_token_is_refused_for_each_claim() {
    let (bearer, key, now) = (bearer(), issuers_key(), Utc::now().timestamp());
    for (claim, value, reason) in [
        ("iss", json!("https://login.microsoftonline.com/another/v2.0"), "issuer"),
        ("aud", json!("https://graph.microsoft.com"), "audience"),
        ("aud", json!("https://fabrikam.table.core.windows.net"), "audience"),
        ("exp", json!(now - 3_600), "expired"),
        ("nbf", json!(now + 3_600), "not yet valid"),
        ("exp", Value::Null, "claims"),
        ("iat", Value::Null, "claims"),
    ] {
        let mut wrong = claims();
        wrong[claim] = value;
        let token = signed(&of_key(), &wrong, &key, &RSA_PKCS1_SHA256);
        let refused = refusal(&bearer, &token);
        assert!(refused.contains(reason), "{claim}: {refused}");
    }
}

#[test]
fn auth_12_a_token_is_refused_for_its_signature() {
    let (bearer, key) = (bearer(), issuers_key());
    let other = self::key(include_bytes!("tests/other.p8"));
    let valid = signed(&of_key(), &claims(), &key, &RSA_PKCS1_SHA256);
    let (content_of_valid, signature) = valid.rsplit_once('.').unwrap();
    let unsigned = |alg: &str| json!({"alg": alg, "kid": "one"});
    let named = |id: &str| json!({"alg": "RS256", "kid": id});
    let mut widened = claims();
    widened["exp"] = json!(Utc::now().timestamp() + 1_000_000);
    for (token, what) in [
        (signed(&of_key(), &claims(), &other, &RSA_PKCS1_SHA256), "another key"),
        (signed(&named("two"), &claims(), &key, &RSA_PKCS1_SHA256), "an unknown key identifier"),
        (signed(&unsigned("RS512"), &claims(), &key, &RSA_PKCS1_SHA512), "another algorithm"),
        (format!("{}.", content(&unsigned("none"), &claims())), "no signature"),
        (format!("{}.{signature}", content(&unsigned("none"), &claims())), "the algorithm `none`"),
        (format!("{}.{signature}", content(&unsigned("HS256"), &claims())), "a symmetric algorithm"),
        (format!("{}.{signature}", content(&of_key(), &widened)), "altered claims"),
        (format!("{content_of_valid}."), "the signature is removed"),
        (format!("{content_of_valid}.{}", signature.replacen(char::is_alphanumeric, "_", 1)), "altered"),
    ] {
        let refused = refusal(&bearer, &token);
        assert!(refused.contains("not signed"), "{what}: {refused}");
    }
}

#[test]
fn auth_12_an_issuer_may_change_its_key() {
    let (old, new) = (issuers_key(), key(include_bytes!("tests/other.p8")));
    let keys =
        json!({"keys": [published(&old, "one"), published(&new, "two"), {"kty": "EC", "kid": "three"}]});
    let bearer = Bearer::issued_by(ISSUER, Some("api://tables"), &keys.to_string()).unwrap();
    let mut own = claims();
    own["aud"] = json!(["api://tables"]);
    for (id, key, accepted) in
        [("one", &old, true), ("two", &new, true), ("one", &new, false), ("three", &old, false)]
    {
        let token = signed(&json!({"alg": "RS256", "kid": id}), &own, key, &RSA_PKCS1_SHA256);
        assert_eq!(refusal(&bearer, &token).is_empty(), accepted, "{id}");
    }
    // The set has several keys, so a token names its key.
    let token = signed(&json!({"alg": "RS256"}), &own, &old, &RSA_PKCS1_SHA256);
    assert!(refusal(&bearer, &token).contains("not signed"));
}
