//! Tests that messages stay short, whatever the length of the quoted text is.

use std::fmt::Debug;

use proptest::prelude::*;

use super::{Error, ErrorCode, quoted};
use crate::etag::ETag;
use crate::filter::{Comparison, Filter};
use crate::key::{EntityKey, PartitionKey, RowKey};
use crate::limits::Limits;
use crate::name::{TableName, check_property_name};
use crate::odata::{Sender, read_entity};
use crate::query::{KeyRange, Query, Select};
use crate::queue::QueueName;
use crate::row::RowWriter;
use crate::value::{Value, ValueRef};

const LONG: usize = 1 << 20;

/// Generates texts that errors may quote. A text is 1 MiB of a repeated string, with a start and an end that lead to different parsers.
fn long_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("a"),
        Just("Z9"),
        Just("7"),
        Just("-"),
        Just("/"),
        Just("'"),
        Just("\""),
        Just("("),
        Just(" "),
        Just("a eq 1 and "),
        Just("\n"),
        Just("\u{1}"),
        Just("ß"),
        Just("\u{fffc}"),
        Just("\u{10ffff}"),
        Just("`"),
    ];
    let start = prop_oneof![
        Just(""),
        Just("a"),
        Just("$"),
        Just("1"),
        Just("1e"),
        Just("'"),
        Just("datetime'"),
        Just("X'"),
        Just("a eq "),
        Just("a eq '"),
        Just("a add "),
        Just("W/\""),
        Just("{\"A\":"),
        Just("{\"A@odata.type\":\""),
        Just("{\""),
    ];
    let end = prop_oneof![
        Just(""),
        Just("L"),
        Just("'"),
        Just("("),
        Just(" eq b"),
        Just("\"}"),
        Just("\":1}"),
        Just("!")
    ];
    (start, piece, end)
        .prop_map(|(start, piece, end)| format!("{start}{}{end}", piece.repeat(LONG / piece.len())))
}

fn error_of<T: Debug>(result: crate::Result<T>) -> Option<Error> {
    result.err()
}

/// Passes a text to every text-validating function of this package and returns the resulting errors.
fn errors(text: &str) -> Vec<Error> {
    let owned = || text.to_owned();
    let row = |name: &str| {
        let mut writer = RowWriter::new();
        writer.property(name, ValueRef::Int32(1));
        writer.property(name, ValueRef::Int32(2));
        writer.finish()
    };
    let select = |names: &[&str]| {
        let mut query = Query::new(KeyRange::partition("p"));
        query.select = Select::names(names.iter().map(|name| (*name).to_owned()));
        query.check(1_000)
    };
    let filtered = |value: Value| {
        let mut query = Query::new(KeyRange::partition("p"));
        query.filter = Some(Filter::compare(owned(), Comparison::Eq, value));
        query.check(1_000)
    };
    let mut errors: Vec<Error> = [
        error_of(TableName::new(text)),
        error_of(TableName::stored(text)),
        error_of(check_property_name(text)),
        error_of(PartitionKey::new(text)),
        error_of(RowKey::new(text)),
        error_of(EntityKey::new(text, text)),
        error_of(QueueName::new(text)),
        error_of(ETag::parse(text)),
        error_of(Filter::parse(text)),
        error_of(read_entity(text.as_bytes(), Sender::Client).and_then(|body| body.key())),
        error_of(read_entity(text.as_bytes(), Sender::Service)),
        error_of(select(&[text])),
        error_of(select(&[text, text])),
        error_of(filtered(Value::Double(f64::NAN))),
        error_of(filtered(Value::String(owned()))),
        error_of(Limits::PORTABLE.check_key("RowKey", text)),
        error_of(Limits::PORTABLE.check_row(row(text).view())),
    ]
    .into_iter()
    .flatten()
    .collect();
    errors.push(Error::new(ErrorCode::Corrupted, text));
    errors
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn no_message_exceeds_its_bound_for_any_text(text in long_text()) {
        for error in errors(&text) {
            prop_assert!(error.message().chars().count() <= 1_000, "{}", error.code());
            let placed = error
                .clone()
                .with_property(&text)
                .with_context(&text)
                .with_table(text.as_str())
                .with_key(text.as_str(), text.as_str())
                .with_operation(99);
            let placed = placed.with_source(std::io::Error::other(text.clone()));
            for error in [error, placed.clone(), placed.into_ambiguous()] {
                prop_assert!(error.message().chars().count() <= 1_000, "{}", error.code());
                prop_assert!(error.to_string().chars().count() <= 1_600, "{}", error.code());
                prop_assert!(format!("{error:?}").chars().count() <= 20_000, "{}", error.code());
            }
        }
    }

    #[test]
    fn a_message_within_its_bound_is_whole_and_a_longer_one_keeps_its_ends(
        length in prop_oneof![0..200_usize, 600..1_400_usize], wide in any::<bool>(),
    ) {
        let filler = if wide { "ß" } else { "." };
        let text = format!("<{}>", filler.repeat(length));
        let message = Error::new(ErrorCode::InvalidInput, text.as_str()).message();
        if length + 2 <= 1_000 {
            prop_assert_eq!(message, text);
        } else {
            prop_assert!(message.starts_with('<') && message.ends_with('>'));
            let note = message.split_once("… (").and_then(|(_, rest)| rest.split_once(" characters omitted) …"));
            let omitted: usize = note.map(|(number, _)| number.parse().unwrap()).unwrap();
            let kept = message.matches(filler).count() + 2;
            prop_assert_eq!(kept + omitted, length + 2);
        }
    }
}

#[test]
fn a_quoted_text_is_shortened_with_its_length_and_keeps_the_help() {
    assert_eq!(quoted(&"ß".repeat(100)).to_string(), "ß".repeat(100));
    assert_eq!(quoted(&"ß".repeat(101)).to_string(), format!("{}… (101 characters)", "ß".repeat(100)));
    assert_eq!(quoted("it's\n").escaped().to_string(), r"it\'s\n");
    let name = "a".repeat(LONG);
    let start = "a".repeat(100);
    assert_eq!(
        check_property_name(&name).unwrap_err().to_string(),
        format!(
            "PropertyNameTooLong: property name `{start}… (1048576 characters)` has 1048576 UTF-16 code units, at most 255 are allowed (rule PROP-2)"
        )
    );
    let name = format!("{name}!");
    assert_eq!(
        TableName::new(&name).unwrap_err().message(),
        format!(
            "table name `{start}… (1048577 characters)` is invalid; use ASCII letters and digits, starting with a letter"
        )
    );
}
