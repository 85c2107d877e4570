//! Tests the table layouts of event stores: Microsoft's CQRS Journey, Streamon, and tagged events in Akka.NET.

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::{Engine, Entity, IfMatch, TableStoreExt};
use uuid::Uuid;

use super::{both_ways, instant, stored};

const ID: Uuid = Uuid::from_u128(0xABC);

/// An event of an aggregate. The `PartitionKey` is `{type}_{guid}`, and the `RowKey` is `{version:D10}`. Found in `microsoftarchive/cqrs-journey`,
/// folder `source/Infrastructure/Azure/Infrastructure.Azure/EventSourcing`, files `EventStore.cs` and `AzureEventSourcedRepository.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ConferenceEventStore")]
#[partition_key(source_type, "_", source_id)]
#[row_key(digits(10, version))]
struct AggregateEvent {
    #[property(also)]
    source_type: String,
    source_id: Uuid,
    version: u32,
    payload: String,
}

/// A second row for the same event, in the same partition. It is deleted once the event has been published. The `RowKey` is `Unpublished_{version:D10}`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ConferenceEventStore")]
#[partition_key(source_type, "_", source_id)]
#[row_key("Unpublished_", digits(10, version))]
struct UnpublishedEvent {
    #[property(also)]
    source_type: String,
    source_id: Uuid,
    version: u32,
    payload: String,
}

/// A logged message from any message bus. The `PartitionKey` is the month, and the `RowKey` is `{ticks:D20}_{message}`
/// (file `MessageLog/BrokeredMessageExtension.cs`; its month format `yyyMM` produces the same text as `yyyyMM` for all
/// years from 1000).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ConferenceMessageLog", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyyMM", enqueued_at)))]
#[row_key("0", enqueued_at, "_", message_id)]
struct LoggedMessage {
    enqueued_at: DateTime<Utc>,
    #[property(also)]
    message_id: String,
    kind: String,
}

#[test]
fn events_are_written_with_their_unpublished_copies() {
    let event = |version| AggregateEvent {
        source_type: "SeatsAvailability".to_owned(),
        source_id: ID,
        version,
        payload: "{}".to_owned(),
    };
    let copy = |version| UnpublishedEvent {
        source_type: "SeatsAvailability".to_owned(),
        source_id: ID,
        version,
        payload: "{}".to_owned(),
    };
    let partition = "SeatsAvailability_00000000-0000-0000-0000-000000000abc";
    both_ways(&event(7), (partition, "0000000007"));
    both_ways(&event(2_147_483_647), (partition, "2147483647"));
    both_ways(&copy(7), (partition, "Unpublished_0000000007"));
    let message = LoggedMessage {
        enqueued_at: instant("2024-02-28T09:05:07Z"),
        message_id: "m_1".to_owned(),
        kind: "Event".to_owned(),
    };
    both_ways(&message, ("202402", "00638447079070000000_m_1"));
    block_on(async {
        let events = Engine::in_memory().table::<AggregateEvent>().create_if_missing().await.unwrap();
        for version in [1, 2, 10] {
            let mut save = events.transaction(AggregateEvent::partition("SeatsAvailability", ID)).unwrap();
            save.insert(&event(version)).unwrap().insert(&copy(version)).unwrap();
            save.commit().await.unwrap();
        }
        // The copies are in the same partition, but not in the key range of the events.
        let later = AggregateEvent::rows("SeatsAvailability", ID).version(2..);
        assert_eq!(events.query(later).collect().await.unwrap(), [event(2), event(10)]);
        let copies = events.store().table::<UnpublishedEvent>();
        copies.delete(UnpublishedEvent::key("SeatsAvailability", ID, 1), IfMatch::Any).await.unwrap();
        let pending = copies.query(UnpublishedEvent::rows("SeatsAvailability", ID)).collect().await.unwrap();
        assert_eq!(pending, [copy(2), copy(10)]);
    });
}

