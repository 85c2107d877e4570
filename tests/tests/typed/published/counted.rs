//! Tests table layouts with inverted times, times of day, and compound names. Each comment cites the class from which the
//! layout was taken. Inverted ticks are `DateTime.MaxValue.Ticks` minus the ticks of a time. Newer rows therefore sort first.

use chrono::{DateTime, Utc};
use table_core::{Entity, KeyPart};
use uuid::Uuid;

use super::{both_ways, instant};

const ID: Uuid = Uuid::from_u128(0xABC);
const AT: &str = "2024-02-28T09:05:07.250Z";

/// A retry of a database request. The `PartitionKey` consists of ticks with a leading zero (class `SQLAzureDemo.App_Start.NHibernate.TransientRetry`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "TransientRetries", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(at)]
#[row_key(without('|', sql_error_numbers), "|", unpadded(retry_count))]
struct TransientRetry {
    at: DateTime<Utc>,
    sql_error_numbers: String,
    retry_count: i32,
    server: String,
}

/// A request from an IP address, which is the `PartitionKey`. The `RowKey` consists of inverted ticks and a GUID (class
/// `Saguaro.Logging.TableEntities.LogByIPAddressTableEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "LogByIp")]
#[partition_key(ip_address)]
#[row_key(desc(at), "+", guid(simple, id))]
struct LogByAddress {
    ip_address: String,
    at: DateTime<Utc>,
    id: Uuid,
    activity: String,
}

/// A log message in a category, which is the `PartitionKey`. The `RowKey` consists of inverted ticks (class `PartitionValueEntity`; `BaseTableEntity` in
/// `Toolshed.Audit` has the same `RowKey`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "LogMessages")]
#[partition_key(category)]
#[row_key(desc(at))]
struct LogMessage {
    category: String,
    at: DateTime<Utc>,
    message: String,
}

/// A note of a tenant. The `RowKey` is the number of seconds from the date of the note to the year 2100 (class `Alejof.Notes.Storage.NoteEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "NoteAppEntries")]
#[partition_key(without('_', tenant_id), "_", state)]
#[row_key(inverted(4_102_444_800, unix(seconds, date)))]
struct Note {
    tenant_id: String,
    state: NoteState,
    date: DateTime<Utc>,
    title: String,
}

#[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
enum NoteState {
    #[key_part("draft")]
    Draft,
    #[key_part("published")]
    Published,
}

#[test]
fn instants_counted_from_several_constants() {
    let at = instant(AT);
    let retry = TransientRetry {
        at,
        sql_error_numbers: "40501,10053".to_owned(),
        retry_count: 2,
        server: "web-1".to_owned(),
    };
    both_ways(&retry, ("0638447079072500000", "40501,10053|2"));
    let request =
        LogByAddress { ip_address: "192.0.2.7".to_owned(), at, id: ID, activity: "login".to_owned() };
    both_ways(&request, ("192.0.2.7", "2516931896927499999+00000000000000000000000000000abc"));
    let message = LogMessage { category: "orders".to_owned(), at, message: "started".to_owned() };
    both_ways(&message, ("orders", "2516931896927499999"));
    let note = |state| Note {
        tenant_id: "contoso".to_owned(),
        state,
        date: instant("2024-02-28T09:05:07Z"),
        title: "A note".to_owned(),
    };
    both_ways(&note(NoteState::Published), ("contoso_published", "2393333693"));
    both_ways(&note(NoteState::Draft), ("contoso_draft", "2393333693"));
}

/// A health check of services. All checks are in one partition, and the `RowKey` is the time (class `CryptoPortfolioService_Data.Entities.HealthCheck`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "HealthChecks", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("HealthCheck")]
#[row_key(pattern("yyyy-MM-ddTHH:mm:ss.fffffffZ", at))]
struct HealthCheck {
    at: DateTime<Utc>,
    service: String,
    status: String,
}

/// An event in a channel, which is the `PartitionKey`. The `RowKey` is the time in whole seconds (class `ChannelActivityEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ChannelActivity")]
#[partition_key(channel)]
#[row_key(truncate(pattern("yyyyMMddTHHmmss", at)))]
struct ChannelActivity {
    channel: String,
    at: DateTime<Utc>,
    activity: String,
}

