//! Tests that a message about missing keys never proposes a field that it also says to remove, and that the macro accepts the struct which follows the message.

use proc_macro2::TokenStream;

use super::wrong::{expand, reported};

const STRUCTS: [(&str, &[&str]); 13] = [
    ("", &["device: String", "timestamp: DateTime<Utc>", "temperature: f64"]),
    ("", &["timestamp: DateTime<Utc>", "level: String", "message: String"]),
    ("", &["timestamp: DateTime<Utc>", "temperature: f64"]),
    ("", &["device: String", "timestamp: i64"]),
    ("", &["device: String", "Timestamp: DateTime<Utc>"]),
    ("", &["id: Uuid", "tenant: String", "timestamp: DateTime<Utc>"]),
    ("", &["name: String", "timestamp: DateTime<Utc>", "etag: String"]),
    ("", &["name: String", "timestamp: DateTime<Utc>", "eTag: String"]),
    ("", &["partition_key: String", "row_key: String", "timestamp: DateTime<Utc>", "etag: String"]),
    ("", &["timestamp: String", "etag: String"]),
    ("", &["device: String", "#[property(\"At\", also)] timestamp: DateTime<Utc>", "etag: String"]),
    (INDEX, &["device: String", "timestamp: DateTime<Utc>", "reading: u32"]),
    (INDEX, &["device: String", "#[property(\"At\")] timestamp: DateTime<Utc>", "reading: u32"]),
];

/// An index whose copies store the key of the entity.
const INDEX: &str = "#[index(ByReading, unique, partition_key(\"reading_\", reading), row_key(\"\"))]";

fn declared(above: &str, fields: &[&str]) -> String {
    format!("{above} struct Reading {{ {} }}", fields.join(", "))
}

fn messages(text: &str) -> Vec<String> {
    let tokens: TokenStream = text.parse().expect("a declaration is made of tokens");
    reported(expand("Entity", tokens)).into_iter().map(|message| message.text).collect()
}

/// Returns the quoted code in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the declaration that follows the message: with the proposed keys, and without the fields to remove.
fn followed(above: &str, fields: &[&str], message: &str) -> String {
    let (proposal, rest) = message.split_once("; and remove ").unwrap_or((message, ""));
    let (removed, _) = rest.split_once(", which").unwrap_or_default();
    let removed: Vec<&str> = quoted(removed).collect();
    let keys = quoted(proposal).find(|code| code.starts_with("#[")).expect("a message proposes keys");
    // The user adds a field for the placeholder.
    let keys = keys.replace('…', "id");
    let name =
        |field: &str| field.rsplit("] ").next().unwrap_or_default().split(':').next().map(str::to_owned);
    let kept = fields.iter().copied();
    let kept = kept.filter(|field| name(field).is_none_or(|name| !removed.contains(&name.as_str())));
    let mut kept: Vec<&str> = kept.collect();
    if keys.contains("(id)") && !fields.iter().any(|field| field.starts_with("id:")) {
        kept.push("id: String");
    }
    declared(&format!("{keys} {above}"), &kept)
}

#[test]
fn a_struct_that_follows_the_message_is_accepted() {
    let mut refused = Vec::new();
    for (above, fields) in STRUCTS {
        for first in 0..fields.len() {
            let mut fields = fields.to_vec();
            fields.rotate_left(first);
            let found = messages(&declared(above, &fields));
            let message = found.first().expect("the keys are missing");
            assert!(message.starts_with("[T020]"), "{message}");
            let text = followed(above, &fields, message);
            let left = messages(&text);
            refused.extend((!left.is_empty()).then(|| format!("{message}\n{text}\n{}", left.concat())));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n\n"));
}

#[test]
fn a_timestamp_is_a_key_unless_the_store_sets_it() {
    let of = |at: usize| messages(&declared(STRUCTS[at].0, STRUCTS[at].1)).concat();
    for at in [0, 1, 2, 3, 10] {
        let message = of(at);
        assert!(message.contains("row_key(timestamp)") && !message.contains("remove"), "{message}");
    }
    for at in [5, 6, 7, 8, 9, 11] {
        let message = of(at);
        assert!(!message.contains("key(timestamp)") && message.contains("remove `timestamp`"), "{message}");
    }
}
