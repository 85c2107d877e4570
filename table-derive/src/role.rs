//! Guesses from its name whether a field identifies an entity. Messages propose keys of such fields, and never of a secret, a free text or a measure.

use crate::casing::snake_case;

/// The probable role of a field in its entity, from the best field of a key to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Identifies the entity or another one: `id`, `customer_id`, `email`, `number`.
    Identifier,
    /// The name says nothing about the role.
    Other,
    /// Has few values: `status`, `category`.
    Class,
    /// The time of an event: `created_at`.
    Time,
    /// Must not be proposed: a secret, a free text or a measure.
    Value,
}

const IDENTIFIERS: &[&str] = &[
    "id", "uuid", "guid", "ulid", "key", "code", "number", "no", "num", "nr", "sku", "isbn", "slug", "login",
    "username", "handle", "email", "mail", "name", "path", "url", "uri", "serial", "symbol", "barcode",
    "sequence", "seq", "version",
];
const CLASSES: &[&str] = &[
    "status", "state", "stage", "kind", "type", "category", "role", "level", "priority", "severity",
    "gender", "currency", "language", "locale", "mode", "format", "color", "colour", "unit",
];
const TIMES: &[&str] = &[
    "at",
    "on",
    "date",
    "time",
    "datetime",
    "timestamp",
    "created",
    "updated",
    "modified",
    "changed",
    "deleted",
    "expires",
    "expiry",
    "started",
    "ended",
    "until",
    "since",
    "birthday",
    "dob",
];
const SECRETS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "jwt",
    "hash",
    "hashed",
    "salt",
    "pin",
    "otp",
    "cvv",
    "cvc",
    "ssn",
    "credential",
    "signature",
    "digest",
    "checksum",
    "nonce",
    "apikey",
];
/// Words before `key` that make it a secret.
const SECRET_KEYS: &[&str] = &["api", "access", "private", "signing", "encryption", "account", "license"];
const TEXTS: &[&str] = &[
    "body",
    "text",
    "note",
    "description",
    "comment",
    "message",
    "content",
    "summary",
    "bio",
    "remark",
    "memo",
    "html",
    "markdown",
    "detail",
    "reason",
    "caption",
    "abstract",
    "payload",
    "etag",
    "data",
];
const MEASURES: &[&str] = &[
    "total",
    "subtotal",
    "amount",
    "price",
    "cost",
    "count",
    "counter",
    "balance",
    "quantity",
    "qty",
    "sum",
    "average",
    "avg",
    "min",
    "max",
    "score",
    "rate",
    "rating",
    "ratio",
    "weight",
    "height",
    "width",
    "length",
    "depth",
    "size",
    "age",
    "duration",
    "salary",
    "discount",
    "tax",
    "fee",
    "percent",
    "percentage",
    "latitude",
    "lat",
    "longitude",
    "lng",
    "lon",
    "temperature",
    "value",
    "reading",
    "views",
    "likes",
    "stock",
    "points",
    "cents",
    "bytes",
    "attempts",
    "retries",
];
/// Names of fields whose values are shared by many entities.
const OWNERS: &[&str] = &[
    "tenant",
    "customer",
    "client",
    "account",
    "user",
    "owner",
    "author",
    "organization",
    "organisation",
    "org",
    "company",
    "department",
    "team",
    "group",
    "project",
    "workspace",
    "device",
    "sensor",
    "host",
    "site",
    "store",
    "shop",
    "room",
    "channel",
    "region",
    "category",
    "country",
    "city",
];

/// Returns the probable role of a field with this name.
pub(crate) fn of(name: &str) -> Role {
    let name = snake_case(name);
    let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    let any = |known: &[&str]| words.iter().any(|word| is_any_of(word, known));
    let is_secret_key =
        words.windows(2).any(|pair| matches!(pair, [kind, "key" | "keys"] if SECRET_KEYS.contains(kind)));
    let last = |known: &[&str]| words.last().is_some_and(|word| known.contains(word));
    if any(SECRETS) || is_secret_key {
        Role::Value
    } else if last(IDENTIFIERS) {
        Role::Identifier
    } else if any(TEXTS) || any(MEASURES) {
        Role::Value
    } else if last(TIMES) {
        Role::Time
    } else if last(CLASSES) {
        Role::Class
    } else {
        Role::Other
    }
}

/// Returns `true` if the word or its singular is in the list.
fn is_any_of(word: &str, known: &[&str]) -> bool {
    let singulars = [word.strip_suffix('s'), word.strip_suffix("es")];
    let of_y = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    singulars.into_iter().flatten().chain([word]).chain(of_y.as_deref()).any(|word| known.contains(&word))
}

/// Returns `true` if the name is that of an owner of several entities, such as `tenant` or `user_id`.
pub(crate) fn is_owner(name: &str) -> bool {
    let name = snake_case(name);
    OWNERS.contains(&name.strip_suffix("_id").unwrap_or(&name)) || name.len() > 3 && name.ends_with("_id")
}

#[cfg(test)]
mod tests {
    use super::{IDENTIFIERS, MEASURES, OWNERS, Role, SECRETS, TEXTS, is_owner, of};

    #[test]
    fn a_name_has_the_role_of_its_words() {
        let cases = [
            ("id", Role::Identifier),
            ("order_number", Role::Identifier),
            ("note_id", Role::Identifier),
            ("tenant", Role::Other),
            ("order_status", Role::Class),
            ("created_at", Role::Time),
            ("password", Role::Value),
            ("password_hash", Role::Value),
            ("token_id", Role::Value),
            ("api_key", Role::Value),
            ("notes", Role::Value),
            ("total_cents", Role::Value),
            ("", Role::Other),
            ("orderId", Role::Identifier),
            ("orderStatus", Role::Class),
            ("createdAt", Role::Time),
            ("userPassword", Role::Value),
            ("accessTokens", Role::Value),
            ("APIKeys", Role::Value),
            ("license_keys", Role::Value),
            ("hashes", Role::Value),
            ("hashed", Role::Value),
            ("taxes", Role::Value),
            ("summaries", Role::Value),
            ("lastReading", Role::Value),
            ("reading_id", Role::Identifier),
            ("address", Role::Other),
        ];
        for (name, role) in cases {
            assert_eq!(of(name), role, "{name}");
        }
        assert!(
            is_owner("user_id")
                && is_owner("userId")
                && is_owner("tenant")
                && !is_owner("id")
                && !is_owner("_id")
        );
    }

    #[test]
    fn a_secret_is_never_proposed() {
        for secret in SECRETS {
            for name in ["@", "user_@", "@_id", "@_name", "old_@_at", "@_hint_key"] {
                assert_eq!(of(&name.replace('@', secret)), Role::Value, "{name} of {secret}");
            }
        }
    }

    #[test]
    fn a_text_or_a_measure_is_proposed_only_as_a_reference() {
        for value in TEXTS.iter().chain(MEASURES) {
            for name in ["@", "order_@", "@_en", "@_eur", "@_at"] {
                assert_eq!(of(&name.replace('@', value)), Role::Value, "{name} of {value}");
            }
            assert_eq!(of(&format!("{value}_id")), Role::Identifier);
        }
    }

    #[test]
    fn no_word_has_two_roles() {
        for word in SECRETS.iter().chain(TEXTS).chain(MEASURES) {
            assert!(!IDENTIFIERS.contains(word) && !OWNERS.contains(word), "{word}");
        }
    }
}
