//! Tests that queries return results in order and in pages. Each page continues exactly where the previous one ended.

use table_store::query::{Continuation, Page, Position, TextRange};

use super::*;
use crate::page::{PageBounds, read};

/// Writes entities to three partitions, and then deletes every fifth one. Returns the remaining entities. If the engine has a base, half of the entities are
/// moved to it.
fn fill(engine: &Engine, settle: &dyn Fn()) -> Vec<(String, String, i32)> {
    let keys: Vec<(String, String)> = ["", "P", "P1"]
        .iter()
        .flat_map(|partition_key| (0..40).map(move |n| ((*partition_key).to_owned(), format!("r{n:02}"))))
        .collect();
    let put = |which: usize| {
        for (n, (partition_key, row_key)) in keys.iter().enumerate().filter(|(n, _)| n % 2 == which) {
            submit(engine, partition_key, vec![(row_key, upsert(i32::try_from(n).unwrap()))]).unwrap();
        }
    };
    put(0);
    settle();
    put(1);
    let mut wanted = Vec::new();
    for (n, (partition_key, row_key)) in keys.iter().enumerate() {
        if n % 5 == 4 {
            submit(engine, partition_key, vec![(row_key, delete())]).unwrap();
        } else {
            wanted.push((partition_key.clone(), row_key.clone(), i32::try_from(n).unwrap()));
        }
    }
    wanted
}

fn keys_of(page: &Page) -> Vec<(String, String)> {
    page.rows.iter().map(|entity| (entity.partition_key.to_owned(), entity.row_key.to_owned())).collect()
}

fn page(engine: &Engine, query: &Query, from: Option<&Continuation>) -> Page {
    wait(engine.query(&employees(), query, from)).unwrap()
}

fn pages(engine: &Engine, query: &Query) -> Vec<Vec<(String, String)>> {
    let first = page(engine, query, None);
    let mut pages = vec![keys_of(&first)];
    let mut next = first.continuation;
    while let Some(from) = next {
        let page = page(engine, query, Some(&from));
        pages.push(keys_of(&page));
        next = page.continuation;
    }
    pages
}

#[test]
fn qry_3_and_page_5_pages_return_each_entity_once_in_order_and_no_last_token() {
    everywhere(|engine, settle| {
        let wanted = fill(engine, settle);
        assert_eq!(all(engine), wanted);
        let wanted: Vec<_> =
            wanted.into_iter().map(|(partition_key, row_key, _)| (partition_key, row_key)).collect();
        for top in [1, 2, 7, 32, 48, 96, 97, 1_000] {
            let query = Query { top: Some(top), ..Query::new(KeyRange::ALL) };
            let pages = pages(engine, &query);
            assert_eq!(pages.concat(), wanted, "top {top}");
            assert_eq!(pages.len(), wanted.len().div_ceil(top), "no page is empty or short, top {top}");
        }
    });
}

#[test]
fn ranges_of_rows_and_partitions_are_read_from_every_layer() {
    everywhere(|engine, settle| {
        let wanted = fill(engine, settle);
        let some = TextRange {
            lower: std::ops::Bound::Excluded("r05".into()),
            upper: std::ops::Bound::Included("r21".into()),
        };
        for keys in [
            KeyRange::partition("P"),
            KeyRange::rows("P", some.clone()),
            KeyRange::rows("P", TextRange::prefix("r1")),
            KeyRange { partition_key: TextRange::prefix("P"), row_key: TextRange::ALL },
            KeyRange { partition_key: TextRange::prefix("P"), row_key: some.clone() },
            KeyRange { partition_key: TextRange::ALL, row_key: TextRange::exactly("r07") },
            KeyRange::point("P", "r07"),
            KeyRange::point("P", "r04"),
            KeyRange::point("P\u{0}", "r07"),
            KeyRange::rows("none", some),
        ] {
            let query = Query { top: Some(3), ..Query::new(keys.clone()) };
            let found = pages(engine, &query).concat();
            let expected: Vec<_> = wanted
                .iter()
                .filter(|(partition_key, row_key, _)| keys.contains(partition_key, row_key))
                .map(|(partition_key, row_key, _)| (partition_key.clone(), row_key.clone()))
                .collect();
            assert_eq!(found, expected, "{keys:?}");
        }
    });
}

