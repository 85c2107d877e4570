//! Tests published table layouts whose keys contain times in unusual formats: date patterns, inverted times, and ticks with
//! more digits. Inverted ticks are `DateTime.MaxValue.Ticks` minus the ticks of a time. Newer rows therefore sort first.

use chrono::{DateTime, NaiveDate, Utc};
use pollster::block_on;
use table_core::query::QueryClass;
use table_core::{Engine, Entity, TableStoreExt, Versioned};
use uuid::Uuid;

use super::{both_ways, instant, stored};

/// A guest book entry from Microsoft's Windows Azure training kit. The `PartitionKey` is the day as `MMddyyyy`. The `RowKey` consists of inverted ticks
/// and a GUID.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "GuestBookEntry", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(pattern("MMddyyyy", day))]
#[row_key(desc(at), "_", id)]
struct GuestBookEntry {
    day: NaiveDate,
    at: DateTime<Utc>,
    id: Uuid,
    message: String,
}

#[test]
fn the_guest_book() {
    let of = |text: &str| GuestBookEntry {
        day: instant(text).date_naive(),
        at: instant(text),
        id: Uuid::from_u128(7),
        message: "Hello".to_owned(),
    };
    let (old, new) = (of("2000-01-20T11:25:42Z"), of("2000-01-20T18:00:00Z"));
    both_ways(&old, ("01202000", "2524539332579999999_00000000-0000-0000-0000-000000000007"));
    block_on(async {
        let book = stored!(GuestBookEntry, [old.clone(), new.clone()]);
        let newest = book.query(GuestBookEntry::rows(old.day)).page_size(1).page().await.unwrap();
        assert_eq!(newest.items.first().map(Versioned::value), Some(&new));
    });
}

/// A log entry of an urgent-care service. The `PartitionKey` is the month as `yyyy-MM`, and the `RowKey` contains the
/// rest of the time, `{dd HH:mm:ss.fff}-{guid}`. Found in `111Online/web-stack`, file
/// `NHS111.Utils/Logging/LogEntry.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "logging", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyy-MM", at)))]
#[row_key(truncate(pattern("dd HH:mm:ss.fff", at)), "-", id)]
struct LogEntry {
    at: DateTime<Utc>,
    id: Uuid,
    level: String,
}

#[test]
fn a_month_and_the_rest_of_the_instant() {
    let of = |at: &str| LogEntry { at: instant(at), id: Uuid::from_u128(7), level: "WARN".to_owned() };
    let entry = of("2024-02-28T09:05:07.250Z");
    both_ways(&entry, ("2024-02", "28 09:05:07.250-00000000-0000-0000-0000-000000000007"));
    block_on(async {
        let (early, march) = (of("2024-02-03T23:59:59.999Z"), of("2024-03-01T00:00:00Z"));
        let entries = stored!(LogEntry, [entry.clone(), early.clone(), march.clone()]);
        let month = instant("2024-02-01T00:00:00Z");
        let oldest = entries.query(LogEntry::rows(month)).page_size(1).page().await.unwrap();
        assert_eq!(oldest.items.first().map(Versioned::value), Some(&early));
        let months = || LogEntry::partitions_by_at(instant("2024-02-10T00:00:00Z")..);
        assert_eq!(entries.query(months()).plan().unwrap().class, QueryClass::PartitionRange);
        let since = entries.query(months()).filter(LogEntry::AT.ge(instant("2024-02-10T00:00:00Z")));
        assert_eq!(since.collect().await.unwrap(), [entry.clone(), march], "the month of the bound is read");
        let found = entries.get(LogEntry::key(entry.at, entry.id)).await.unwrap();
        assert_eq!(found.unwrap().value(), &entry);
    });
}

/// A log entry of a content delivery network. The `PartitionKey` is the day. The `RowKey` consists of inverted ticks in 21 digits and a GUID in capitals
/// without hyphens. Found in `Stats.ParseAzureCdnLogs` of the `NuGet` gallery, classes `RowKeyBuilder` and `TableOperationBuilder`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "CdnLogs", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyyMMdd", edge_server_time_delivered)))]
#[row_key("00", desc(edge_server_time_delivered), "-", guid(simple_upper, id))]
struct CdnLogEntry {
    #[property(also)]
    edge_server_time_delivered: DateTime<Utc>,
    id: Uuid,
    cache_status_code: String,
}

#[test]
fn ticks_counted_down_in_21_digits() {
    let of = |at: &str, id| CdnLogEntry {
        edge_server_time_delivered: instant(at),
        id: Uuid::from_u128(id),
        cache_status_code: "TCP_HIT/200".to_owned(),
    };
    let entry = of("2024-02-28T09:05:07Z", 0xABC);
    both_ways(&entry, ("20240228", "002516931896929999999-00000000000000000000000000000ABC"));
    block_on(async {
        let later = of("2024-02-28T10:00:00Z", 1);
        let logs = stored!(CdnLogEntry, [entry.clone(), later.clone(), of("2024-02-29T00:00:00Z", 2)]);
        let day = instant("2024-02-28T00:00:00Z");
        let newest = logs.query(CdnLogEntry::rows(day)).page_size(1).page().await.unwrap();
        assert_eq!(newest.items.first().map(Versioned::value), Some(&later));
        let morning = CdnLogEntry::rows(day).edge_server_time_delivered(day..instant("2024-02-28T10:00:00Z"));
        assert_eq!(logs.query(morning).collect().await.unwrap(), [entry]);
    });
}

