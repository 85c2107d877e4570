//! Tests a custom key codec. The codec uses only the public API. It writes trace identifiers as 32 hexadecimal digits, which sort in the order of the numbers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;

use pollster::block_on;
use proptest::prelude::*;
use table_core::KeyPart;
use table_core::index::Index;
use table_core::key::codec::{Alphabet, Desc, Form, KeyCodec, LevelCodec, Reversible, laws};
use table_core::key::order;
use table_core::query::EntityRef;
use table_core::{Engine, Entity, EntityKey, Error, ErrorCode, FromEntity, Result, Table, TableStoreExt};

/// A codec that writes numbers as 32 lower-case hexadecimal digits.
enum TraceHex {}

impl KeyCodec<u128> for TraceHex {
    const NAME: &'static str = "trace_hex";
    const FORM: Form = Form::fixed(32, true, Alphabet::of("0123456789abcdef"));

    fn encode(value: &u128, out: &mut String) -> Result<()> {
        let _ = write!(out, "{value:032x}");
        Ok(())
    }

    fn decode(text: &str) -> Result<u128> {
        let value = u128::from_str_radix(text, 16).ok().filter(|value| format!("{value:032x}") == text);
        let other =
            || Error::new(ErrorCode::EntityMismatch, format!("'{text}' is not an identifier of a trace"));
        value.ok_or_else(other)
    }
}

impl LevelCodec<u128> for TraceHex {
    type Level = Self;
}

impl Reversible<u128> for TraceHex {
    fn encode_reversed(value: &u128, out: &mut String) -> Result<()> {
        Self::encode(&!value, out)
    }

    fn decode_reversed(text: &str) -> Result<u128> {
        Self::decode(text).map(|value| !value)
    }
}

/// A type with a default codec. Declarations need not specify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TraceId(u128);

enum OfTraceId {}

impl KeyCodec<TraceId> for OfTraceId {
    const NAME: &'static str = <TraceHex as KeyCodec<u128>>::NAME;
    const FORM: Form = <TraceHex as KeyCodec<u128>>::FORM;

    fn encode(value: &TraceId, out: &mut String) -> Result<()> {
        TraceHex::encode(&value.0, out)
    }

    fn decode(text: &str) -> Result<TraceId> {
        TraceHex::decode(text).map(TraceId)
    }
}

impl LevelCodec<TraceId> for OfTraceId {
    type Level = Self;
}

impl KeyPart for TraceId {
    type Codec = OfTraceId;
}