#[test]
fn page_10_and_cls_5_a_point_query_returns_a_list_without_a_token() {
    everywhere(|engine, settle| {
        fill(engine, settle);
        let query = Query { top: Some(1), ..Query::new(KeyRange::point("P", "r00")) };
        let found = page(engine, &query, None);
        assert_eq!((found.rows.len(), found.continuation.is_none(), found.rows_read), (1, true, Some(1)));
        let none = page(engine, &Query::new(KeyRange::point("P", "none")), None);
        assert!(none.rows.is_empty() && none.continuation.is_none()); // QRY-4
    });
}

#[test]
fn eng_5_top_2_and_page_9_odd_tops_and_foreign_tokens() {
    let engine = in_memory();
    fill(&engine, &|| ());
    let zero = page(&engine, &Query { top: Some(0), ..Query::new(KeyRange::ALL) }, None);
    assert!(zero.rows.is_empty() && zero.continuation.is_none());
    let query = Query { top: Some(1_001), ..Query::new(KeyRange::ALL) };
    let error = wait(engine.query(&employees(), &query, None)).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("TOP-2")));
    let query = Query { top: Some(5), ..Query::new(KeyRange::ALL) };
    let token = page(&engine, &query, None).continuation.unwrap();
    let other = Query { keys: KeyRange::partition("P"), ..query };
    let error = wait(engine.query(&employees(), &other, Some(&token))).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAGE-9")));
}

#[test]
fn page_6_and_7_a_token_is_the_next_key_and_works_after_its_deletion() {
    everywhere(|engine, settle| {
        fill(engine, settle);
        let query = Query { top: Some(4), ..Query::new(KeyRange::partition("P")) };
        let first = page(engine, &query, None);
        let next = first.continuation.unwrap();
        let position = next.position(&employees(), &query).unwrap().clone();
        assert_eq!(position, Position { partition_key: "P".into(), row_key: Some("r05".into()) });
        submit(engine, "P", vec![("r05", delete()), ("r00", delete()), ("r05a", upsert(1))]).unwrap();
        let second = page(engine, &query, Some(&next));
        let rows: Vec<_> = keys_of(&second).into_iter().map(|(_, row_key)| row_key).collect();
        assert_eq!(rows, ["r05a", "r06", "r07", "r08"]);
    });
}

#[test]
fn page_2_a_position_without_a_row_starts_at_its_partition() {
    let engine = in_memory();
    let wanted = fill(&engine, &|| ());
    let query = Query::new(KeyRange::ALL);
    let position = Position { partition_key: "P".into(), row_key: None };
    let found = page(&engine, &query, Some(&Continuation::new(&employees(), &query, position)));
    assert_eq!(
        found.rows.len(),
        wanted.iter().filter(|(partition_key, ..)| !partition_key.is_empty()).count()
    );
}

#[test]
fn page_1_and_page_11_byte_and_scan_limits_end_pages_but_allow_progress() {
    everywhere(|engine, settle| {
        let wanted = fill(engine, settle);
        let state = engine.inner.state().unwrap();
        let id = engine.table_id(&state, &employees()).unwrap();
        let query = Query::new(KeyRange::ALL);
        for bounds in [
            PageBounds { examined: 1, ..PageBounds::DEFAULT },
            PageBounds { examined: 7, ..PageBounds::DEFAULT },
            PageBounds { examined_bytes: 1, ..PageBounds::DEFAULT },
            PageBounds { bytes: 1, ..PageBounds::DEFAULT },
            PageBounds { bytes: 100, ..PageBounds::DEFAULT },
            PageBounds { partition: true, ..PageBounds::DEFAULT },
        ] {
            let (mut found, mut from, mut pages) = (Vec::new(), None, 0);
            loop {
                let (page, _) = read(&state, (id, &employees()), &query, from.as_ref(), bounds).unwrap();
                assert!(page.rows_read.unwrap() <= bounds.examined);
                found.extend(keys_of(&page));
                pages += 1;
                match page.continuation {
                    Some(next) => from = Some(next),
                    None => break,
                }
            }
            let keys =
                wanted.iter().map(|(partition_key, row_key, _)| (partition_key.clone(), row_key.clone()));
            assert!(found.into_iter().eq(keys), "{bounds:?}");
            assert!(pages > 2, "{bounds:?}");
        }
    });
}

