//! Tests of ranges. They are compared with a literal implementation of SAS-6, and with the query results of an engine.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use table_core::embedded::Engine;
use table_core::row::RowWriter;
use table_core::{Operation, OperationKind, TableName, TableStore, Transaction};

use super::*;

const KEYS: [&str; 9] = ["", "!", "0", "a", "a0", "ab", "b", "\u{1F600}", "\u{FFFD}"];

fn text() -> impl Strategy<Value = String> {
    select(KEYS.to_vec()).prop_map(str::to_owned)
}

/// An unvalidated end of a range: a partition and an optional row.
type Owned = Option<(String, Option<String>)>;

fn end() -> impl Strategy<Value = Owned> {
    prop::option::of((text(), prop::option::of(text())))
}

fn said(end: &Owned) -> Option<Said<'_>> {
    end.as_ref().map(|(partition_key, row_key)| (partition_key.as_str(), row_key.as_deref()))
}

/// Generates signable ranges with their unvalidated ends.
fn range() -> impl Strategy<Value = (SignedRange, [Owned; 2])> {
    (end(), end()).prop_filter_map("its end is an empty key", |(start, end)| {
        let range = SignedRange::between(said(&start), said(&end)).ok()?;
        Some((range, [start, end]))
    })
}

fn bound() -> impl Strategy<Value = Bound<String>> {
    (text(), 0..3).prop_map(|(text, kind)| match kind {
        0 => Bound::Included(text),
        1 => Bound::Excluded(text),
        _ => Bound::Unbounded,
    })
}

fn texts() -> impl Strategy<Value = TextRange> {
    let exactly = text().prop_map(TextRange::exactly);
    prop_oneof![
        2 => exactly,
        1 => Just(TextRange::ALL),
        1 => text().prop_map(|prefix| TextRange::prefix(&prefix)),
        2 => (bound(), bound()).prop_map(|(lower, upper)| TextRange { lower, upper }),
    ]
}

/// Returns `true` if a key is within a range according to the wording of SAS-6.
fn inside([start, end]: &[Owned; 2], pk: &str, rk: &str) -> bool {
    let utf16 = |text: &str| text.encode_utf16().collect::<Vec<_>>();
    let (pk, rk) = (utf16(pk), utf16(rk));
    let above = start.as_ref().is_none_or(|(spk, srk)| {
        let spk = utf16(spk);
        pk > spk || pk == spk && srk.as_ref().is_none_or(|srk| rk >= utf16(srk))
    });
    let below = end.as_ref().is_none_or(|(epk, erk)| {
        let epk = utf16(epk);
        pk < epk || pk == epk && erk.as_ref().is_none_or(|erk| rk <= utf16(erk))
    });
    above && below
}

proptest! {
    #[test]
    fn sas_6_and_9_the_range_is_compound_and_in_utf16_order((range, said) in range(), pk in text(), rk in text()) {
        prop_assert_eq!(range.contains(&pk, &rk), inside(&said, &pk, &rk));
    }

    #[test]
    fn sas_6_a_signed_range_never_allows_more_than_its_keys(partition_key in texts(), row_key in texts(), pk in text(), rk in text()) {
        let keys = KeyRange { partition_key, row_key };
        if let Ok(range) = SignedRange::of_keys(&keys) {
            let (signed, asked) = (range.contains(&pk, &rk), keys.contains(&pk, &rk));
            prop_assert!(!signed || asked, "{keys:?} {range:?}");
            let last = |key: &str| key.ends_with('\u{FFFD}');
            prop_assert!(signed || !asked || last(&pk) || last(&rk), "{keys:?} {range:?}");
        }
    }

    #[test]
    fn sas_8_a_restricted_query_returns_only_rows_inside_the_range(
        (range, said) in range(), partition_key in texts(), row_key in texts(), stored in vec((text(), text()), 0..12),
    ) {
        let (engine, table) = (Engine::in_memory(), TableName::new("Ranges").unwrap());
        let query = Query::new(KeyRange { partition_key, row_key });
        let keys = |query: &Query| -> Vec<(String, String)> {
            let page = pollster::block_on(engine.query(&table, query, None)).unwrap();
            page.rows.iter().map(|entity| (entity.partition_key.to_owned(), entity.row_key.to_owned())).collect()
        };
        pollster::block_on(engine.create_table(&table)).unwrap();
        for (pk, rk) in &stored {
            let mut upsert = Transaction::new(PartitionKey::new(pk.as_str()).unwrap(), engine.capabilities().limits).unwrap();
            let kind = OperationKind::InsertOrReplace(RowWriter::new().finish());
            upsert.push(Operation { row_key: RowKey::new(rk.as_str()).unwrap(), kind }).unwrap();
            pollster::block_on(engine.submit(&table, upsert)).unwrap();
        }
        let mut expected = keys(&query);
        expected.retain(|(pk, rk)| inside(&said, pk, rk));
        prop_assert_eq!(keys(&range.restrict(&query)), expected);
    }
}

