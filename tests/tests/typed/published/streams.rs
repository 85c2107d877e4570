//! Tests the table layouts of event streams: Streamstone, journals of actor frameworks, and an event store with descending numbers.

use std::collections::BTreeMap;

use pollster::block_on;
use table_core::{ETag, Engine, Entity, EntitySet, ErrorCode, TableEntity, TableStoreExt, Value};
use uuid::Uuid;

use super::{both_ways, stored};

/// The head row of a `Streamstone` stream. The partition of the stream also contains its events, and one row for each event
/// identifier. These rows prevent the same event from being written twice.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Streams")]
#[partition_key(stream)]
#[row_key("SS-HEAD")]
struct StreamHead {
    stream: String,
    version: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Streams")]
#[partition_key(stream)]
#[row_key("SS-SE-", digits(10, version))]
struct StreamEvent {
    stream: String,
    #[property(also)]
    version: u32,
    data: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Streams")]
#[partition_key(stream)]
#[row_key("SS-UID-", id)]
struct StreamEventId {
    stream: String,
    id: Uuid,
    version: i32,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum StreamRow {
    Head(StreamHead),
    Event(StreamEvent),
    Id(StreamEventId),
    #[other]
    Other(TableEntity),
}

#[test]
fn a_stream_is_appended_to_with_its_head_and_its_identifiers() {
    let stream = || "account-1".to_owned();
    let head = |version| StreamHead { stream: stream(), version };
    let event = |version, data: &str| {
        StreamRow::Event(StreamEvent { stream: stream(), version, data: data.to_owned() })
    };
    let id =
        |id, version| StreamRow::Id(StreamEventId { stream: stream(), id: Uuid::from_u128(id), version });
    both_ways(&head(2), ("account-1", "SS-HEAD"));
    let StreamRow::Event(second) = event(2, "deposited") else { panic!("an event") };
    both_ways(&second, ("account-1", "SS-SE-0000000002"));
    let StreamRow::Id(seventh) = id(7, 2) else { panic!("an identifier") };
    both_ways(&seventh, ("account-1", "SS-UID-00000000-0000-0000-0000-000000000007"));
    block_on(async {
        let rows = Engine::in_memory().set::<StreamRow>().create_if_missing().await.unwrap();
        let heads = rows.store().table::<StreamHead>();
        let append = async |head: StreamHead, etag: Option<ETag>, id: StreamRow| {
            let mut append = rows.transaction(&id).unwrap();
            match etag {
                Some(etag) => append.replace(&head, etag).unwrap(),
                None => append.insert(&head).unwrap(),
            };
            append.insert(&event(head.version.unsigned_abs(), "deposited")).unwrap().insert(&id).unwrap();
            append.commit().await
        };
        append(head(1), None, id(1, 1)).await.unwrap();
        let read = heads.get(StreamHead::key("account-1")).await.unwrap().unwrap();
        append(head(2), Some(read.etag().clone()), id(2, 2)).await.unwrap();

        // If two writers append after the same version, one of them fails. No event is written twice.
        let behind = append(head(2), Some(read.etag().clone()), id(3, 2)).await.unwrap_err();
        assert_eq!(behind.code(), ErrorCode::UpdateConditionNotSatisfied);
        let read = heads.get(StreamHead::key("account-1")).await.unwrap().unwrap();
        let twice = append(head(3), Some(read.etag().clone()), id(1, 3)).await.unwrap_err();
        assert_eq!((twice.code(), twice.operation()), (ErrorCode::EntityAlreadyExists, Some(2)));

        let all =
            heads.query(StreamHead::partition("account-1")).read_as::<StreamRow>().collect().await.unwrap();
        let expected =
            [StreamRow::Head(head(2)), event(1, "deposited"), event(2, "deposited"), id(1, 1), id(2, 2)];
        assert_eq!(all, expected);
        let events = rows.store().table::<StreamEvent>();
        let later = events.query(StreamEvent::rows("account-1").version(2..)).collect().await.unwrap();
        assert_eq!(later.len(), 1);
    });
}

/// An event in a journal of `Akka.Persistence.Azure`. The `PartitionKey` is the actor, and the `RowKey` is the sequence number, padded to 19 digits. The
/// partition also contains the head row of the journal.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Journal")]
#[partition_key(persistence_id)]
#[row_key(sequence)]
struct JournalEvent {
    persistence_id: String,
    #[digits(19)]
    sequence: u64,
    payload: Vec<u8>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Journal")]
#[partition_key(persistence_id)]
#[row_key("highestSequenceNr")]
struct JournalHead {
    persistence_id: String,
    highest: i64,
}

#[test]
fn the_journal_of_the_actor_framework() {
    let of = |sequence| JournalEvent { persistence_id: "user-1".to_owned(), sequence, payload: vec![0] };
    let head = JournalHead { persistence_id: "user-1".to_owned(), highest: 3 };
    both_ways(&of(7), ("user-1", "0000000000000000007"));
    both_ways(&head, ("user-1", "highestSequenceNr"));
    block_on(async {
        let store = Engine::in_memory();
        let events = store.table::<JournalEvent>().create_if_missing().await.unwrap();
        let heads = store.table::<JournalHead>().create_if_missing().await.unwrap();
        for sequence in 1..=3 {
            events.insert(&of(sequence)).await.unwrap();
        }
        heads.insert(&head).await.unwrap();
        // The head row is in the same partition, but not in the range.
        let replayed = events.query(JournalEvent::rows("user-1").sequence(2..)).collect().await.unwrap();
        assert_eq!(replayed.iter().map(|event| event.sequence).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(heads.get(JournalHead::key("user-1")).await.unwrap().unwrap().highest, 3);
    });
}

/// A row in a journal of `Orleans.Journaling.AzureStorage` (class `AzureTableJournalStorage`). The `PartitionKey` is the percent-encoded journal name, and the
/// `RowKey` is `{generation}-{sequence:D12}`. The same partition contains the head row `$header`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "journal")]
#[partition_key(percent(journal))]
#[row_key(generation, "-", digits(12, sequence))]
struct JournalRow {
    journal: String,
    #[without('-')]
    generation: String,
    sequence: u64,
    #[property("Data00")]
    first_chunk: Vec<u8>,
    #[property(rest)]
    more: BTreeMap<String, Value>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "journal")]
#[partition_key(percent(journal))]
#[row_key("$header")]
struct JournalManifest {
    journal: String,
    format: String,
    generation: String,
    row_count: i64,
    length: i64,
}

#[test]
fn the_journals_of_grains() {
    let of = |generation: &str, sequence| JournalRow {
        journal: "cart/7 of Zoë".to_owned(),
        generation: generation.to_owned(),
        sequence,
        first_chunk: vec![1, 2],
        more: BTreeMap::from([("Data01".to_owned(), Value::Binary(vec![3]))]),
    };
    let head = JournalManifest {
        journal: "cart/7 of Zoë".to_owned(),
        format: "json".to_owned(),
        generation: "9f1c".to_owned(),
        row_count: 3,
        length: 9,
    };
    both_ways(&of("9f1c", 12), ("cart%2F7%20of%20Zo%C3%AB", "9f1c-000000000012"));
    both_ways(&head, ("cart%2F7%20of%20Zo%C3%AB", "$header"));
    block_on(async {
        let rows =
            stored!(JournalRow, [of("0abc", 0), of("0abc", 1), of("9f1c", 0), of("9f1c", 1), of("9f1c", 2)]);
        let heads = rows.store().table::<JournalManifest>();
        heads.insert(&head).await.unwrap();
        // The head contains the current generation. The rows of this generation form one range. To read from a given version, a shorter range is used.
        let read = heads.get(JournalManifest::key("cart/7 of Zoë")).await.unwrap().unwrap();
        let generation = || JournalRow::rows("cart/7 of Zoë").generation_is(read.generation.as_str());
        let all = rows.query(generation()).collect().await.unwrap();
        assert_eq!(all, [of("9f1c", 0), of("9f1c", 1), of("9f1c", 2)]);
        let later = rows.query(generation().sequence(1..)).collect().await.unwrap();
        assert_eq!(later, [of("9f1c", 1), of("9f1c", 2)]);
    });
}

/// An event in `Microsoft.Its.EventStore.AzureTableStorage`. The `RowKey` is `long.MaxValue` minus the number of the event, in 20 digits (function
/// `ToRowKey`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(aggregate)]
#[row_key("0", inverted(9_223_372_036_854_775_807, sequence))]
struct AggregateEvent {
    aggregate: String,
    sequence: u64,
    #[property("Type")]
    kind: String,
}

#[test]
fn the_newest_events_of_an_aggregate_first() {
    let of =
        |sequence| AggregateEvent { aggregate: "order-7".to_owned(), sequence, kind: "Placed".to_owned() };
    both_ways(&of(42), ("order-7", "09223372036854775765"));
    block_on(async {
        let events = stored!(AggregateEvent, [of(1), of(9), of(10), of(42)]);
        let newest = events.query(AggregateEvent::rows("order-7")).page_size(2).page().await.unwrap();
        assert_eq!(newest.items.iter().map(|event| event.sequence).collect::<Vec<_>>(), [42, 10]);
        let since = events.query(AggregateEvent::rows("order-7").sequence(9..=10)).collect().await.unwrap();
        assert_eq!(since, [of(10), of(9)]);
    });
}
