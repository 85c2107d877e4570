use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::{Entity, ErrorCode, TableStoreExt};

use super::*;
use crate::tests::faults::{Call, Fault, FaultyStore};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Many")]
#[partition_key(of)]
#[row_key(number)]
struct One {
    of: u8,
    number: u32,
}

fn store(rows: impl IntoIterator<Item = (u8, u32)>) -> FaultyStore<Engine> {
    let engine = Engine::in_memory();
    let table = block_on(engine.table::<One>().create_if_missing()).unwrap();
    for (of, number) in rows {
        block_on(table.insert_or_replace(&One { of, number })).unwrap();
    }
    FaultyStore::new(engine)
}

fn read(store: &FaultyStore<Engine>, keys: &[(u8, u32)]) -> Vec<Option<String>> {
    let keys: Vec<_> = keys.iter().map(|(of, number)| One::key(*of, *number).into_key().unwrap()).collect();
    let table = TableName::new("Many").unwrap();
    let text = |row: EntityRef<'_>| {
        assert!(row.etag().ticks().is_some_and(|ticks| ticks > 0));
        Ok(format!("{} {}", row.partition_key, row.row_key))
    };
    let found = block_on(rows((store, &table), &keys, &Select::All, text)).unwrap();
    for (key, found) in keys.iter().zip(&found) {
        let key = format!("{} {}", key.partition_key.as_str(), key.row_key.as_str());
        assert!(found.as_ref().is_none_or(|found| *found == key), "{found:?} for {key}");
    }
    found
}

proptest! {
    #[test]
    fn pages_and_lookups_find_the_same_rows(
        stored in prop::collection::btree_set((0..2_u8, 0..200_u32), 0..150),
        mut wanted in prop::collection::vec((0..2_u8, 0..200_u32), 0..80),
        is_sorted: bool,
        page in 1..40_usize,
    ) {
        if is_sorted {
            wanted.sort_unstable();
        }
        let found = read(&store(stored.clone()).pages_of(page), &wanted);
        let found: Vec<_> = found.iter().map(Option::is_some).collect();
        prop_assert_eq!(found, wanted.iter().map(|key| stored.contains(key)).collect::<Vec<_>>());
    }
}

proptest! {
    /// Tests rows that the store cannot represent. Pages omit them, so their keys are read one by one.
    #[test]
    fn each_key_is_found_or_absent_or_unreadable(
        stored in prop::collection::btree_set((0..2_u8, 0..100_u32), 0..80),
        strange in prop::collection::btree_set((0..2_u8, 0..100_u32), 0..80),
        mut wanted in prop::collection::vec((0..2_u8, 0..100_u32), 0..80),
        is_sorted: bool,
        page in 1..40_usize,
        code in prop::sample::select(vec![ErrorCode::EntityMismatch, ErrorCode::Corrupted]),
    ) {
        if is_sorted {
            wanted.sort_unstable();
        }
        let (store, table) = (store(stored.clone()).pages_of(page), TableName::new("Many").unwrap());
        let key = |(of, number): &(u8, u32)| One::key(*of, *number).into_key().unwrap();
        let bad: Vec<_> = strange.iter().map(key).collect();
        store.misread(("Note", code), move |_, key| bad.contains(key));
        let keys: Vec<_> = wanted.iter().map(key).collect();
        let read = |row: EntityRef<'_>| {
            Ok(Ok((row.partition_key.to_owned(), row.row_key.to_owned())))
        };
        let found =
            block_on(rows_or((&store, &table), &keys, &Select::All, read, |error| Ok(Err(error.code()))));
        let expected = |key: &(u8, u32)| match (stored.contains(key), strange.contains(key)) {
            (false, _) => None,
            (true, true) => Some(Err(code)),
            (true, false) => {
                let EntityKey { partition_key, row_key } = One::key(key.0, key.1).into_key().unwrap();
                Some(Ok((partition_key.to_string(), row_key.to_string())))
            }
        };
        prop_assert_eq!(found.unwrap(), wanted.iter().map(expected).collect::<Vec<_>>());
    }
}

#[test]
fn a_row_that_cannot_be_represented_blocks_no_other() {
    let (store, name) = (store((0..5).map(|number| (1, number))), TableName::new("Many").unwrap());
    let keys: Vec<_> = (0..5).map(|number| One::key(1, number).into_key().unwrap()).collect();
    for number in 0..5 {
        let script = move |code| {
            move |_: Call, at: usize| if at == number { Fault::Before(code) } else { Fault::None }
        };
        let read = || {
            let text = |row: EntityRef<'_>| Ok(Ok(row.row_key.to_owned()));
            block_on(rows_or((&store, &name), &keys, &Select::All, text, |error| Ok(Err(error.code()))))
        };
        for code in [ErrorCode::EntityMismatch, ErrorCode::Corrupted] {
            store.script(script(code));
            let found: Vec<_> = read().unwrap().into_iter().flatten().collect();
            let expected = |at: usize| {
                if at == number { Err(code) } else { Ok(keys[at].row_key.as_str().to_owned()) }
            };
            assert_eq!(found, (0..5).map(expected).collect::<Vec<_>>());
        }
        store.script(script(ErrorCode::ServerBusy));
        assert_eq!(read().unwrap_err().code(), ErrorCode::ServerBusy);
    }
}

#[test]
fn a_store_without_order_is_read_key_by_key() {
    let store = crate::tests::faults::unordered();
    let table = block_on(store.table::<One>().create_if_missing()).unwrap();
    for number in 0..300 {
        block_on(table.insert_or_replace(&One { of: 1, number })).unwrap();
    }
    let keys: Vec<_> = (0..300).map(|number| One::key(1, number).into_key().unwrap()).collect();
    let name = TableName::new("Many").unwrap();
    let text = |row: EntityRef<'_>| Ok(row.row_key.to_owned());
    let found = block_on(rows((&store, &name), &keys, &Select::All, text)).unwrap();
    let expected: Vec<_> = keys.iter().map(|key| Some(key.row_key.as_str().to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn adjacent_keys_take_one_request_and_those_beyond_a_page_one_each() {
    let store = store((0..400).map(|number| (1, number)));
    let calls = |keys: Vec<(u8, u32)>| {
        store.heal();
        assert!(read(&store, &keys).iter().all(Option::is_some));
        let is = |wanted| store.calls().into_iter().filter(|call| *call == wanted).count();
        (is(Call::Query), is(Call::Get))
    };
    assert_eq!(calls((0..100).map(|number| (1, number)).collect()), (1, 0));
    assert_eq!(calls((0..100).rev().map(|number| (1, number)).collect()), (0, 100));
    // Between every two of the forty keys are three other rows, so a page of 80 rows reaches twenty keys.
    assert_eq!(calls((0..40).map(|number| (1, number * 4)).collect()), (1, 20));
    assert_eq!(calls((0..7).map(|number| (1, number)).collect()), (0, 7));
    let store = store.clone().pages_of(30);
    store.heal();
    assert!(
        read(&store, &(0..100).map(|number| (1, number)).collect::<Vec<_>>()).iter().all(Option::is_some)
    );
    // Three full pages are read, and then a fourth page for the last ten keys.
    assert_eq!(store.calls(), [Call::Query; 4]);
}
