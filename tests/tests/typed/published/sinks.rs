//! Tests the table layouts of loggers in several languages: times of day in Python, milliseconds in Node.js, and Unix seconds
//! in a compact Serilog sink.

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::{Engine, Entity, TableStoreExt};
use uuid::Uuid;

use super::{both_ways, instant, stored};

/// A log record in Python. The `PartitionKey` is the minute. The `RowKey` is `{second}{milliseconds}-{host}-{process}-{number:02}`, where the host name
/// may contain `-`. Found in `michiya/azure-storage-logging`, file `azure_storage_logging/handlers.py`, class `TableStorageHandler`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "logs", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyyMMddHHmm", at)))]
#[row_key(
    pattern("yyyyMMddHHmmssfff", at),
    "-",
    without('-', host),
    "-",
    unpadded(process),
    "-",
    digits(2, number)
)]
struct PythonRecord {
    at: DateTime<Utc>,
    host: String,
    process: u32,
    number: u8,
    #[property("message")]
    message: String,
}

#[test]
fn records_of_python_sort_by_the_millisecond() {
    let of = |at: &str, number| PythonRecord {
        at: instant(at),
        host: "web1".to_owned(),
        process: 4_242,
        number,
        message: "started".to_owned(),
    };
    let record = of("2024-02-28T09:05:07.250Z", 3);
    both_ways(&record, ("202402280905", "20240228090507250-web1-4242-03"));
    both_ways(&of("2024-02-28T09:05:07.007Z", 12), ("202402280905", "20240228090507007-web1-4242-12"));
    block_on(async {
        let late = of("2024-02-28T09:05:59.999Z", 0);
        let records = stored!(PythonRecord, [late.clone(), record.clone()]);
        let minute = instant("2024-02-28T09:05:00Z");
        let all = records.query(PythonRecord::rows(minute)).collect().await.unwrap();
        assert_eq!(all, [record, late.clone()]);
        let end = PythonRecord::rows(minute).at(instant("2024-02-28T09:05:30Z")..);
        assert_eq!(records.query(end).collect().await.unwrap(), [late]);
    });
}

/// A batch of log events. The `PartitionKey` is the time of the last event in Unix seconds, in 19 digits. The `RowKey` is `{millis:D19}|{guid:N}` with the
/// time of the first event. The leading zeros are declared as literals, because Unix times between the years 2002 and 2286 have 10 digits in seconds and
/// 13 in milliseconds. Found in `ar3cka/serilog-sinks-compactazuretablestorage`, file `DefaultTableStorageKeyGenerator.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "logs", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("000000000", unix(seconds, last))]
#[row_key("000000", unix(millis, first), "|", guid(simple, id))]
struct CompactBatch {
    last: DateTime<Utc>,
    first: DateTime<Utc>,
    id: Uuid,
    data: Vec<u8>,
}

#[test]
fn batches_sort_by_unix_time() {
    let of = |last: &str, first: &str| CompactBatch {
        last: instant(last),
        first: instant(first),
        id: Uuid::from_u128(0xABC),
        data: vec![1],
    };
    let batch = of("2024-02-28T09:05:07Z", "2024-02-28T09:05:06.250Z");
    let row_key = "0000001709111106250|00000000000000000000000000000abc";
    both_ways(&batch, ("0000000001709111107", row_key));
    let next = of("2024-02-28T09:05:08Z", "2024-02-28T09:05:07.250Z");
    let row_key = "0000001709111107250|00000000000000000000000000000abc";
    both_ways(&next, ("0000000001709111108", row_key));
    block_on(async {
        let batches = stored!(CompactBatch, [next.clone(), batch]);
        let since = CompactBatch::partitions_by_last(instant("2024-02-28T09:05:08Z")..);
        assert_eq!(batches.query(since).collect().await.unwrap(), [next]);
    });
}

/// A log line written by winston. The `RowKey` is the number of milliseconds from the time of the line to 1 February 3000
/// (`DATE_MAX`, in the program's time zone, which is UTC in this test). Found in `jpoon/winston-azuretable`, file
/// `lib/winston-azuretable.js`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "log")]
#[partition_key(program)]
#[row_key(inverted(32_506_358_400_000, unix(millis, at)))]
struct WinstonLine {
    program: String,
    at: DateTime<Utc>,
    #[property("level")]
    level: String,
}

/// A log line written by pino. The `RowKey` is the number of milliseconds since 1970. Found in `ovhemert/pino-azuretable`, file `src/azuretable.js`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "logs")]
#[partition_key(program)]
#[row_key(unix(millis, at))]
struct PinoLine {
    program: String,
    at: DateTime<Utc>,
    #[property("data")]
    data: String,
}

#[test]
fn lines_of_node_are_newest_first_or_oldest_first() {
    let winston =
        |at: &str| WinstonLine { program: "shop".to_owned(), at: instant(at), level: "info".to_owned() };
    both_ways(&winston("2024-02-28T09:05:07.250Z"), ("shop", "30797247292750"));
    both_ways(&winston("2024-02-28T09:05:07.251Z"), ("shop", "30797247292749"));
    let pino = |at: &str| PinoLine { program: "shop".to_owned(), at: instant(at), data: "{}".to_owned() };
    both_ways(&pino("2024-02-28T09:05:07.250Z"), ("shop", "1709111107250"));
    both_ways(&pino("2024-02-28T09:05:07.251Z"), ("shop", "1709111107251"));
    block_on(async {
        let (first, second) = ("2024-02-28T09:05:07.250Z", "2024-02-28T10:00:00Z");
        let newest_first = stored!(WinstonLine, [winston(first), winston(second)]);
        let found = newest_first.query(WinstonLine::partition("shop")).collect().await.unwrap();
        assert_eq!(found, [winston(second), winston(first)]);
        let until = WinstonLine::rows("shop").at(..=instant(first));
        assert_eq!(newest_first.query(until).collect().await.unwrap(), [winston(first)]);
        let oldest_first = stored!(PinoLine, [pino(second), pino(first)]);
        let found = oldest_first.query(PinoLine::partition("shop")).collect().await.unwrap();
        assert_eq!(found, [pino(first), pino(second)]);
    });
}

/// The activity of a subject. The `PartitionKey` is the number of ticks from the time of the activity to the year 3018, in 19
/// digits. The `RowKey` is `{subject}:{type}`. Found in `TechInceptions/Sample.ActivityMetrics.AzureTable`, file
/// `ActivityUtil.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Activities", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("0", inverted(952_072_704_000_000_000, at))]
#[row_key(subject_id, ":", subject_type)]
struct Activity {
    at: DateTime<Utc>,
    #[without(':')]
    subject_id: String,
    subject_type: String,
    actor: String,
}

#[test]
fn activities_before_a_distant_year() {
    let of = |at: &str| Activity {
        at: instant(at),
        subject_id: "7".to_owned(),
        subject_type: "order".to_owned(),
        actor: "ada".to_owned(),
    };
    both_ways(&of("2024-02-28T09:05:07Z"), ("0313625624930000000", "7:order"));
    both_ways(&of("3017-12-31T23:59:59.9999999Z"), ("0000000000000000001", "7:order"));
    block_on(async {
        let (old, new) = (of("2024-02-28T09:05:07Z"), of("2024-02-28T10:00:00Z"));
        let activities = stored!(Activity, [old.clone(), new.clone()]);
        let all = activities.query(Activity::partitions_by_at(..)).collect().await.unwrap();
        assert_eq!(all, [new, old]);
    });
}
