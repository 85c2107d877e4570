use proptest::prelude::*;

use super::*;

fn key(table: u32, partition_key: &str, row_key: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(table, partition_key, row_key, &mut bytes);
    bytes
}

/// Generates strings that a stored key can contain.
fn stored() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        Just(' '),
        Just('a'),
        Just('b'),
        Just('~'),
        Just('\u{A0}'),
        Just('\u{D7FF}'),
        Just('\u{E000}'),
        Just('\u{FF21}'),
        Just('\u{10000}'),
    ];
    prop::collection::vec(character, 0..4).prop_map(String::from_iter)
}

/// Generates arbitrary strings to use as bounds.
fn bound_text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        Just('\u{0}'),
        Just('\u{1}'),
        Just('\u{1F}'),
        Just(' '),
        Just('/'),
        Just('a'),
        Just('b'),
        Just('\u{7F}'),
        Just('\u{E000}'),
        Just('\u{10000}'),
    ];
    prop::collection::vec(character, 0..4).prop_map(String::from_iter)
}

fn bound() -> impl Strategy<Value = Bound<String>> {
    prop_oneof![
        bound_text().prop_map(Bound::Included),
        bound_text().prop_map(Bound::Excluded),
        Just(Bound::Unbounded)
    ]
}

fn range() -> impl Strategy<Value = TextRange> {
    prop_oneof![
        (bound(), bound()).prop_map(|(lower, upper)| TextRange { lower, upper }),
        bound_text().prop_map(TextRange::exactly),
        stored().prop_map(TextRange::exactly),
        bound_text().prop_map(|text| TextRange::prefix(&text)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn ord_1_keys_sort_by_table_then_partition_then_row(
        a in (0..3_u32, stored(), stored()),
        b in (0..3_u32, stored(), stored()),
    ) {
        let reference = a.0.cmp(&b.0)
            .then_with(|| order::compare(&a.1, &b.1))
            .then_with(|| order::compare(&a.2, &b.2));
        prop_assert_eq!(key(a.0, &a.1, &a.2).cmp(&key(b.0, &b.1, &b.2)), reference);
    }

    #[test]
    fn keys_read_back(keys in prop::collection::vec((stored(), stored()), 1..6)) {
        let mut reader = KeyReader::default();
        for (partition_key, row_key) in &keys {
            let bytes = key(7, partition_key, row_key);
            prop_assert_eq!(reader.read(&bytes).unwrap(), (partition_key.as_str(), row_key.as_str()));
            prop_assert_eq!(table_of(&bytes), Some(7));
        }
    }

    #[test]
    fn fil_19_a_span_contains_the_keys_of_its_range_for_any_bounds(
        partition_key in range(),
        row_key in range(),
        stored_partition in stored(),
        stored_row in stored(),
        table in 6..9_u32,
    ) {
        let keys = KeyRange { partition_key, row_key };
        let span = Span::of(7, &keys);
        let bytes = key(table, &stored_partition, &stored_row);
        let inside = span.start <= bytes && bytes < span.end;
        // A span over several partitions does not restrict the row keys, so they are checked separately.
        let rows = keys.partition_key.single().is_none() || keys.row_key.contains(&stored_row);
        let wanted = table == 7 && keys.partition_key.contains(&stored_partition) && rows;
        prop_assert_eq!(inside, wanted);
    }

    #[test]
    fn reading_any_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
        let _ = KeyReader::default().read(&bytes);
    }
}

#[test]
fn set_table_copies_a_shared_key() {
    let mut keys: Vec<Key> = ["1", "2"].map(of_rows("Sales")).into();
    let shared = keys[0].clone();
    set_table(&mut keys[0], 9);
    assert_eq!(&*keys[0], key(9, "Sales", "1"));
    assert_eq!(&*shared, key(0, "Sales", "1"));
}
