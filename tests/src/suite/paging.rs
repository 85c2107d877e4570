//! Test scenarios for pages and continuations (PAGE rules).

use table_core::query::{KeyRange, Query, Select};
use table_core::{ErrorCode, Filter, IfMatch, TableStore};

use super::scene::{Scene, a, refused, row_keys};

fn partition(top: usize) -> Query {
    Query { top: Some(top), ..Query::new(KeyRange::partition("p")) }
}

pub async fn page_1_a_page_has_at_most_a_thousand_entities<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 1_001).await;
    let query = Query::new(KeyRange::partition("p"));
    let page = scene.page(&query, None).await.unwrap();
    assert!(page.keys.len() <= 1_000 && page.next.is_some());
    assert_eq!(scene.keys(&query).await.len(), 1_001);
}

pub async fn page_3_and_4_pages_of_every_size_give_the_whole_answer_once<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 13).await;
    for (top, filter) in
        (1..=14).flat_map(|top| ["", "A ge 9", "A eq 12", "A lt 0"].map(|filter| (top, filter)))
    {
        let query = Query { filter: Filter::parse(filter).unwrap(), ..partition(top) };
        let expected = match filter {
            "" => 13,
            "A ge 9" => 4,
            "A eq 12" => 1,
            _ => 0,
        };
        assert_eq!(scene.keys(&query).await.len(), expected, "{top} {filter}");
    }
}

pub async fn page_5_the_last_page_has_no_continuation<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 10).await;
    let first = scene.page(&partition(5), None).await.unwrap();
    assert_eq!(first.keys.len(), 5);
    let second = scene.page(&partition(5), first.next.as_ref()).await.unwrap();
    assert_eq!((second.keys.len(), second.next.is_none()), (5, true));
}

pub async fn page_6_a_continuation_is_the_next_entity_and_survives_its_deletion<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 6).await;
    let first = scene.page(&partition(2), None).await.unwrap();
    scene.delete("p", "0002", IfMatch::Any).await.unwrap();
    let second = scene.page(&partition(2), first.next.as_ref()).await.unwrap();
    assert_eq!(row_keys(&second.keys), ["0003", "0004"]);
}

pub async fn page_7_a_continuation_holds_no_state_and_can_be_used_again<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 6).await;
    let first = scene.page(&partition(3), None).await.unwrap();
    scene.insert("p", "00005", a(1)).await.unwrap(); // before the position: not seen
    for _ in 0..3 {
        let again = scene.page(&partition(3), first.next.as_ref()).await.unwrap();
        assert_eq!(row_keys(&again.keys), ["0003", "0004", "0005"]);
    }
}

pub async fn page_9_a_continuation_of_another_query_is_refused<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 6).await;
    scene.fill_numbers("q", 6).await;
    let next = scene.page(&partition(3), None).await.unwrap().next;
    let others = [
        Query { top: Some(3), ..Query::new(KeyRange::partition("q")) },
        Query { filter: Filter::parse("A ge 0").unwrap(), ..partition(3) },
        Query { select: Select::names(["A"]), ..partition(3) },
    ];
    for other in others {
        refused(scene.page(&other, next.as_ref()).await, ErrorCode::InvalidInput);
    }
    let elsewhere = Scene::new(store).await;
    refused(elsewhere.page(&partition(3), next.as_ref()).await, ErrorCode::InvalidInput);
}

pub async fn page_1_pages_continue_across_partitions<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    for partition in ["a", "b", "c"] {
        scene.fill_numbers(partition, 5).await;
    }
    for top in [1, 2, 3, 5, 7, 15, 16] {
        let query = Query { top: Some(top), ..Query::new(KeyRange::ALL) };
        assert_eq!(scene.keys(&query).await.len(), 15, "{top}");
    }
}

pub async fn page_11_large_entities_are_all_returned<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    for number in 0..40 {
        scene.insert("p", &format!("{number:02}"), a(vec![7_u8; 60_000])).await.unwrap();
    }
    assert_eq!(scene.keys(&Query::new(KeyRange::partition("p"))).await.len(), 40);
}

pub async fn con_9_what_exists_throughout_is_returned_exactly_once<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.fill_numbers("p", 20).await;
    let (mut seen, mut from, mut turn) = (Vec::new(), None, 0);
    loop {
        let page = scene.page(&partition(3), from.as_ref()).await.unwrap();
        seen.extend(page.keys.into_iter().map(|(_, row_key)| row_key));
        // During the read, rows before and after its current position are inserted, changed and deleted.
        scene.insert_or_replace("p", &format!("000{turn}x"), a(1)).await.unwrap();
        scene.insert_or_replace("p", &format!("001{turn}x"), a(1)).await.unwrap();
        scene.merge("p", "0019", a(turn), IfMatch::Any).await.unwrap();
        turn += 1;
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    seen.retain(|row_key| !row_key.ends_with('x'));
    assert_eq!(seen, (0..20).map(|number| format!("{number:04}")).collect::<Vec<_>>());
}
