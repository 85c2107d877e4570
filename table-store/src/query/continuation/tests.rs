//! Tests of continuation tokens: format, round trips and rejected tokens.

use proptest::prelude::*;

use super::*;
use crate::error::ErrorCode;
use crate::filter::{Filter, arbitrary};
use crate::query::{KeyRange, Select, TextRange};

fn table() -> TableName {
    TableName::new("Employee").unwrap()
}

fn at(partition_key: &str, row_key: Option<&str>) -> Position {
    Position { partition_key: partition_key.to_owned(), row_key: row_key.map(str::to_owned) }
}

fn query() -> Query {
    Query {
        keys: KeyRange::rows("Sales", TextRange::prefix("empid_")),
        filter: Some(Filter::parse("Age ge 30").unwrap().unwrap()),
        select: Select::names(["FirstName", "Age"]),
        top: Some(10),
    }
}

/// Tests that the token format does not change. The token is opaque, but contains the same information as a token of the service: the next `PartitionKey` and
/// `RowKey` (ENG-13).
#[test]
fn the_form_of_the_token_is_pinned() {
    let token = Continuation::new(&table(), &query(), at("Sales", Some("empid_000223")));
    insta::assert_snapshot!(token.to_string(), @"AQBKOJmPMa8L2wUAAABTYWxlc2VtcGlkXzAwMDIyM8KVpqjvIWZc");
    let token = Continuation::new(&table(), &query(), at("Sales", None)).in_incarnation(7);
    insta::assert_snapshot!(token.to_string(), @"AQVKOJmPMa8L2wcAAAAFAAAAU2FsZXPXxeOwP1VkRQ");
    assert_eq!(token.to_string().parse::<Continuation>().unwrap(), token);
    let token = Continuation::of_service(&table(), &query(), at("1!16!cGs4MDEwMTZlOA--", None));
    insta::assert_snapshot!(token.to_string(), @"AQNKOJmPMa8L2xUAAAAxITE2IWNHczRNREV3TVRabE9BLS0h6qPybm-iWQ");
    insta::assert_snapshot!(Continuation::start(&table(), &query()).to_string(), @"AQhKOJmPMa8L2wAAAAD0sHtMNpgCsA");
}

#[test]
fn page_9_every_part_of_the_query_but_top_binds_the_token() {
    let token = Continuation::new(&table(), &query(), at("Sales", Some("empid_000223")));
    assert!(token.position(&TableName::new("EMPLOYEE").unwrap(), &query()).is_ok()); // TBL-2
    assert!(token.position(&table(), &Query { top: None, ..query() }).is_ok());
    for other in [
        Query { keys: KeyRange::partition("Sales"), ..query() },
        Query { keys: KeyRange::rows("Sales", TextRange::prefix("empid")), ..query() },
        Query { filter: None, ..query() },
        Query { filter: Some(Filter::flag("Age")), ..query() },
        Query { select: Select::All, ..query() },
        Query { select: Select::names(["FirstName"]), ..query() },
        Query { select: Select::names(["FirstNameAge"]), ..query() },
    ] {
        let error = token.position(&table(), &other).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAGE-9")), "{other:?}");
    }
    assert!(token.position(&TableName::new("Department").unwrap(), &query()).is_err());
}

#[test]
fn page_9_a_forged_position_outside_the_query_is_refused() {
    for position in [
        at("Marketing", Some("empid_000223")),
        at("Sales", Some("email_a")),
        at("Sales", Some("f")),
        at("Sales\u{0}", None),
    ] {
        let forged = Continuation::new(&table(), &query(), position.clone());
        assert_eq!(forged.position(&table(), &query()).unwrap_err().rule(), Some("PAGE-9"), "{position:?}");
        // A service's position may be any string. A key, in contrast, must be within the query's key range.
        let words = Continuation::of_service(&table(), &query(), position.clone());
        assert_eq!(words.service_position(&table(), &query()).unwrap(), &position);
        assert!(words.position(&table(), &query()).is_err());
    }
    assert!(Continuation::new(&table(), &query(), at("Sales", None)).position(&table(), &query()).is_ok());
    let key = Continuation::new(&table(), &query(), at("Sales", Some("empid_1")));
    assert!(key.service_position(&table(), &query()).is_err());
}

#[test]
fn the_start_of_a_query_belongs_to_the_query_and_to_no_backend() {
    let start = Continuation::start(&table(), &query());
    assert_eq!(start.to_string().parse::<Continuation>().unwrap(), start);
    assert!(start.check(&table(), &query()).is_ok());
    assert!(start.check(&table(), &Query { filter: None, ..query() }).is_err());
    for refused in [start.position(&table(), &query()), start.service_position(&table(), &query())] {
        assert_eq!(refused.unwrap_err().rule(), Some("PAGE-9"));
    }
}

