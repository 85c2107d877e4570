//! Tests the table layouts of function hosts and message brokers: diagnostic events, delayed messages, stream reader checkpoints, and large values split into
//! segments.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::query::QueryClass;
use table_core::{Engine, Entity, TableStoreExt, Value};
use uuid::Uuid;

use super::{both_ways, instant};

/// A diagnostic event of an Azure Functions host. The `PartitionKey` is `{host}-{yyyyMMdd}`, where `host` may contain `-`. The `RowKey` is
/// `{ticks:D19}-{guid}` with inverted ticks, and newer events therefore sort first (class `DiagnosticEvent`, function `TableStorageHelpers.GetRowKey`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AzureFunctionsDiagnosticEvents202402")]
#[partition_key(host, "-", truncate(pattern("yyyyMMdd", at)))]
#[row_key(desc(at), "-", id)]
struct HostEvent {
    host: String,
    at: DateTime<Utc>,
    id: Uuid,
    hit_count: i32,
    level: i32,
    message: String,
    #[property(rest)]
    rest: BTreeMap<String, Value>,
}

#[test]
fn the_events_of_the_functions_host() {
    let of = |at: &str, id| HostEvent {
        host: "shop-prod".to_owned(),
        at: instant(at),
        id: Uuid::from_u128(id),
        hit_count: 3,
        level: 4,
        message: "A storage account is not reachable".to_owned(),
        rest: BTreeMap::from([("EventVersion".to_owned(), Value::from("2024-05-01"))]),
    };
    let event = of("2024-02-28T09:05:07Z", 0xABC);
    let row_key = "2516931896929999999-00000000-0000-0000-0000-000000000abc";
    both_ways(&event, ("shop-prod-20240228", row_key));
    block_on(async {
        let events = Engine::in_memory().table::<HostEvent>().create_if_missing().await.unwrap();
        for (at, id) in [("2024-02-28T09:05:07Z", 0xABC), ("2024-02-28T10:00:00Z", 1)] {
            events.insert(&of(at, id)).await.unwrap();
        }
        let day = instant("2024-02-28T00:00:00Z");
        let newest = events.query(HostEvent::rows("shop-prod", day)).page_size(1).page().await.unwrap();
        assert_eq!(newest.items[0].id.as_u128(), 1);
        let hour = instant("2024-02-28T09:00:00Z")..instant("2024-02-28T10:00:00Z");
        assert_eq!(
            events.query(HostEvent::rows("shop-prod", day).at(hour)).collect().await.unwrap(),
            [event]
        );
    });
}

/// A timeout in `NServiceBus.Persistence.AzureTable`. The `PartitionKey` is the hour of the timeout. The keys in the test come from the page "Azure Storage
/// Persistence" of its documentation, where the table is called `TimeoutDataTableName`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "TimeoutDataTableName", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(hour(time)))]
#[row_key(id)]
struct Timeout {
    time: DateTime<Utc>,
    id: Uuid,
    destination: String,
    owning_timeout_manager: String,
    saga_id: Uuid,
    state_address: String,
}

/// A delayed message of `NServiceBus.Transport.AzureStorageQueues`. The `PartitionKey` is the hour the message is due. The `RowKey` consists of the second and
/// the identifier of the message (class `DelayedMessageEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Delays", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(hour(due)))]
#[row_key(pattern("yyyyMMddHHmmss", due), "_", message_id)]
struct DelayedMessage {
    due: DateTime<Utc>,
    #[property(also)]
    message_id: String,
    destination: String,
    body: Vec<u8>,
    headers: String,
}

#[test]
fn the_timeouts_and_delayed_messages_of_a_service_bus() {
    let of = |time: &str, id: &str| Timeout {
        time: instant(time),
        id: id.parse().unwrap(),
        destination: "Samples.Azure.StoragePersistence.Server@RETINA".to_owned(),
        owning_timeout_manager: "Samples.Azure.StoragePersistence.Server".to_owned(),
        saga_id: "21a6f7ed-65d2-42ff-a4d3-a50e00ea76ba".parse().unwrap(),
        state_address: id.to_owned(),
    };
    let timeout = of("2015-09-09T18:06:59Z", "06800d44-9fc4-49b5-a9e9-a50e00ea76c0");
    both_ways(&timeout, ("2015090918", "06800d44-9fc4-49b5-a9e9-a50e00ea76c0"));
    let message = |due: &str, id: &str| DelayedMessage {
        due: instant(due),
        message_id: id.to_owned(),
        destination: "shop".to_owned(),
        body: vec![1],
        headers: "{}".to_owned(),
    };
    let delayed = message("2024-02-28T09:05:07Z", "a_b");
    both_ways(&delayed, ("2024022809", "20240228090507_a_b"));
    block_on(async {
        let timeouts = Engine::in_memory().table::<Timeout>().create_if_missing().await.unwrap();
        timeouts.insert(&timeout).await.unwrap();
        let later = of("2015-09-09T19:00:00Z", "06800d44-9fc4-49b5-a9e9-a50e00ea76c1");
        timeouts.insert(&later).await.unwrap();
        let now = instant("2015-09-09T18:30:00Z");
        let due = Timeout::partitions_by_time(instant("2015-09-09T00:00:00Z")..=now);
        let due = timeouts.query(due).filter(Timeout::TIME.le(now)).collect().await.unwrap();
        assert_eq!(due, [timeout]);

        let delays = Engine::in_memory().table::<DelayedMessage>().create_if_missing().await.unwrap();
        for due in [&delayed, &message("2024-02-28T09:05:08Z", "c"), &message("2024-02-28T09:59:59Z", "d")] {
            delays.insert(due).await.unwrap();
        }
        let until = instant("2024-02-28T09:05:08Z");
        let due = DelayedMessage::rows(until).due(..=until);
        assert_eq!(delays.query(due.clone()).plan().unwrap().class, QueryClass::Range);
        let due = delays.query(due).collect().await.unwrap();
        assert_eq!(due.iter().map(|due| due.message_id.as_str()).collect::<Vec<_>>(), ["a_b", "c"]);
    });
}

