//! Tests that the faults set in the options are injected (ENG-14).

use std::num::{NonZeroU32, NonZeroUsize};

use super::*;
use crate::FaultInjection;

fn with_faults(faults: FaultInjection) -> Engine {
    with_table(EngineOptions::new().faults(faults).in_memory())
}

#[test]
fn eng_14_empty_and_short_pages_have_tokens_and_lose_nothing() {
    let engine = with_faults(FaultInjection {
        empty_page_every: NonZeroU32::new(1),
        page_entities: NonZeroUsize::new(2),
        ..FaultInjection::default()
    });
    for n in 0..7 {
        write(&engine, &n.to_string(), insert(n)).unwrap();
    }
    let query = Query::new(KeyRange::partition("Sales"));
    let (mut sizes, mut from) = (Vec::new(), None);
    loop {
        let page = wait(engine.query(&employees(), &query, from.as_ref())).unwrap();
        sizes.push(page.rows.len());
        match page.continuation {
            Some(next) => from = Some(next),
            None => break,
        }
    }
    assert_eq!(sizes, [2, 0, 2, 0, 2, 0, 1]);
}

#[test]
fn eng_14_a_busy_write_is_not_applied_and_con_11_one_with_a_lost_response_is() {
    let engine = with_faults(FaultInjection { busy_every: NonZeroU32::new(2), ..FaultInjection::default() });
    let error = write(&engine, "1", insert(1)).unwrap_err();
    assert!(error.is_throttled());
    assert_eq!(number(&engine, "1"), None);

    let engine =
        with_faults(FaultInjection { lose_answer_every: NonZeroU32::new(2), ..FaultInjection::default() });
    write(&engine, "1", insert(1)).unwrap();
    let error = write(&engine, "2", insert(2)).unwrap_err();
    assert!(error.is_ambiguous());
    assert_eq!(number(&engine, "2"), Some(2));
}

#[test]
fn eng_14_pages_end_with_their_partition_if_requested() {
    let engine = with_faults(FaultInjection { partition_pages: true, ..FaultInjection::default() });
    for partition_key in ["A", "B", "C"] {
        submit(&engine, partition_key, vec![("1", insert(1)), ("2", insert(2))]).unwrap();
    }
    let page = wait(engine.query(&employees(), &Query::new(KeyRange::ALL), None)).unwrap();
    assert_eq!((page.rows.len(), page.continuation.is_some()), (2, true));
    assert_eq!(all(&engine).len(), 6);
}