/// Tests that the size of the response limits a page. This size includes the keys of each entity and the names of missing selected properties (SEL-3).
#[test]
fn page_11_keys_and_selected_names_count_toward_the_size_of_a_page() {
    everywhere(|engine, settle| {
        for n in 0..8 {
            write(engine, &format!("{n}{}", "k".repeat(400)), insert(n)).unwrap();
        }
        settle();
        let state = engine.inner.state().unwrap();
        let id = engine.table_id(&state, &employees()).unwrap();
        let bounds = PageBounds { bytes: 2_000, ..PageBounds::DEFAULT };
        let short = Select::names(["N"]);
        let long = Select::names((0..4).map(|n| format!("{}{n}", "n".repeat(200))));
        for (select, rows) in [(Select::All, 4), (short, 4), (long, 1)] {
            let query = Query { select, ..Query::new(KeyRange::ALL) };
            let (page, _) = read(&state, (id, &employees()), &query, None, bounds).unwrap();
            assert_eq!((page.rows.len(), page.continuation.is_some()), (rows, true), "{:?}", query.select);
        }
    });
}

#[test]
fn sel_2_a_query_returns_the_selected_properties() {
    let engine = in_memory();
    let both = properties(&[("N", Value::Int32(1)), ("City", Value::from("Oslo"))]);
    write(&engine, "1", OperationKind::Insert(both)).unwrap();
    let query = Query { select: Select::names(["City"]), ..Query::new(KeyRange::partition("Sales")) };
    let found = page(&engine, &query, None);
    let entity = found.rows.iter().next().unwrap();
    assert_eq!((entity.row.len(), entity.etag()), (1, get(&engine, "Sales", "1").unwrap().etag));
}

#[test]
fn a_snapshot_is_stable_across_pages_and_lookups() {
    everywhere(|engine, settle| {
        let wanted = fill(engine, settle);
        let snapshot = engine.snapshot().unwrap();
        let query = Query { top: Some(10), ..Query::new(KeyRange::ALL) };
        let (mut found, mut from) = (Vec::new(), None);
        loop {
            let page = snapshot.query(&employees(), &query, from.as_ref()).unwrap();
            found.extend(keys_of(&page));
            for (partition_key, row_key) in keys_of(&page) {
                submit(engine, &partition_key, vec![(&row_key, delete())]).unwrap();
                let key = EntityKey::new(&*partition_key, &*row_key).unwrap();
                assert!(snapshot.get(&employees(), &key, &Select::All).unwrap().is_some());
            }
            settle();
            match page.continuation {
                Some(next) => from = Some(next),
                None => break,
            }
        }
        assert_eq!((found.len(), all(engine).len()), (wanted.len(), 0));
    });
}

#[test]
fn page_9_a_scan_fails_if_its_table_is_dropped_and_recreated() {
    everywhere(|engine, settle| {
        let fill = |n| {
            for key in ["1", "2", "3"] {
                write(engine, key, insert(n)).unwrap();
            }
            settle();
        };
        fill(1);
        let query = Query { top: Some(1), ..Query::new(KeyRange::ALL) };
        let first = page(engine, &query, None);
        wait(engine.delete_table(&employees())).unwrap();
        wait(engine.create_table(&employees())).unwrap();
        fill(2);
        let error = wait(engine.query(&employees(), &query, first.continuation.as_ref())).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("PAGE-9")));
        let again = page(engine, &query, None);
        let rest = page(engine, &query, again.continuation.as_ref());
        assert_eq!(number_of(&rest.rows.iter().next().unwrap().row.to_row()), 2);
    });
}

#[test]
fn fil_7_a_filter_of_many_comparisons_gives_shorter_pages_and_the_same_rows() {
    let engine = in_memory();
    for n in 0..50 {
        write(&engine, &format!("{n:03}"), insert(n)).unwrap();
    }
    let filter = vec!["N eq 49"; 20_000].join(" or ");
    let query = Query::parse(&filter).unwrap();
    let (mut found, mut read, mut from) = (0, Vec::new(), None);
    loop {
        let page = page(&engine, &query, from.as_ref());
        found += page.rows.len();
        read.push(page.rows_read.unwrap());
        from = page.continuation;
        if from.is_none() {
            break;
        }
    }
    assert_eq!((found, read.iter().sum::<u64>()), (1, 50));
    assert!(read.iter().all(|rows| *rows * 20_000 < 400_000), "{read:?}");
}