/// A span whose keys use the codec in every position. It is used as a level, alone, between literals, in descending order, and in the key of an index.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Spans")]
#[partition_key(tenant, trace)]
#[row_key("span_", codec(TraceHex, id))]
#[index(BySpan, unique, table = "SpansAlone", partition_key("span_", service), row_key(codec(TraceHex, id)))]
struct Span {
    tenant: String,
    trace: TraceId,
    id: u128,
    #[without('!')]
    service: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Newest")]
#[partition_key(service)]
#[row_key(escaped(operation), "!", desc(codec(TraceHex, id)), "_", attempt)]
struct Newest {
    service: String,
    operation: String,
    id: u128,
    attempt: u8,
}

fn span(id: u128) -> Span {
    Span { tenant: "contoso".to_owned(), trace: TraceId(7), id, service: "shop".to_owned() }
}

#[test]
fn keys_are_written_by_the_codec_and_the_schema_names_it() {
    let key = span(255).key_of().unwrap();
    assert_eq!(key.partition_key.as_str(), "contoso!00000000000000000000000000000007!");
    assert_eq!(key.row_key.as_str(), "span_000000000000000000000000000000ff");
    let newest = Newest { service: "shop".into(), operation: "pay".into(), id: 1, attempt: 2 };
    assert_eq!(newest.key_of().unwrap().row_key.as_str(), "pay!fffffffffffffffffffffffffffffffe_002");
    let schema = Span::SCHEMA.to_string();
    assert!(schema.contains("trace_hex"), "{schema}");
}

#[test]
fn ranges_of_values_are_ranges_of_keys() {
    block_on(async {
        let spans: Table<Span, Engine> = Engine::in_memory().table();
        let copy = SpanBySpan::entry(&span(255)).unwrap().unwrap().key;
        assert_eq!(copy, Span::by_span("shop", 255_u128).key().unwrap());
        let range = spans.query(Span::rows("contoso", TraceId(7)).id(10..=300)).plan().unwrap();
        let text = range.to_string();
        assert!(text.contains("span_0000000000000000000000000000000a"), "{text}");
        let table = Engine::in_memory().table::<Newest>().create_if_missing().await.unwrap();
        for id in [1, 15, 16, u128::MAX] {
            let newest = Newest { service: "shop".into(), operation: "pay".into(), id, attempt: 1 };
            table.insert(&newest).await.unwrap();
        }
        let all = table.query(Newest::rows("shop").operation_is("pay")).collect().await.unwrap();
        assert_eq!(all.iter().map(|newest| newest.id).collect::<Vec<_>>(), [u128::MAX, 16, 15, 1]);
        let some = Newest::rows("shop").operation_is("pay").id(2..u128::MAX);
        let some = table.query(some).collect().await.unwrap();
        assert_eq!(some.iter().map(|newest| newest.id).collect::<Vec<_>>(), [16, 15]);
    });
}

#[test]
fn texts_that_the_codec_does_not_write_are_not_read() {
    for text in ["", "7", "0000000000000000000000000000000G", "0000000000000000000000000000000A"] {
        assert_eq!(TraceHex::decode(text).unwrap_err().code(), ErrorCode::EntityMismatch, "{text}");
    }
    let row = span(1).to_row().unwrap();
    let stored = EntityRef::new("contoso!00000000000000000000000000000007!", "span_1", row.view());
    let error = Span::from_entity(stored).unwrap_err();
    assert_eq!(error.code(), ErrorCode::EntityMismatch);
}

/// Generates numbers with any number of bits.
fn number() -> impl Strategy<Value = u128> {
    (any::<u128>(), 0..128_u32).prop_map(|(number, bits)| number >> bits)
}

fn read_back<E: Entity>(entity: &E) -> (EntityKey, E) {
    let (key, row) = (entity.key_of().unwrap(), entity.to_row().unwrap());
    let read = E::from_entity(EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view()));
    (key, read.unwrap())
}

proptest! {
    #[test]
    fn k1_to_k4_hold_alone_reversed_and_for_a_custom_type(values in prop::collection::vec(number(), 1..20)) {
        prop_assert_eq!(laws::check::<TraceHex, u128>(&values), Ok(()));
        prop_assert_eq!(laws::check::<Desc<TraceHex>, u128>(&values), Ok(()));
        prop_assert_eq!(laws::check::<<TraceHex as LevelCodec<u128>>::Level, u128>(&values), Ok(()));
        let ids: Vec<TraceId> = values.into_iter().map(TraceId).collect();
        prop_assert_eq!(laws::check::<OfTraceId, TraceId>(&ids), Ok(()));
    }

    #[test]
    fn compound_keys_read_back_and_sort_as_their_values(
        left in ("[a!~é]{0,3}", number(), any::<u8>()),
        right in ("[a!~é]{0,3}", number(), any::<u8>()),
    ) {
        let newest = |(operation, id, attempt): &(String, u128, u8)| Newest {
            service: "shop".to_owned(),
            operation: operation.clone(),
            id: *id,
            attempt: *attempt,
        };
        let (a, b) = (newest(&left), newest(&right));
        let ((a_key, a_read), (b_key, b_read)) = (read_back(&a), read_back(&b));
        prop_assert_eq!((&a_read, &b_read), (&a, &b));
        let keys = order::compare(a_key.row_key.as_str(), b_key.row_key.as_str());
        let values = order::compare(&a.operation, &b.operation)
            .then(b.id.cmp(&a.id))
            .then(a.attempt.cmp(&b.attempt));
        prop_assert_eq!(keys, values);
    }
}
