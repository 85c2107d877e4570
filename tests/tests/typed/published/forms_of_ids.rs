//! Tests published table layouts whose keys contain identifiers in unusual formats: ULIDs, and GUIDs in braces or in capitals.

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::query::QueryClass;
use table_core::{Engine, Entity, TableStoreExt, Versioned};
use uuid::Uuid;

use super::{both_ways, instant, stored};

/// A log event whose keys come from the class `KeyGenerator` in `TableStorage.Abstracts`. The `PartitionKey` is the
/// inverted time, rounded to five minutes. The `RowKey` is a ULID with an inverted time. The expected `PartitionKey`
/// comes from `KeyGeneratorTests`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "LogEvent", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(desc(period))]
#[row_key(ulid(id))]
struct LogEvent {
    period: DateTime<Utc>,
    id: String,
    level: String,
}

#[test]
fn a_ulid_as_text() {
    // The inverted time is 189,554,673,599,999 milliseconds after 1970. It is smaller by 1,000 for an event one second later.
    let (earlier, later) = ("5CCRHFRHFZ0000000000000001", "5CCRHFRGGQ0000000000000001");
    let of = |period: &str, id: &str| LogEvent {
        period: instant(period),
        id: id.to_owned(),
        level: "INFO".to_owned(),
    };
    let event = of("2024-04-02T04:00:00Z", earlier);
    both_ways(&event, ("2516902703999999999", earlier));
    block_on(async {
        let newer = of("2024-04-02T04:00:00Z", later);
        let events = stored!(
            LogEvent,
            [event.clone(), newer.clone(), of("2024-04-03T05:00:00Z", "5CCRHFRGGQ0000000000000002")]
        );
        let newest = events.query(LogEvent::rows(event.period)).page_size(1).page().await.unwrap();
        assert_eq!(newest.items.first().map(Versioned::value), Some(&newer));
        let up_to =
            events.query(LogEvent::rows(event.period).id(later.to_owned()..)).collect().await.unwrap();
        assert_eq!(up_to, [newer.clone(), event.clone()]);
        let day = instant("2024-04-01T05:00:00Z")..instant("2024-04-02T05:00:00Z");
        let query = events.query(LogEvent::partitions_by_period(day));
        assert_eq!(query.plan().unwrap().class, QueryClass::PartitionRange);
        assert_eq!(query.collect().await.unwrap(), [newer, event]);
    });
}

/// A log entry written by the program `LeagueRecorder`. The `PartitionKey` is the logger, and the `RowKey` is a GUID in
/// braces (file `LoggingTargets/LogEntity.cs`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logs")]
#[partition_key(logger_name)]
#[row_key(guid(braced, id))]
struct Recorded {
    #[property(also)]
    logger_name: String,
    id: Uuid,
    level: String,
}

/// A row of a class derived from `Models/TableEntityBase` in `AzureTableStorageService`. The base class sets the `RowKey` to a GUID in capitals.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Customers")]
#[partition_key(country)]
#[row_key(guid(upper, id))]
struct Customer {
    country: String,
    id: Uuid,
    name: String,
}

#[test]
fn guids_in_braces_and_in_capitals() {
    let id = Uuid::from_u128(0x3F2504E0_4F89_11D3_9A0C_0305E82C3301);
    let of = |id| Recorded { logger_name: "LeagueRecorder.Worker".to_owned(), id, level: "Error".to_owned() };
    both_ways(&of(id), ("LeagueRecorder.Worker", "{3f2504e0-4f89-11d3-9a0c-0305e82c3301}"));
    let customer = Customer { country: "NO".to_owned(), id, name: "Ada".to_owned() };
    both_ways(&customer, ("NO", "3F2504E0-4F89-11D3-9A0C-0305E82C3301"));
    block_on(async {
        let logs = stored!(Recorded, [of(Uuid::from_u128(2)), of(id), of(Uuid::from_u128(1))]);
        let found = logs.get(Recorded::key("LeagueRecorder.Worker", id)).await.unwrap().unwrap();
        assert_eq!(found.value(), &of(id));
        let all = logs.query(Recorded::partition("LeagueRecorder.Worker")).collect().await.unwrap();
        assert_eq!(
            all,
            [of(Uuid::from_u128(1)), of(Uuid::from_u128(2)), of(id)],
            "in the order of their bytes"
        );
        let customers = stored!(Customer, [customer.clone()]);
        assert_eq!(customers.get(Customer::key("NO", id)).await.unwrap().unwrap().value(), &customer);
    });
}
