//! Tests table layouts whose keys are days, times and inverted times. Each comment cites the class from which the layout
//! was taken. Inverted ticks are `DateTime.MaxValue.Ticks` minus the ticks of a time. Newer rows therefore sort first.

use chrono::{DateTime, NaiveDate, Utc};
use pollster::block_on;
use table_core::{Engine, Entity, TableStoreExt};
use uuid::Uuid;

use super::{both_ways, instant, stored};

const ID: Uuid = Uuid::from_u128(0xABC);

/// The activity of one day. The `PartitionKey` is the month, and the `RowKey` is the day (class `DailyLog` in `Repository.Models`, a fitness dashboard).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "DailyLogs", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyyMM", date)))]
#[row_key(date)]
struct DailyLog {
    date: NaiveDate,
    calories_out: i32,
}

/// A news item on a website. The `PartitionKey` is the day as `yyyy-MM-dd`. The `RowKey` is the position of the item, without leading zeros (class
/// `SiteNewsTableEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "SiteNews", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(pattern("yyyy-MM-dd", date))]
#[row_key(unpadded(order))]
struct SiteNews {
    date: NaiveDate,
    order: i32,
    headline: String,
}

#[test]
fn days_of_a_month_and_news_of_a_day() {
    let of = |date: &str| DailyLog { date: date.parse().unwrap(), calories_out: 2_100 };
    both_ways(&of("2014-04-23"), ("201404", "20140423"));
    let news = SiteNews { date: "2014-04-23".parse().unwrap(), order: 12, headline: "Version 2".to_owned() };
    both_ways(&news, ("2014-04-23", "12"));
    block_on(async {
        let logs =
            stored!(DailyLog, [of("2014-04-01"), of("2014-04-23"), of("2014-04-30"), of("2014-05-01")]);
        let (from, until): (NaiveDate, NaiveDate) =
            ("2014-04-02".parse().unwrap(), "2014-04-30".parse().unwrap());
        let april = DailyLog::rows(from).date(from..=until);
        assert_eq!(logs.query(april).collect().await.unwrap(), [of("2014-04-23"), of("2014-04-30")]);
    });
}

/// A call to an API. The `PartitionKey` is the day. The `RowKey` consists of the time with seven decimal places and an identifier (class `ApiAccessLogData`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ApiAccessLog", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyyMMdd", date)))]
#[row_key(truncate(pattern("HHmmssfffffff", date)), "-", id)]
struct ApiAccess {
    date: DateTime<Utc>,
    #[property(also)]
    id: String,
}

/// A reading from a device. The `PartitionKey` is the day, and the `RowKey` is the time of day. Both contain `_` between the numbers (class
/// `FunctionStoreData.Util.TableKeysCreator`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyy_MM_dd", date)))]
#[row_key(truncate(pattern("HH_mm_ss", date)))]
struct StoredReading {
    date: DateTime<Utc>,
    value: f64,
}

/// A comment whose sentiment was analysed. The `PartitionKey` is the day, and the `RowKey` is a GUID (class `SentimentCalculator.CommentEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Comments", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyyMMdd", date)))]
#[row_key(id)]
struct Comment {
    date: DateTime<Utc>,
    id: Uuid,
    score: f64,
}

/// An event on a device, which is the `PartitionKey`. The `RowKey` consists of the time in milliseconds and an identifier (class `DeviceEventEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "DeviceEvents")]
#[partition_key(device_id)]
#[row_key(truncate(pattern("yyyyMMddHHmmssfff", occurred_at_utc)), "-", id)]
struct DeviceEvent {
    device_id: String,
    occurred_at_utc: DateTime<Utc>,
    id: String,
}

/// A run of a web job. The `PartitionKey` is the month as `MMyyyy`, and the `RowKey` consists of inverted ticks (class `WebJobHistory`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "WebJobHistory", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("MMyyyy", at)))]
#[row_key(desc(at))]
struct WebJobRun {
    at: DateTime<Utc>,
    status: String,
}

/// A complaint. The `PartitionKey` is midnight of the day in the sortable format `s` of .NET, and the `RowKey` consists of inverted ticks (class
/// `WhingePool.Core.Entities.ReverseChronologicalTableEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Whinges", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyy-MM-ddT00:00:00", at)))]
#[row_key(desc(at))]
struct Whinge {
    at: DateTime<Utc>,
    text: String,
}

