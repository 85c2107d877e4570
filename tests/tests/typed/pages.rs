//! Tests that the pages of a query contain exactly the rows that the query collects. Every class of selection is tested, on stores that split results into
//! pages in different ways.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};

use chrono::NaiveDate;
use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::{EngineOptions, FaultInjection};
use table_core::query::{EntityRef, Position, Query};
use table_core::selection::{IntoSelection, PagedOf};
use table_core::testing::LimitedStore;
use table_core::{
    Continuation, Engine, Entity, FromEntity, IndexEntry, Selection, Table, TableEntity, TableName,
    TableStore, TableStoreExt, Versioned,
};
use tests::faults::{Control, mend, spoil};

/// A visit. The visits of each day are distributed over four partitions by user.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Visits")]
#[partition_key(bucket(user, 4), "_", day)]
#[row_key("visit_", user, "_", digits(4, number))]
#[index(ByDay, partition_key("day_", day), row_key(user, "_", digits(4, number)))]
struct Visit {
    user: u64,
    day: NaiveDate,
    number: u32,
}

/// An event. Its streams sort before and after the partitions of its indexes.
#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Events")]
#[partition_key(stream)]
#[row_key("event_", version)]
#[index(ByKind, partition_key("kind_", kind), row_key(version, "_", stream))]
#[index(ByVersion, partition_key("m_", version), row_key(stream))]
#[index(OfStream, row_key("kind_", kind, "_", version))]
struct Event {
    stream: String,
    #[digits(4)]
    version: u16,
    #[without('_')]
    kind: String,
}

fn day(day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(2024, 2, day).unwrap()
}

fn visits() -> impl Strategy<Value = Vec<Visit>> {
    let visit = (0_u64..9, 1_u32..6, 0_u32..3);
    let visit = visit.prop_map(|(user, on, number)| Visit { user, day: day(on), number });
    prop::collection::vec(visit, 0..30)
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let stream = prop_oneof!["[a-z]", Just("kind`".to_owned()), Just("m`".to_owned())];
    let event = (stream, 0_u16..3, "[ab]");
    let event = event.prop_map(|(stream, version, kind)| Event { stream, version, kind });
    prop::collection::vec(event, 0..30)
}

fn faults() -> impl Strategy<Value = FaultInjection> {
    (prop::option::of(2_u32..4), prop::option::of(1_usize..4), any::<bool>()).prop_map(
        |(empty_page_every, page_entities, partition_pages)| FaultInjection {
            empty_page_every: empty_page_every.and_then(NonZeroU32::new),
            page_entities: page_entities.and_then(NonZeroUsize::new),
            partition_pages,
            ..FaultInjection::default()
        },
    )
}

/// Writes entities and the rows of their indexes.
fn filled<E: Entity>(faults: FaultInjection, entities: &[E]) -> Engine {
    let engine = EngineOptions::new().faults(faults).in_memory();
    block_on(async {
        let table = engine.untyped(E::SCHEMA.table).unwrap().create_if_missing().await.unwrap();
        for entity in entities {
            let own = IndexEntry { key: entity.key_of().unwrap(), row: entity.to_row().unwrap() };
            let entries = E::INDEXES.iter().filter_map(|index| index.entry(entity).unwrap());
            for IndexEntry { key, row } in [own].into_iter().chain(entries) {
                let bag = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
                table.insert_or_replace(&TableEntity::from_entity(bag).unwrap()).await.unwrap();
            }
        }
    });
    engine
}

/// Reads page by page and returns all rows. Each continuation is converted to text and parsed again.
fn paged<E: Entity, S: TableStore + Clone, C: PagedOf<E>>(
    table: &Table<E, S>,
    selection: &Selection<E, C>,
    page_size: usize,
) -> Vec<E> {
    let query = table.query(selection.clone()).page_size(page_size);
    let (mut found, mut page) = (Vec::new(), block_on(query.page()).unwrap());
    loop {
        found.extend(page.items.into_iter().map(Versioned::into_value));
        let Some(next) = page.continuation else { return found };
        let next: Continuation = next.to_string().parse().unwrap();
        page = block_on(query.page_from(&next)).unwrap();
    }
}

/// Checks a selection with and without index rows in its ranges. It is read from a store with ordered pages, and from a store with unordered pages.
fn check<E: Entity + Clone + std::fmt::Debug + PartialEq, C: PagedOf<E>>(
    engine: &Engine,
    selection: impl IntoSelection<E, C>,
    page_size: usize,
) -> Result<(), TestCaseError> {
    let selection = selection.into_selection();
    let ordered = engine.table::<E>();
    let unordered = LimitedStore::new(engine.clone(), |it| it.ordered = false).shuffled(3).table::<E>();
    for selection in [selection.clone(), selection.own_rows()] {
        let collected = block_on(ordered.query(selection.clone()).collect()).unwrap();
        prop_assert_eq!(paged(&ordered, &selection, page_size), collected, "{:?}", selection);
        let collected = block_on(unordered.query(selection.clone()).collect()).unwrap();
        prop_assert_eq!(paged(&unordered, &selection, page_size), collected, "{:?}", selection);
    }
    Ok(())
}

