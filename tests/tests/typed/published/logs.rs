//! Tests table layouts for logs from Serilog, `NLog` and ELMAH. Inverted ticks are `DateTime.MaxValue.Ticks` minus the
//! ticks of a time. Newer rows therefore sort first.

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::{Engine, Entity, TableStoreExt};
use uuid::Uuid;

use super::{both_ways, instant};

/// An event logged by `Serilog.Sinks.AzureTableStorage`. The `RowKey` consists of inverted ticks, and the `PartitionKey` of inverted ticks rounded to five
/// minutes (class `DefaultKeyGenerator`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "LogEventEntity", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(desc(period))]
#[row_key(desc(at))]
struct LogEvent {
    period: DateTime<Utc>,
    at: DateTime<Utc>,
    level: String,
}

#[test]
fn the_events_of_serilog() {
    let of = |period: &str, at: &str| LogEvent {
        period: instant(period),
        at: instant(at),
        level: "Warning".to_owned(),
    };
    let event = of("2024-02-28T09:05:00Z", "2024-02-28T09:05:07Z");
    both_ways(&event, ("2516931896999999999", "2516931896929999999"));
    block_on(async {
        let events = Engine::in_memory().table::<LogEvent>().create_if_missing().await.unwrap();
        let late = of("2024-02-28T10:00:00Z", "2024-02-28T10:00:00Z");
        for event in [&event, &late] {
            events.insert(event).await.unwrap();
        }
        let day = instant("2024-02-28T00:00:00Z")..instant("2024-02-29T00:00:00Z");
        let newest_first = events.query(LogEvent::partitions_by_period(day)).collect().await.unwrap();
        assert_eq!(newest_first, [late, event.clone()]);
        let morning = instant("2024-02-28T09:00:00Z")..instant("2024-02-28T09:30:00Z");
        assert_eq!(events.query(LogEvent::partitions_by_period(morning)).collect().await.unwrap(), [event]);
    });
}

/// An event logged by `NLog.Extensions.AzureTableStorage`. The `PartitionKey` is the logger, and the `RowKey` is `{ticks:d19}_{guid:N}`, with
/// inverted ticks.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "NLogEvents")]
#[partition_key(logger)]
#[row_key(desc(at), "_", guid(simple, id))]
struct LoggerEvent {
    logger: String,
    at: DateTime<Utc>,
    id: Uuid,
    message: String,
}

#[test]
fn the_events_of_nlog() {
    let of = |at: &str, id| LoggerEvent {
        logger: "Shop.Orders".to_owned(),
        at: instant(at),
        id: Uuid::from_u128(id),
        message: "placed".to_owned(),
    };
    let event = of("2024-02-28T09:05:07Z", 0xABC);
    both_ways(&event, ("Shop.Orders", "2516931896929999999_00000000000000000000000000000abc"));
    block_on(async {
        let events = Engine::in_memory().table::<LoggerEvent>().create_if_missing().await.unwrap();
        for (at, id) in
            [("2024-02-28T09:05:07Z", 0xABC), ("2024-02-28T09:05:07Z", 0xABD), ("2024-02-28T10:00:00Z", 1)]
        {
            events.insert(&of(at, id)).await.unwrap();
        }
        let two = events.query(LoggerEvent::rows("Shop.Orders")).page_size(2).page().await.unwrap();
        assert_eq!(two.items.iter().map(|event| event.id.as_u128()).collect::<Vec<_>>(), [1, 0xABC]);
        let same = events.query(LoggerEvent::rows("Shop.Orders").at_is(event.at)).collect().await.unwrap();
        assert_eq!(same.len(), 2);
    });
}

/// An error logged with ELMAH by the `NuGet` gallery. The `PartitionKey` is empty, and the `RowKey` consists of inverted ticks.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ElmahErrors", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("")]
#[row_key(desc(at))]
struct ElmahError {
    at: DateTime<Utc>,
    serialized_error: String,
}

#[test]
fn the_errors_of_a_gallery() {
    let of = |at: &str| ElmahError { at: instant(at), serialized_error: "<error/>".to_owned() };
    both_ways(&of("2024-02-28T09:05:07Z"), ("", "2516931896929999999"));
    block_on(async {
        let errors = Engine::in_memory().table::<ElmahError>().create_if_missing().await.unwrap();
        for at in ["2024-02-28T09:05:07Z", "2024-02-28T10:00:00Z", "2024-02-28T09:05:00Z"] {
            errors.insert(&of(at)).await.unwrap();
        }
        let page = errors.query(ElmahError::rows()).page_size(2).page().await.unwrap();
        let newest: Vec<_> = page.items.iter().map(|error| error.value().clone()).collect();
        assert_eq!(newest, [of("2024-02-28T10:00:00Z"), of("2024-02-28T09:05:07Z")]);
        assert_eq!(
            errors
                .query(ElmahError::rows().at(instant("2024-02-28T09:30:00Z")..))
                .collect()
                .await
                .unwrap()
                .len(),
            1
        );
    });
}