#[test]
fn page_9_a_token_of_another_incarnation_of_the_table_is_refused() {
    let token = Continuation::new(&table(), &query(), at("Sales", None));
    assert!(token.check_incarnation(&table(), 3).is_ok());
    let token: Continuation = token.in_incarnation(3).to_string().parse().unwrap();
    assert!(token.check_incarnation(&table(), 3).is_ok());
    assert_eq!(token.check_incarnation(&table(), 4).unwrap_err().rule(), Some("PAGE-9"));
}

#[test]
fn rows_do_not_bound_a_position_in_a_range_of_partitions() {
    let keys = KeyRange { partition_key: TextRange::prefix("S"), row_key: TextRange::exactly("1") };
    let query = Query::new(keys);
    let position = at("Sales", Some("0"));
    let token = Continuation::new(&table(), &query, position.clone());
    assert_eq!(token.position(&table(), &query).unwrap(), &position);
}

#[test]
fn page_9_other_texts_are_not_tokens() {
    let token = Continuation::new(&table(), &query(), at("Sales", None)).to_string();
    for text in ["", "A", "1!16!cGs4MDEwMTZlOA--", &token[1..], &format!("{token}A"), &"A".repeat(100_000)] {
        assert_eq!(text.parse::<Continuation>().unwrap_err().rule(), Some("PAGE-9"), "{text}");
    }
}

/// Tests that each continuation has exactly one text representation. Bytes with a valid checksum are rejected if they are not in canonical form.
#[test]
fn page_9_a_valid_checksum_is_not_enough() {
    use base64::Engine as _;
    let token = |version: u8, tag: u8, length: u8, texts: &[u8]| {
        let mut bytes = vec![version, tag, 0, 0, 0, 0, 0, 0, 0, 0, length, 0, 0, 0];
        bytes.extend_from_slice(texts);
        bytes.extend_from_slice(&crate::fnv::fnv1a64(&bytes).to_le_bytes());
        base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(bytes).parse::<Continuation>()
    };
    assert!(token(1, 0, 1, b"ab").is_ok() && token(1, 1, 2, b"ab").is_ok() && token(1, 8, 0, b"").is_ok());
    for (version, tag, length, texts) in [
        (2, 0, 1, &b"ab"[..]),
        (1, 4, 1, b"ab"),
        (1, 0, 3, b"ab"),
        (1, 1, 1, b"ab"),
        (1, 0, 1, b"a\xFF"),
        (1, 8, 2, b"ab"),
        (1, 9, 0, b""),
    ] {
        assert!(token(version, tag, length, texts).is_err());
    }
}

#[test]
fn serde_writes_the_text() {
    let token = Continuation::new(&table(), &query(), at("Sales", Some("empid_1")));
    let json = serde_json::to_string(&token).unwrap();
    assert_eq!(json, format!("\"{token}\""));
    assert_eq!(serde_json::from_str::<Continuation>(&json).unwrap(), token);
    assert!(serde_json::from_str::<Continuation>("\"x\"").is_err());
}

proptest! {
    #[test]
    fn tokens_round_trip(
        partition_key in arbitrary::text(),
        row_key in prop::option::of(arbitrary::text()),
        kind in 0..3,
    ) {
        let position = Position { partition_key, row_key };
        let token = match kind {
            0 => Continuation::of_service(&table(), &query(), position),
            1 => Continuation::start(&table(), &query()),
            _ => Continuation::new(&table(), &query(), position),
        };
        let text = token.to_string();
        prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
        prop_assert_eq!(text.parse::<Continuation>().unwrap(), token);
    }

    #[test]
    fn page_9_every_altered_character_is_detected(row_key in arbitrary::text(), with in "[A-Za-z0-9_=é-]") {
        let text = Continuation::new(&table(), &query(), at("Sales", Some(&row_key))).to_string();
        for (place, _) in text.char_indices() {
            let mut altered = text.clone();
            altered.replace_range(place..=place, &with);
            prop_assert_eq!(altered.parse::<Continuation>().is_ok(), altered == text, "{}", altered);
        }
    }

    #[test]
    fn page_9_random_text_never_panics(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        use base64::Engine as _;
        prop_assert!(text.parse::<Continuation>().is_err());
        let mut bytes = bytes;
        bytes.extend_from_slice(&crate::fnv::fnv1a64(&bytes).to_le_bytes());
        let _ = base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(bytes).parse::<Continuation>();
    }
}