fn keys<E: Entity>(entities: &[E]) -> BTreeSet<String> {
    entities.iter().map(|entity| entity.key_of().unwrap().to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_pages_of_distributed_partitions_contain_the_collected_rows(
        visits in visits(), faults in faults(), page_size in 1_usize..5, user in 0_u64..9, on in 1_u32..6,
    ) {
        let engine = filled(faults, &visits);
        check(&engine, Visit::partition_of(user, day(on)), page_size)?;
        check(&engine, Visit::all_partitions(day(on)), page_size)?;
        check(&engine, Visit::rows(day(on)).user_is(user), page_size)?;
        check(&engine, Visit::partitions_by_day(..), page_size)?;
        check(&engine, Visit::partitions_by_day(day(on)..), page_size)?;
        check(&engine, Visit::partitions_by_day(day(on)..=day(on)), page_size)?;
        let all = Visit::partitions_by_day(..).own_rows();
        prop_assert_eq!(keys(&paged(&engine.table(), &all, page_size)), keys(&visits));
    }

    #[test]
    fn the_pages_around_the_partitions_of_indexes_contain_the_collected_rows(
        events in events(), faults in faults(), page_size in 1_usize..5, from in "[a-z]",
    ) {
        let engine = filled(faults, &events);
        check(&engine, Event::partition(&from), page_size)?;
        check(&engine, Event::rows(&from).version(1..), page_size)?;
        check(&engine, Event::partitions_by_stream(from.as_str()..), page_size)?;
        check(&engine, Event::partitions_by_stream_prefix("k"), page_size)?;
        let all = Event::partitions_by_stream(..).own_rows();
        prop_assert_eq!(all.ranges().unwrap().len(), 2);
        prop_assert_eq!(keys(&paged(&engine.table(), &all, page_size)), keys(&events));
    }
}

/// Tests that a query can be continued at the start of a partition. Earlier releases wrote this position without a row.
#[test]
fn the_start_of_a_partition_from_an_earlier_release_is_continued() {
    let visits: Vec<_> = (0..9).map(|user| Visit { user, day: day(1), number: 1 }).collect();
    let engine = filled(FaultInjection::default(), &visits);
    let store = LimitedStore::new(engine, |it| it.ordered = false).shuffled(3);
    let query = store.table::<Visit>().query(Visit::all_partitions(day(1)));
    let ranges = Visit::all_partitions(day(1)).into_ranges().unwrap();
    let partition_key = ranges[1].partition_key.single().unwrap().to_owned();
    let position = Position { partition_key, row_key: None };
    let name = TableName::new("Visits").unwrap();
    let page = block_on(query.page_from(Continuation::new(&name, &Query::new(ranges[1].clone()), position)));
    let in_partition =
        |it: &&Visit| ranges[1].contains(it.key_of().unwrap().partition_key.as_str(), "visit_");
    assert_eq!(page.unwrap().items.len().min(3), visits.iter().filter(in_partition).count().min(3));
}

/// A note without indexes.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes")]
#[partition_key(user)]
#[row_key(number)]
struct Note {
    user: u32,
    number: u32,
}

/// Tests entities that the store cannot represent. Pages omit and count them, and functions without pages omit them.
#[test]
fn pages_count_the_rows_that_they_omit() {
    let engine = Engine::in_memory();
    let notes = block_on(engine.table::<Note>().create_if_missing()).unwrap();
    let all: Vec<_> = (0..9).map(|number| Note { user: 1, number }).collect();
    for note in &all {
        block_on(notes.insert(note)).unwrap();
    }
    let name = TableName::new("Notes").unwrap();
    for note in [&all[3], &all[8]] {
        assert!(block_on(spoil(&engine, &name, &note.key_of().unwrap())).unwrap());
    }
    let notes = Control::default().misreading().over(engine.clone()).table::<Note>();
    let query = || notes.query(Note::partition(1)).page_size(4);
    let (mut counts, mut page) = (Vec::new(), block_on(query().page()).unwrap());
    loop {
        counts.push((page.items.len(), page.skipped));
        let Some(continuation) = page.continuation else { break };
        page = block_on(query().page_from(&continuation)).unwrap();
    }
    assert_eq!(counts, [(3, 1), (4, 0), (0, 1)]);
    assert_eq!(block_on(query().collect()).unwrap().len(), 7);
    assert_eq!(block_on(query().count()).unwrap(), 7);
    block_on(mend(&engine, &name)).unwrap();
    assert_eq!(block_on(query().collect()).unwrap(), all);
}
