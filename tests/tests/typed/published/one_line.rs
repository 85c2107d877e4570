//! Tests table layouts whose keys are created by a single line of code. Each comment cites the class from which the layout
//! was taken. Inverted ticks are `DateTime.MaxValue.Ticks` minus the ticks of a time. Newer rows therefore sort first.

#![expect(clippy::duplicated_attributes, reason = "a key that names one field twice")]

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::{Engine, Entity, TableStoreExt};
use uuid::Uuid;

use super::{both_ways, instant, stored};

const ID: Uuid = Uuid::from_u128(0xABC);

/// A scan policy of a radio spectrum observatory. The keys contain two frequencies, formatted with `D11` and stored as `long` (class
/// `Microsoft.Spectrum.Storage.Table.Azure.RawIQScanPolicy`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "RawIqScanPolicies")]
#[partition_key(digits(11, nonnegative, start_frequency))]
#[row_key(digits(11, nonnegative, stop_frequency), "_", category)]
struct ScanPolicy {
    #[property(also)]
    start_frequency: i64,
    #[property(also)]
    stop_frequency: i64,
    #[property(also)]
    category: String,
    band_priority: i32,
}

#[test]
fn frequencies_in_eleven_digits() {
    let policy = ScanPolicy {
        start_frequency: 470_000_000,
        stop_frequency: 478_000_000,
        category: "TV".to_owned(),
        band_priority: 2,
    };
    both_ways(&policy, ("00470000000", "00478000000_TV"));
    block_on(async {
        let wide = ScanPolicy { stop_frequency: 10_000_000_000, ..policy.clone() };
        let policies = stored!(ScanPolicy, [policy.clone(), wide]);
        let narrow = ScanPolicy::rows(470_000_000).stop_frequency(..1_000_000_000);
        assert_eq!(policies.query(narrow).collect().await.unwrap(), [policy]);
    });
}

/// A message logged by an Office add-in. The `RowKey` consists of inverted ticks, a counter and a GUID (class `Chem4Word.Telemetry.ServiceBusMessage`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "LogEvents", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("Chem4Word")]
#[row_key(desc(at), ".", digits(6, nonnegative, order), ".", guid(simple, id))]
struct AddInMessage {
    at: DateTime<Utc>,
    order: i64,
    id: Uuid,
    level: String,
}

/// A log entry. The `PartitionKey` consists of inverted ticks and a GUID, and the `RowKey` is the user (class
/// `Saguaro.Logging.TableEntities.LogByTimeTableEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logbytime")]
#[partition_key(desc(at), "+", guid(simple, id))]
#[row_key(user_name)]
struct LogByTime {
    at: DateTime<Utc>,
    id: Uuid,
    user_name: String,
}

/// A request to a bot. The `PartitionKey` is the day. The `RowKey` consists of a time with milliseconds in four digits and a GUID (class
/// `ProactiveBot.Services.LoggingTableService`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logging", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyyMMdd", at)))]
#[row_key(pattern("yyyyMMddHHmmss0fff", at), "_", id)]
struct BotRequest {
    at: DateTime<Utc>,
    id: Uuid,
}

/// A request to a map server. The `RowKey` consists of `long.MaxValue` minus the ticks and a random number (class `PerforamceLoggerServiceRequestItem` in
/// `gView`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Requests")]
#[partition_key("gview.", folded(lower, folder))]
#[row_key(inverted(9_223_372_036_854_775_807, at), "_", digits(4, number))]
struct MapRequest {
    folder: String,
    at: DateTime<Utc>,
    number: u16,
}

/// A change to the tier of a client. The `RowKey` is `long.MaxValue` minus the ticks (class `ClientTierLogEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ClientTierLog")]
#[partition_key(client_id)]
#[row_key(inverted(9_223_372_036_854_775_807, at))]
struct TierChange {
    client_id: String,
    at: DateTime<Utc>,
    changer: String,
}

/// An event in a virtual machine scale set. The `RowKey` is a time that starts with the day and therefore does not sort by time (class `ScaleEventEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ScaleEvents")]
#[partition_key(scale_set)]
#[row_key(truncate(pattern("dd-MM-yyyy", at)), "|", truncate(pattern("HH:mm:ss", at)))]
struct ScaleEvent {
    scale_set: String,
    at: DateTime<Utc>,
}

/// An audit record for a queue message. The `RowKey` is the time in the round-trip format `o` of .NET (class `EventAuditRecord` in `Beef`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AuditMessages")]
#[partition_key(queue)]
#[row_key(pattern("yyyy-MM-ddTHH:mm:ss.fffffffZ", at))]
struct Audit {
    queue: String,
    at: DateTime<Utc>,
}

/// A request for the weather. The `PartitionKey` is the day. The `RowKey` consists of the time of day and eight digits of a GUID (class `WeatherLog`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "WeatherLog", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyyMMdd", at)))]
#[row_key(truncate(pattern("HHmmss", at)), "-", hex(8, number))]
struct WeatherLog {
    at: DateTime<Utc>,
    number: u32,
}

/// The weather in a city at a given minute. The `PartitionKey` is the city, and the `RowKey` is the minute (class `WeatherHistoryEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "WeatherHistory")]
#[partition_key(city)]
#[row_key(pattern("yyyy-MM-dd-HH-mm", at))]
struct WeatherHistory {
    city: String,
    at: DateTime<Utc>,
    humidity: i32,
}

#[test]
fn instants_in_one_line() {
    let at = instant("2024-02-28T09:05:07.250Z");
    let message = AddInMessage { at, order: 12, id: ID, level: "Information".to_owned() };
    both_ways(&message, ("Chem4Word", "2516931896927499999.000012.00000000000000000000000000000abc"));
    let entry = LogByTime { at, id: ID, user_name: "ada".to_owned() };
    both_ways(&entry, ("2516931896927499999+00000000000000000000000000000abc", "ada"));
    let request = BotRequest { at, id: ID };
    both_ways(&request, ("20240228", "202402280905070250_00000000-0000-0000-0000-000000000abc"));
    let request = MapRequest { folder: "Base".to_owned(), at, number: 42 };
    both_ways(&request, ("gview.base", "8584924957782275807_0042"));
    let change = TierChange { client_id: "c-7".to_owned(), at, changer: "ada".to_owned() };
    both_ways(&change, ("c-7", "8584924957782275807"));
    both_ways(&ScaleEvent { scale_set: "web".to_owned(), at }, ("web", "28-02-2024|09:05:07"));
    both_ways(&Audit { queue: "orders".to_owned(), at }, ("orders", "2024-02-28T09:05:07.2500000Z"));
    both_ways(&WeatherLog { at, number: 0x00C0_FFEE }, ("20240228", "090507-00c0ffee"));
    let minute =
        WeatherHistory { city: "Oslo".to_owned(), at: instant("2024-02-28T09:05:00Z"), humidity: 80 };
    both_ways(&minute, ("Oslo", "2024-02-28-09-05"));
}