/// An event in a stream. The `RowKey` consists of `SO-EVENT-` and the position of the event among the events of all streams,
/// in 20 digits. Found in `numindsoftware/Streamon`, folder `src/Streamon.Azure.TableStorage`, files
/// `EventExtensions.cs` and `TableStreamStoreOptions.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Streams")]
#[partition_key(stream)]
#[row_key("SO-EVENT-", digits(20, position))]
struct StreamedEvent {
    stream: String,
    position: u64,
    data: String,
}

/// The index from the position of an event to its stream. One partition contains the positions of all streams.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Streams", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("__GLOBAL-EVENT-INDEX__")]
#[row_key(digits(20, position))]
struct Position {
    position: u64,
    stream: String,
}

/// An event already handled by a consumer. The `PartitionKey` is `{subscription}|{consumer}` (file `Subscription/TableEventInboxStore.cs`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Inbox")]
#[partition_key(without('|', subscription), "|", consumer)]
#[row_key(event_id)]
struct HandledEvent {
    subscription: String,
    consumer: String,
    event_id: String,
}

#[test]
fn positions_of_all_streams_are_in_order() {
    let event = |position| StreamedEvent { stream: "cart-7".to_owned(), position, data: "{}".to_owned() };
    both_ways(&event(12), ("cart-7", "SO-EVENT-00000000000000000012"));
    both_ways(&event(u64::MAX), ("cart-7", "SO-EVENT-18446744073709551615"));
    let of = |position, stream: &str| Position { position, stream: stream.to_owned() };
    both_ways(&of(12, "cart-7"), ("__GLOBAL-EVENT-INDEX__", "00000000000000000012"));
    let handled = HandledEvent {
        subscription: "mail".to_owned(),
        consumer: "worker|1".to_owned(),
        event_id: "e1".to_owned(),
    };
    both_ways(&handled, ("mail|worker|1", "e1"));
    block_on(async {
        let positions = stored!(Position, [of(10, "b"), of(9, "a"), of(100, "a")]);
        let later = positions.query(Position::rows().position(10..)).collect().await.unwrap();
        assert_eq!(later, [of(10, "b"), of(100, "a")]);
    });
}

/// An event with a tag. The `PartitionKey` is `eventTagIdx-{tag}`, and the `RowKey` is `{ticks:d19}:{actor}:{sequence:d19}`. Found in
/// `petabridge/Akka.Persistence.Azure`, folder `src/Akka.Persistence.Azure`, files `TableEntities/EventTagEntry.cs` and `Util/SeqNoHelper.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Journal")]
#[partition_key("eventTagIdx-", tag)]
#[row_key(utc_ticks, ":", without(':', persistence_id), ":", digits(19, sequence))]
struct TaggedEvent {
    tag: String,
    utc_ticks: DateTime<Utc>,
    persistence_id: String,
    sequence: u64,
    #[property("payload")]
    payload: Vec<u8>,
}

/// The identifier of an actor. One partition contains the identifiers of all actors (file `AllPersistenceIdsEntry.cs`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Journal", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("allPersistenceIdsIdx")]
#[row_key(persistence_id)]
struct PersistenceId {
    persistence_id: String,
}

#[test]
fn events_with_a_tag_are_in_the_order_of_time() {
    let of = |at: &str, sequence| TaggedEvent {
        tag: "green".to_owned(),
        utc_ticks: instant(at),
        persistence_id: "user-1".to_owned(),
        sequence,
        payload: vec![1],
    };
    let event = of("2024-02-28T09:05:07Z", 3);
    both_ways(&event, ("eventTagIdx-green", "0638447079070000000:user-1:0000000000000000003"));
    let late = of("2024-02-28T09:05:07.250Z", 4);
    both_ways(&late, ("eventTagIdx-green", "0638447079072500000:user-1:0000000000000000004"));
    let id = PersistenceId { persistence_id: "user-1".to_owned() };
    both_ways(&id, ("allPersistenceIdsIdx", "user-1"));
    block_on(async {
        let events = stored!(TaggedEvent, [late.clone(), event.clone()]);
        let all = events.query(TaggedEvent::rows("green")).collect().await.unwrap();
        assert_eq!(all, [event, late.clone()]);
        let since = TaggedEvent::rows("green").utc_ticks(late.utc_ticks..);
        assert_eq!(events.query(since).collect().await.unwrap(), [late]);
    });
}
