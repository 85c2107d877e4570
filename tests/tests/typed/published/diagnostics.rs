//! Tests table layouts for diagnostics: events from log4net and `NLog`, and the diagnostics tables of cloud services
//! and virtual machines. Inverted ticks are `DateTime.MaxValue.Ticks` minus the ticks of a time. Newer rows therefore sort
//! first.

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::query::QueryClass;
use table_core::{Engine, Entity, TableStoreExt};
use uuid::Uuid;

use super::{both_ways, instant};

/// An event logged by `log4net.Appender.Azure`. The `PartitionKey` is the logger. The `RowKey` is `{ticks:D19}.{guid}`, with inverted ticks (class
/// `LoggingEventExtensions`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "testLoggingTable")]
#[partition_key(logger)]
#[row_key(desc(at), ".", id)]
struct AppenderEvent {
    logger: String,
    at: DateTime<Utc>,
    id: Uuid,
    level: String,
}

#[test]
fn the_events_of_log4net() {
    let of = |at: &str, id| AppenderEvent {
        logger: "Shop.Orders".to_owned(),
        at: instant(at),
        id: Uuid::from_u128(id),
        level: "WARN".to_owned(),
    };
    let event = of("2024-02-28T09:05:07Z", 0xABC);
    both_ways(&event, ("Shop.Orders", "2516931896929999999.00000000-0000-0000-0000-000000000abc"));
    block_on(async {
        let events = Engine::in_memory().table::<AppenderEvent>().create_if_missing().await.unwrap();
        for (at, id) in [("2024-02-28T09:05:07Z", 0xABC), ("2024-02-28T10:00:00Z", 1)] {
            events.insert(&of(at, id)).await.unwrap();
        }
        let newest = events.query(AppenderEvent::rows("Shop.Orders")).page_size(1).page().await.unwrap();
        assert_eq!(newest.items[0].id.as_u128(), 1);
        let hour = instant("2024-02-28T09:00:00Z")..instant("2024-02-28T10:00:00Z");
        let query = events.query(AppenderEvent::rows("Shop.Orders").at(hour));
        assert_eq!(query.plan().unwrap().class, QueryClass::Range);
        assert_eq!(query.collect().await.unwrap(), [event]);
    });
}

/// A trace log entry from an Azure cloud service, in `WADLogsTable`. The `PartitionKey` is the minute in ticks, with a
/// leading zero. The `RowKey` contains the deployment, role and instance that logged the entry, followed by a 19-digit
/// number. The `PartitionKey`, deployment and ticks in the sample come from G. Mantri's article of 17 February 2012.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "WADLogsTable", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(minute)]
#[row_key(deployment_id, "___", role, "___", role_instance, "___", digits(19, sequence))]
struct TraceLog {
    minute: DateTime<Utc>,
    event_tick_count: i64,
    #[property(also)]
    #[without('_')]
    deployment_id: String,
    #[property(also)]
    #[without('_')]
    role: String,
    #[property(also)]
    role_instance: String,
    sequence: u64,
    level: i32,
}

#[test]
fn the_trace_logs_of_cloud_services() {
    let of = |minute: &str, sequence| TraceLog {
        minute: instant(minute),
        event_tick_count: 634_012_319_404_982_640,
        deployment_id: "43b7f32f389648639f16b55c6dcd7c4b".to_owned(),
        role: "WorkerRole1".to_owned(),
        role_instance: "WorkerRole1_IN_0".to_owned(),
        sequence,
        level: 5,
    };
    let log = of("2010-02-08T13:19:00Z", 1_652_031_489);
    let row_key = "43b7f32f389648639f16b55c6dcd7c4b___WorkerRole1___WorkerRole1_IN_0___0000000001652031489";
    both_ways(&log, ("0634012319400000000", row_key));
    block_on(async {
        let logs = Engine::in_memory().table::<TraceLog>().create_if_missing().await.unwrap();
        let later = of("2010-02-08T13:24:00Z", 7);
        for log in [&log, &later, &of("2010-02-08T14:00:00Z", 8)] {
            logs.insert(log).await.unwrap();
        }
        // This is the query on the published page. It reads the last minutes by ranges of partitions instead of by `Timestamp`.
        let minutes = instant("2010-02-08T13:19:00Z")..=instant("2010-02-08T13:24:00Z");
        let found = logs.query(TraceLog::partitions_by_minute(minutes)).collect().await.unwrap();
        assert_eq!(found, [log, later]);
    });
}

