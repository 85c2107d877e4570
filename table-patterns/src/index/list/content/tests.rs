use proptest::prelude::*;

use table_core::ErrorCode;

use super::*;

fn table() -> TableName {
    TableName::new("LastNames").unwrap()
}

fn key(partition_key: &str, row_key: &str) -> EntityKey {
    EntityKey::new(partition_key, row_key).unwrap()
}

/// The content of a stored blob. Every release must be able to read it.
const GOLDEN: &str = "tables list 1\n[\"LastNames\",\"O'Neil \\\"Ab\\\"\",\"all\"]\n[\"Marketing\",\"000007\"]\n\
                      [\"Sales\",\"\"]\n[\"Sales\",\"000152\"]\n[\"\u{1F600}\",\"1\"]\n[\"\u{FF21}\",\"1\"]\n";

#[test]
fn pat_ix_the_bytes_of_a_list() {
    let list = key("O'Neil \"Ab\"", "all");
    let owners = BTreeSet::from([
        key("Sales", "000152"),
        key("Sales", ""),
        key("\u{FF21}", "1"),
        key("\u{1F600}", "1"),
        key("Marketing", "000007"),
    ]);
    let bytes = encode(&table(), &list, (owners.iter(), false));
    assert_eq!(String::from_utf8(bytes).unwrap(), GOLDEN);
    assert_eq!(decode(GOLDEN.as_bytes(), &table(), &list).unwrap(), (owners.clone(), false));
    let marked = encode(&table(), &list, (owners.iter(), true));
    assert_eq!(marked, GOLDEN.replacen("\n[", "\n [", 1).as_bytes());
    assert_eq!(decode(&marked, &table(), &list).unwrap(), (owners, true));
    assert_eq!(place(GOLDEN.as_bytes()).unwrap(), (table(), list));
}

#[test]
fn an_invalid_list_is_an_error() {
    let list = key("Jones", "all");
    let head = "tables list 1\n[\"LastNames\",\"Jones\",\"all\"]\n";
    for (text, code) in [
        ("", ErrorCode::Corrupted),
        ("tables list 1", ErrorCode::Corrupted),
        ("tables list 1\n", ErrorCode::Corrupted),
        ("tables list 2\n[]\n", ErrorCode::FormatTooNew),
        ("tables list 1\n[\"LastNames\",\"Cao\",\"all\"]\n", ErrorCode::Corrupted),
        ("tables list 1\n[\"Names\",\"Jones\",\"all\"]\n", ErrorCode::Corrupted),
        (&format!("{head}[\"Sales\",\"2\"]\n[\"Sales\",\"1\"]\n"), ErrorCode::Corrupted),
        (&format!("{head}[\"Sales\",\"1\"]\n[\"Sales\",\"1\"]\n"), ErrorCode::Corrupted),
        (&format!("{head}[\"Sales\",\"1\"]"), ErrorCode::Corrupted),
        (&format!("{head}[\"Sales\"]\n"), ErrorCode::Corrupted),
        (&format!("{head}\n"), ErrorCode::Corrupted),
    ] {
        assert_eq!(decode(text.as_bytes(), &table(), &list).unwrap_err().code(), code, "{text:?}");
    }
    assert!(decode(head.as_bytes(), &table(), &list).unwrap().0.is_empty());
    assert_eq!(decode(&[0xff], &table(), &list).unwrap_err().code(), ErrorCode::Corrupted);
}

proptest! {
    #[test]
    fn any_keys_round_trip(pairs in prop::collection::btree_set(("\\PC{0,6}", "[ -~é]{0,6}"), 0..30)) {
        let legal = |(partition_key, row_key): (String, String)| EntityKey::new(partition_key, row_key).ok();
        let owners: BTreeSet<_> = pairs.into_iter().filter_map(legal).collect();
        let list = key("", "all");
        let bytes = encode(&table(), &list, (owners.iter(), false));
        prop_assert_eq!(decode(&bytes, &table(), &list).unwrap(), (owners, false));
    }

    #[test]
    fn reading_arbitrary_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), at in 0..GOLDEN.len()) {
        let list = key("O'Neil \"Ab\"", "all");
        let _ = decode(&bytes, &table(), &list);
        let mut golden = GOLDEN.as_bytes().to_vec();
        golden.truncate(at);
        prop_assert!(decode(&golden, &table(), &list).is_err() || golden.ends_with(b"\n"));
        golden.extend(bytes);
        let _ = decode(&golden, &table(), &list);
    }
}