/// The checkpoint of an Event Hubs reader, which records how far a partition has been read. The `PartitionKey` is
/// `{namespace} {hub} {group} Checkpoint`. Found in the package `@azure/eventhubs-checkpointstore-table`, whose tests
/// contain the names used here.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Positions")]
#[partition_key(without(' ', namespace), " ", without(' ', hub), " ", group, " Checkpoint")]
#[row_key(partition)]
struct Checkpoint {
    namespace: String,
    hub: String,
    group: String,
    partition: String,
    #[property("sequencenumber")]
    sequence_number: String,
    #[property("offset")]
    offset: String,
}

/// The record of the reader that owns a partition of an event hub. It is stored in the same table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Positions")]
#[partition_key(without(' ', namespace), " ", without(' ', hub), " ", group, " Ownership")]
#[row_key(partition)]
struct Ownership {
    namespace: String,
    hub: String,
    group: String,
    partition: String,
    #[property("ownerid")]
    owner_id: String,
}

#[test]
fn the_checkpoints_of_event_hubs() {
    let of = |partition: &str| Checkpoint {
        namespace: "red.servicebus.windows.net".to_owned(),
        hub: "blueHub".to_owned(),
        group: "$default".to_owned(),
        partition: partition.to_owned(),
        sequence_number: "100".to_owned(),
        offset: "1023".to_owned(),
    };
    both_ways(&of("0"), ("red.servicebus.windows.net blueHub $default Checkpoint", "0"));
    let owner = Ownership {
        namespace: "red.servicebus.windows.net".to_owned(),
        hub: "blueHub".to_owned(),
        group: "$default".to_owned(),
        partition: "0".to_owned(),
        owner_id: "reader-1".to_owned(),
    };
    both_ways(&owner, ("red.servicebus.windows.net blueHub $default Ownership", "0"));
    block_on(async {
        let store = Engine::in_memory();
        let checkpoints = store.table::<Checkpoint>().create_if_missing().await.unwrap();
        let owners = store.table::<Ownership>().create_if_missing().await.unwrap();
        for partition in ["0", "1"] {
            checkpoints.insert(&of(partition)).await.unwrap();
        }
        let etag = owners.insert(&owner).await.unwrap();
        let all = Checkpoint::partition("red.servicebus.windows.net", "blueHub", "$default");
        assert_eq!(checkpoints.query(all).collect().await.unwrap(), [of("0"), of("1")]);
        // A reader can claim a partition only if the partition's owner has not changed since the reader read it.
        let claimed = Ownership { owner_id: "reader-2".to_owned(), ..owner.clone() };
        owners.replace(&claimed, etag.clone()).await.unwrap();
        assert!(owners.replace(&owner, etag).await.unwrap_err().is_conflict());
    });
}

/// A segment of a large value in `NuGet.Insights`. The `RowKey` is `{key}~{index:D2}`. The first segment contains the number of segments. The
/// properties `D` to `S` contain chunks of 64 KiB (class `WideEntitySegment`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "PackageManifests")]
#[partition_key(id)]
#[row_key(version, "~", digits(2, index))]
struct Segment {
    id: String,
    version: String,
    index: u8,
    #[property("C")]
    count: Option<i32>,
    #[property("D")]
    first: Vec<u8>,
    #[property(rest)]
    more: BTreeMap<String, Value>,
}

#[test]
fn the_segments_of_large_values() {
    let of = |version: &str, index, count| Segment {
        id: "newtonsoft.json".to_owned(),
        version: version.to_owned(),
        index,
        count,
        first: vec![7; 65_536],
        more: BTreeMap::from([("E".to_owned(), Value::Binary(vec![8]))]),
    };
    // The part before the index may contain the separator because the index has a fixed width.
    both_ways(&of("1.0.0~beta", 12, None), ("newtonsoft.json", "1.0.0~beta~12"));
    block_on(async {
        let segments = Engine::in_memory().table::<Segment>().create_if_missing().await.unwrap();
        for (index, count) in [(0, Some(2)), (1, None)] {
            segments.insert(&of("13.0.1", index, count)).await.unwrap();
        }
        let first = segments.get(Segment::key("newtonsoft.json", "13.0.1", 0)).await.unwrap().unwrap();
        assert_eq!((first.count, first.more.len()), (Some(2), 1));
        let all = segments.query(Segment::partition("newtonsoft.json")).collect().await.unwrap();
        assert_eq!(all.iter().map(|segment| segment.index).collect::<Vec<_>>(), [0, 1]);
    });
}