/// A metric of an Azure virtual machine, in a table `WADMetricsPT1H…`. The `PartitionKey` is the resource. The `RowKey`
/// consists of the hour in inverted ticks and the name of the counter, with escapes such as `:005C`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "WADMetricsPT1HP10DV2S20190808")]
#[partition_key(resource)]
#[row_key(desc(at), "__", counter)]
struct Metric {
    resource: String,
    at: DateTime<Utc>,
    counter: String,
    average: f64,
}

#[test]
fn the_metrics_of_virtual_machines() {
    let of = |at: &str| Metric {
        resource: ":002Fsubscriptions:002F1".to_owned(),
        at: instant(at),
        counter: ":005CProcessor:0020Information:0028:005FTotal:0029:005C:0025:0020User:0020Time".to_owned(),
        average: 0.5,
    };
    let metric = of("2019-08-15T21:00:00Z");
    let row_key =
        "2518363979999999999__:005CProcessor:0020Information:0028:005FTotal:0029:005C:0025:0020User:0020Time";
    both_ways(&metric, (":002Fsubscriptions:002F1", row_key));
    block_on(async {
        let metrics = Engine::in_memory().table::<Metric>().create_if_missing().await.unwrap();
        for at in ["2019-08-15T21:00:00Z", "2019-08-15T22:00:00Z", "2019-08-16T00:00:00Z"] {
            metrics.insert(&of(at)).await.unwrap();
        }
        let day = instant("2019-08-15T00:00:00Z")..instant("2019-08-16T00:00:00Z");
        let of_day = metrics.query(Metric::rows(":002Fsubscriptions:002F1").at(day)).collect().await.unwrap();
        assert_eq!(of_day, [of("2019-08-15T22:00:00Z"), metric]);
    });
}

/// An event logged by `NLog.Extensions.AzureTables`. The `RowKey` is `{ticks:D19}:{id}`, where `ticks` is `DateTime.MaxValue.Ticks + 1` minus the ticks
/// of the event (class `RowKeyHelper`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "LogEvents")]
#[partition_key(logger)]
#[row_key(inverted(3_155_378_976_000_000_000, at), ":", id)]
struct TargetEvent {
    logger: String,
    at: DateTime<Utc>,
    id: String,
    level: String,
}

#[test]
fn the_events_of_a_target_that_counts_from_the_tick_after_the_last() {
    let of = |at: &str, id: &str| TargetEvent {
        logger: "Shop".to_owned(),
        at: instant(at),
        id: id.to_owned(),
        level: "Warn".to_owned(),
    };
    let event = of("2024-02-28T09:05:07Z", "a:1");
    both_ways(&event, ("Shop", "2516931896930000000:a:1"));
    block_on(async {
        let events = Engine::in_memory().table::<TargetEvent>().create_if_missing().await.unwrap();
        let later = of("2024-02-28T10:00:00Z", "2");
        for event in [&event, &later, &of("2024-02-29T00:00:00Z", "3")] {
            events.insert(event).await.unwrap();
        }
        let newest = events.query(TargetEvent::rows("Shop")).page_size(1).page().await.unwrap();
        assert_eq!(newest.items[0].id, "3");
        let day = instant("2024-02-28T00:00:00Z")..instant("2024-02-29T00:00:00Z");
        assert_eq!(events.query(TargetEvent::rows("Shop").at(day)).collect().await.unwrap(), [later, event]);
    });
}