/// An order for a ship, which is the `PartitionKey`. The `RowKey` is a time that starts with the day and therefore does not sort by time (class `Order`, by
/// `eldert.org`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(ship)]
#[row_key(truncate(pattern("dd-MM-yyyy HH:mm:ss", date)))]
struct Order {
    ship: String,
    date: DateTime<Utc>,
    amount: i32,
}

/// A stock quote. All quotes are in one partition, and the `RowKey` is the time, to the tick (class `ValueEntity`, in a function that uses
/// `FinnhubClient`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Quotes", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("TestPartitionKey")]
#[row_key(pattern("yyyyMMddHHmmssfffffff", date_time))]
struct Quote {
    date_time: DateTime<Utc>,
    value: f64,
}

/// A log row. The `PartitionKey` is the day, and the `RowKey` is the time of day (class `TableInfo`, in a collector of `LogEntity` rows).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logs", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyy-MM-dd", at)))]
#[row_key(truncate(pattern("HH:mm:ss.fffffff", at)))]
struct Log {
    at: DateTime<Utc>,
    level: String,
}

#[test]
fn clocks_with_all_orders_of_units() {
    let at = instant(AT);
    let check = HealthCheck { at, service: "quotes".to_owned(), status: "OK".to_owned() };
    both_ways(&check, ("HealthCheck", "2024-02-28T09:05:07.2500000Z"));
    let joined = ChannelActivity { channel: "rust".to_owned(), at, activity: "StreamStarted".to_owned() };
    both_ways(&joined, ("rust", "20240228T090507"));
    let order = Order { ship: "Falcon".to_owned(), date: at, amount: 3 };
    both_ways(&order, ("Falcon", "28-02-2024 09:05:07"));
    both_ways(&Quote { date_time: at, value: 407.5 }, ("TestPartitionKey", "202402280905072500000"));
    both_ways(&Log { at, level: "info".to_owned() }, ("2024-02-28", "09:05:07.2500000"));
}

/// A resource of an Azure custom provider. The `PartitionKey` consists of three names separated by colons (class `CustomResource`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "CustomResources")]
#[partition_key(subscription_id, ":", without(':', resource_group), ":", parent)]
#[row_key(name)]
struct CustomResource {
    subscription_id: Uuid,
    resource_group: String,
    parent: String,
    name: String,
    properties: String,
}

/// A value that belongs to a note. The `PartitionKey` is the tenant. The `RowKey` consists of the note identifier and the name of the value (class
/// `Alejof.Notes.Storage.DataEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "NoteAppEntryData")]
#[partition_key(tenant_id)]
#[row_key(note_id, "_", name)]
struct NoteData {
    tenant_id: String,
    note_id: Uuid,
    name: String,
    value: String,
}

/// A thumbnail of an asset. The keys are the identifiers of the asset and of the thumbnail (class `AzurePatterns.Entity.AssetThumbnailEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AssetThumbnails")]
#[partition_key(asset_id)]
#[row_key(thumbnail_id)]
struct AssetThumbnail {
    asset_id: String,
    thumbnail_id: String,
    friendly_name: String,
}

#[test]
fn names_between_separators() {
    let resource = CustomResource {
        subscription_id: ID,
        resource_group: "web".to_owned(),
        parent: "provider:1".to_owned(),
        name: "shop".to_owned(),
        properties: "{}".to_owned(),
    };
    both_ways(&resource, ("00000000-0000-0000-0000-000000000abc:web:provider:1", "shop"));
    let data =
        NoteData { tenant_id: "t".to_owned(), note_id: ID, name: "a_b".to_owned(), value: "1".to_owned() };
    both_ways(&data, ("t", "00000000-0000-0000-0000-000000000abc_a_b"));
    let thumbnail = AssetThumbnail {
        asset_id: "nb:cid:1".to_owned(),
        thumbnail_id: "t-1".to_owned(),
        friendly_name: "Front".to_owned(),
    };
    both_ways(&thumbnail, ("nb:cid:1", "t-1"));
}