/// A time report of an employee. The `PartitionKey` is the e-mail address in lower case, and the `RowKey` is `{yyyyMMdd}_{project}_{ticks:D20}` (class
/// `HqAgent.Shared.Storage.TimereportStorageService`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Timereports")]
#[partition_key(folded(lower, email))]
#[row_key(pattern("yyyyMMdd", date), "_", project_id, "_0", ticks)]
struct TimeReport {
    email: String,
    date: NaiveDate,
    #[property(also)]
    project_id: String,
    ticks: DateTime<Utc>,
    hours: f64,
}

#[test]
fn ticks_with_a_leading_zero_behind_a_text() {
    let of = |day: &str, project: &str| TimeReport {
        email: "Ada@Contoso.com".to_owned(),
        date: day.parse().unwrap(),
        project_id: project.to_owned(),
        ticks: instant("2024-02-28T09:05:07Z"),
        hours: 7.5,
    };
    let report = of("2024-02-28", "shop_2");
    both_ways(&report, ("ada@contoso.com", "20240228_shop_2_00638447079070000000"));
    block_on(async {
        let reports = stored!(
            TimeReport,
            [of("2024-02-27", "shop"), report.clone(), of("2024-02-28", "site"), of("2024-03-01", "shop")]
        );
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let february = TimeReport::rows("ADA@contoso.com").date(day("2024-02-28")..day("2024-03-01"));
        assert_eq!(reports.query(february.clone()).plan().unwrap().class, QueryClass::Range);
        let found =
            reports.query(february).filter(TimeReport::PROJECT_ID.eq("shop_2")).collect().await.unwrap();
        assert_eq!(found, [report]);
    });
}

/// A task logged by `CoreHelpers.TaskLogging`. Both keys are `task{9007199254740991 - seconds}{guid}` (class `AzureTableTimebasedKeyBuilder`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Dev202402Tasks", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("task", inverted(9_007_199_254_740_991, unix(seconds, announced)), id)]
#[row_key("task", inverted(9_007_199_254_740_991, unix(seconds, announced)), id)]
struct LoggedTask {
    announced: DateTime<Utc>,
    id: Uuid,
    task_state: String,
}

#[test]
fn inverted_seconds_before_a_guid() {
    let of = |at: &str| LoggedTask {
        announced: instant(at),
        id: Uuid::from_u128(0xABC),
        task_state: "Pending".to_owned(),
    };
    let task = of("2024-02-28T09:05:07Z");
    let key = "task900719754562988400000000-0000-0000-0000-000000000abc";
    both_ways(&task, (key, key));
    block_on(async {
        let (later, next_day) = (of("2024-02-28T10:00:00Z"), of("2024-02-29T00:00:00Z"));
        let tasks = stored!(LoggedTask, [task.clone(), later.clone(), next_day]);
        let day = instant("2024-02-28T00:00:00Z")..instant("2024-02-29T00:00:00Z");
        let found = tasks.query(LoggedTask::partitions_by_announced(day)).collect().await.unwrap();
        assert_eq!(found, [later, task], "the newest first");
    });
}

/// A book that a user has read. The `RowKey` is `long.MaxValue` minus the number of milliseconds since 1970, in 19 digits (function
/// `DunDatApi.Data.EntityHelpers.GetDescendingRowKey`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "user", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("book")]
#[row_key(inverted(9_223_372_036_854_775_807, unix(millis, added)))]
struct Book {
    added: DateTime<Utc>,
    title: String,
}

#[test]
fn inverted_milliseconds() {
    let of = |at: &str| Book { added: instant(at), title: "Persuasion".to_owned() };
    let book = of("2024-02-28T09:05:07Z");
    both_ways(&book, ("book", "9223370327743668807"));
    both_ways(&of("2024-02-28T09:05:07.250Z"), ("book", "9223370327743668557"));
    block_on(async {
        let later = of("2024-02-28T10:00:00Z");
        let books = stored!(Book, [book.clone(), later.clone(), of("2024-01-01T00:00:00Z")]);
        let newest = books.query(Book::rows()).page_size(1).page().await.unwrap();
        assert_eq!(newest.items.first().map(Versioned::value), Some(&later));
        let february = Book::rows().added(instant("2024-02-01T00:00:00Z")..instant("2024-03-01T00:00:00Z"));
        assert_eq!(books.query(february).collect().await.unwrap(), [later, book]);
    });
}