#[test]
fn sas_6_excluded_bounds_become_included_ones() {
    let rows = |lower: &str, upper: &str| {
        let bounds = (Bound::Excluded(lower.to_owned()), Bound::Excluded(upper.to_owned()));
        KeyRange::rows("Sales", TextRange { lower: bounds.0, upper: bounds.1 })
    };
    let signed = SignedRange::of_keys(&rows("a", "b0")).unwrap();
    assert_eq!(signed, SignedRange::new(("Sales", Some("a ")), ("Sales", Some("b.\u{FFFD}"))).unwrap());
    let prefix = SignedRange::of_keys(&KeyRange::rows("Sales", TextRange::prefix("email_"))).unwrap();
    let until = ("Sales", Some("email_\u{FFFD}"));
    assert_eq!(prefix, SignedRange::new(("Sales", Some("email_")), until).unwrap());
    assert!(prefix.contains("Sales", "email_zoë") && !prefix.contains("Sales", "email`"));
    let blank = SignedRange::of_keys(&rows("", "a ")).unwrap();
    assert_eq!(blank, SignedRange::new(("Sales", Some(" ")), ("Sales", Some("a"))).unwrap());
}

#[test]
fn sas_6_keys_that_one_range_cannot_express_are_refused() {
    let rows = TextRange::prefix("a");
    let many = KeyRange { partition_key: TextRange::prefix("S"), row_key: rows };
    let nothing = KeyRange::rows(
        "S",
        TextRange { lower: Bound::Included("b".into()), upper: Bound::Excluded("b".into()) },
    );
    for keys in [many, nothing] {
        assert_eq!(SignedRange::of_keys(&keys).unwrap_err().rule(), Some("SAS-6"));
    }
}

/// Tests that no range ends at an empty key. In a string to sign, an empty and a missing key produce the same line.
#[test]
fn sas_6_no_range_ends_in_an_empty_key() {
    for (start, end) in [
        (("", None), ("", None)),
        (("Sales", Some("1")), ("Sales", Some(""))),
        (("", Some("1")), ("Sales", None)),
        (("", None), ("", Some("1"))),
    ] {
        assert_eq!(SignedRange::new(start, end).unwrap_err().rule(), Some("SAS-6"), "{start:?} {end:?}");
    }
    let point = KeyRange::rows("Sales", TextRange::exactly(""));
    let before = TextRange { lower: Bound::Unbounded, upper: Bound::Excluded(" ".to_owned()) };
    let empty = KeyRange { partition_key: before, row_key: TextRange::ALL };
    for keys in [point, KeyRange::partition(""), empty] {
        assert_eq!(SignedRange::of_keys(&keys).unwrap_err().rule(), Some("SAS-6"), "{keys:?}");
    }
    let sales = SignedRange::partition("Sales").unwrap();
    assert_eq!(SignedRange::new(("Sales", Some("")), ("Sales", None)).unwrap(), sales);
    assert_eq!(SignedRange::between(Some(("", Some(""))), None).unwrap(), SignedRange::ALL);
}