#[test]
fn a_day_and_a_time_of_one_instant() {
    let at = instant("2024-02-28T09:05:07.250Z");
    both_ways(&ApiAccess { date: at, id: "get".to_owned() }, ("20240228", "0905072500000-get"));
    both_ways(&StoredReading { date: at, value: 21.5 }, ("2024_02_28", "09_05_07"));
    both_ways(
        &Comment { date: at, id: ID, score: 0.5 },
        ("20240228", "00000000-0000-0000-0000-000000000abc"),
    );
    let event = DeviceEvent { device_id: "lab-1".to_owned(), occurred_at_utc: at, id: "boot".to_owned() };
    both_ways(&event, ("lab-1", "20240228090507250-boot"));
    both_ways(&WebJobRun { at, status: "Success".to_owned() }, ("022024", "2516931896927499999"));
    both_ways(&Whinge { at, text: "rain".to_owned() }, ("2024-02-28T00:00:00", "2516931896927499999"));
    block_on(async {
        let later = DeviceEvent { occurred_at_utc: instant("2024-02-28T10:00:00Z"), ..event.clone() };
        let events = stored!(DeviceEvent, [event.clone(), later.clone()]);
        let since = DeviceEvent::rows("lab-1").occurred_at_utc(instant("2024-02-28T09:30:00Z")..);
        assert_eq!(events.query(since).collect().await.unwrap(), [later]);
    });
}

/// A log entry of an application framework. The `PartitionKey` is the day. The `RowKey` consists of inverted ticks and a GUID, without a separator
/// (`AccidentalFish.ApplicationSupport`, function `LogTableItem.SetPartitionAndRowKeyForLogByDateDesc`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "LogsByDate", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyyMMdd", logged_at)))]
#[row_key(desc(logged_at), id)]
struct LogByDate {
    logged_at: DateTime<Utc>,
    id: Uuid,
    message: String,
}

/// The result of a health check of a service. The `RowKey` consists of inverted ticks and an identifier (class `HealthCheckLogEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "HealthChecks")]
#[partition_key(service_name)]
#[row_key(desc(at), "-", id)]
struct HealthCheck {
    service_name: String,
    at: DateTime<Utc>,
    id: Uuid,
    status: String,
}

/// An entry in the audit log of a tenant. The `RowKey` consists of inverted ticks (class `AuditLogEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AuditLog")]
#[partition_key(tenant_id)]
#[row_key(desc(at))]
struct TenantAudit {
    tenant_id: String,
    at: DateTime<Utc>,
    response: Option<String>,
}

/// A command of a chat user. The `PartitionKey` is the user's identifier, an unsigned 64-bit number. The `RowKey` consists of inverted ticks (class
/// `SLCommandLogData`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Commands")]
#[partition_key(unpadded(user_id))]
#[row_key(desc(at))]
struct ChatCommand {
    user_id: u64,
    at: DateTime<Utc>,
}

/// A notification for all users. The `RowKey` consists of inverted ticks and twelve digits of a GUID (class `GlobalNotificationEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "GlobalNotifications", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("notifications")]
#[row_key(desc(at), "_", hex(12, number))]
struct Notification {
    at: DateTime<Utc>,
    number: u64,
    title: String,
}

/// A call to an API. The `RowKey` consists of ticks without leading zeros and a GUID (class `ApiCallRecordTableEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ApiCalls")]
#[partition_key(caller)]
#[row_key(unpadded(ticks), "-", id)]
struct ApiCall {
    caller: String,
    ticks: i64,
    id: Uuid,
    api_name: String,
}

/// A trade. The `RowKey` consists of inverted ticks and a GUID without hyphens (class `ArkTrading.RowKeyHelper`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Trades")]
#[partition_key(fund)]
#[row_key(desc(at), "-", guid(simple, id))]
struct Trade {
    fund: String,
    at: DateTime<Utc>,
    id: Uuid,
    shares: i64,
}

#[test]
fn instants_counted_down() {
    let at = instant("2024-02-28T09:05:07.250Z");
    let log = LogByDate { logged_at: at, id: ID, message: "started".to_owned() };
    both_ways(&log, ("20240228", "251693189692749999900000000-0000-0000-0000-000000000abc"));
    let check = HealthCheck { service_name: "shop".to_owned(), at, id: ID, status: "Healthy".to_owned() };
    both_ways(&check, ("shop", "2516931896927499999-00000000-0000-0000-0000-000000000abc"));
    both_ways(
        &TenantAudit { tenant_id: "t-1".to_owned(), at, response: None },
        ("t-1", "2516931896927499999"),
    );
    both_ways(&ChatCommand { user_id: u64::MAX, at }, ("18446744073709551615", "2516931896927499999"));
    let notification = Notification { at, number: 0xABC, title: "News".to_owned() };
    both_ways(&notification, ("notifications", "2516931896927499999_000000000abc"));
    let call = ApiCall {
        caller: "web".to_owned(),
        ticks: 638_446_935_072_500_000,
        id: ID,
        api_name: "get".to_owned(),
    };
    both_ways(&call, ("web", "638446935072500000-00000000-0000-0000-0000-000000000abc"));
    let trade = Trade { fund: "ARKK".to_owned(), at, id: ID, shares: 100 };
    both_ways(&trade, ("ARKK", "2516931896927499999-00000000000000000000000000000abc"));
    block_on(async {
        let earlier = HealthCheck { at: instant("2024-02-27T00:00:00Z"), ..check.clone() };
        let checks = stored!(HealthCheck, [earlier.clone(), check.clone()]);
        let newest = checks.query(HealthCheck::partition("shop")).first().await.unwrap().unwrap();
        assert_eq!(newest.value(), &check);
    });
}
