//! Tests that no message about a missing key proposes a secret, a free text or a measure, in any order of the fields.

use proc_macro2::TokenStream;

use super::proposed::words;
use super::wrong::{expand, reported};

const VALUES: [(&str, &str); 27] = [
    ("password", "String"),
    ("password_hash", "String"),
    ("refresh_token", "String"),
    ("client_secret", "String"),
    ("salt", "String"),
    ("body", "String"),
    ("notes", "String"),
    ("description", "String"),
    ("total", "i64"),
    ("unit_price", "u32"),
    ("balance", "i64"),
    ("count", "u64"),
    ("userPassword", "String"),
    ("passwordHash", "String"),
    ("apiKey", "String"),
    ("APIKey", "String"),
    ("accessToken", "String"),
    ("refreshTokens", "String"),
    ("passwords", "String"),
    ("tokens", "String"),
    ("api_keys", "String"),
    ("hashes", "String"),
    ("hashed", "String"),
    ("unitPrices", "String"),
    ("value", "i64"),
    ("values", "String"),
    ("reading", "u32"),
];
const OTHERS: [(&str, &str); 4] =
    [("tenant", "String"), ("login", "String"), ("created_at", "DateTime<Utc>"), ("status", "String")];
const KEYS: [&str; 3] = ["", "#[partition_key(tenant)]", "#[row_key(login)]"];

/// Returns the messages of a declaration.
fn messages(key: &str, fields: &[(&str, &str)]) -> Vec<String> {
    let fields: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    let text = format!("{key} struct Declared {{ {} }}", fields.join(", "));
    let tokens: TokenStream = text.parse().expect("a declaration is made of tokens");
    reported(expand("Entity", tokens)).into_iter().map(|message| message.text).collect()
}

#[test]
fn a_secret_a_text_or_a_measure_is_not_proposed() {
    let mut seen = 0;
    for value in VALUES {
        for key in KEYS {
            for others in 0..=OTHERS.len() {
                for at in 0..=others {
                    let mut fields = OTHERS[..others].to_vec();
                    fields.insert(at, value);
                    for message in messages(key, &fields).iter().filter(|it| it.starts_with("[T020]")) {
                        seen += 1;
                        assert!(words(message).all(|word| word != value.0), "{key} {fields:?}\n{message}");
                    }
                }
            }
        }
    }
    assert!(seen > 1_000, "only {seen} messages");
}

#[test]
fn a_time_is_proposed_only_if_no_other_field_identifies() {
    let with_login = messages(KEYS[1], &[OTHERS[0], OTHERS[2], OTHERS[1]]).concat();
    assert!(with_login.contains("#[row_key(login)]") && !with_login.contains("created_at"), "{with_login}");
    let without = messages(KEYS[1], &[OTHERS[0], OTHERS[2]]).concat();
    assert!(without.contains("#[row_key(created_at)]"), "{without}");
}

#[test]
fn without_a_good_field_the_message_says_that_one_is_needed() {
    let message = messages(KEYS[1], &[OTHERS[0], VALUES[0], OTHERS[3]]).concat();
    assert!(message.contains("a field that identifies the entity within its partition"), "{message}");
}
