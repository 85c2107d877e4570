//! Tests table layouts for measurements over time: the timelines of Azure Functions hosts, and the metrics of storage accounts.

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::query::QueryClass;
use table_core::{Engine, Entity, KeyPart, TableStoreExt};

use super::{both_ways, instant, stored};

/// The number of runs of a function in one minute. The `RowKey` is `{host}-{function}-{minutes:D20}-{salt}`, where `minutes` are counted from the
/// year 2000. Found in `Azure/azure-webjobs-sdk`, folder `src/Microsoft.Azure.WebJobs.Logging`, files `Entities/TimelineAggregateEntity.cs` and
/// `Internal/TimeBucket.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "AzureWebJobsHostLogs202402",
    allow(hot_partition, reason = "the layout of another program")
)]
#[partition_key("T2")]
#[row_key(without('-', host), "-", without('-', function), "-", digits(20, minute), "-", salt)]
struct Timeline {
    host: String,
    function: String,
    minute: u64,
    salt: String,
    container_name: String,
    total_run: i32,
}

/// A container that is active in a given minute. The `RowKey` is `{minutes:D20}-{container}-` (file `Entities/ContainerActiveEntity.cs` in the same
/// folder).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "AzureWebJobsHostLogs202402",
    allow(hot_partition, reason = "the layout of another program")
)]
#[partition_key("C")]
#[row_key(digits(20, minute), "-", container, "-")]
struct ActiveContainer {
    minute: u64,
    container: String,
    start_time: DateTime<Utc>,
}

/// The number of function instances running in a container at a given time. The `RowKey` is `{ticks:D20}-{container}-{salt}` (file
/// `Entities/InstanceCountEntity.cs` in the same folder).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "AzureWebJobsHostLogs202402",
    allow(hot_partition, reason = "the layout of another program")
)]
#[partition_key("IA")]
#[row_key("0", at, "-", without('-', container), "-", unpadded(salt))]
struct InstanceCount {
    at: DateTime<Utc>,
    container: String,
    salt: i32,
    current_active: i32,
}

/// Returns the number of minutes from the start of the year 2000 to a time.
fn minutes(at: &str) -> u64 {
    let since = instant(at) - instant("2000-01-01T00:00:00Z");
    since.num_minutes().unsigned_abs()
}

#[test]
fn minutes_of_functions_and_containers_are_ranges() {
    let of = |at: &str, salt: &str| Timeline {
        host: "shop".to_owned(),
        function: "onorder".to_owned(),
        minute: minutes(at),
        salt: salt.to_owned(),
        container_name: "web-1".to_owned(),
        total_run: 3,
    };
    let run = of("2024-02-28T09:05:07Z", "web-1");
    both_ways(&run, ("T2", "shop-onorder-00000000000012707105-web-1"));
    both_ways(&of("2000-01-01T00:00:59Z", "a"), ("T2", "shop-onorder-00000000000000000000-a"));
    let active = |at: &str, container: &str| ActiveContainer {
        minute: minutes(at),
        container: container.to_owned(),
        start_time: instant(at),
    };
    both_ways(&active("2024-02-28T09:05:07Z", "web-1"), ("C", "00000000000012707105-web-1-"));
    both_ways(&active("2000-01-01T00:01:00Z", "b"), ("C", "00000000000000000001-b-"));
    let count = |at: &str, salt| InstanceCount {
        at: instant(at),
        container: "web1".to_owned(),
        salt,
        current_active: 2,
    };
    both_ways(&count("2024-02-28T09:05:07Z", 12), ("IA", "00638447079070000000-web1-12"));
    both_ways(&count("2024-02-28T09:05:07.250Z", -1), ("IA", "00638447079072500000-web1--1"));
    block_on(async {
        let runs = stored!(
            Timeline,
            [of("2024-02-28T09:04:00Z", "a"), run.clone(), of("2024-02-28T09:06:00Z", "a")]
        );
        let minute = minutes("2024-02-28T09:05:00Z");
        let window = || Timeline::rows().host_is("shop").function_is("onorder").minute(minute..minute + 1);
        assert_eq!(runs.query(window()).plan().unwrap().class, QueryClass::Range);
        assert_eq!(runs.query(window()).collect().await.unwrap(), [run]);
        let counts = stored!(
            InstanceCount,
            [
                count("2024-02-28T09:05:07Z", 2),
                count("2024-02-28T09:05:07Z", 10),
                count("2024-02-28T10:00:00Z", 1)
            ]
        );
        let hour = instant("2024-02-28T09:00:00Z")..instant("2024-02-28T10:00:00Z");
        assert_eq!(counts.query(InstanceCount::rows().at(hour)).collect().await.unwrap().len(), 2);
    });
}

/// The requests to a storage account in one hour. The `PartitionKey` is the hour as `yyyyMMddTHHmm`, and the `RowKey` is `{access};{transaction}`.
/// The layout is documented on the page "Storage Analytics metrics table schema"
/// (`learn.microsoft.com/rest/api/storageservices/storage-analytics-metrics-table-schema`). It is also found in `Azure/azure-storage-net`, file
/// `Lib/ClassLibraryCommon/Analytics/MetricsEntity.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "$MetricsHourPrimaryTransactionsBlob",
    allow(hot_partition, reason = "the layout of another program")
)]
#[partition_key(pattern("yyyyMMddTHHmm", time))]
#[row_key(access_type, ";", transaction_type)]
struct HourOfTransactions {
    time: DateTime<Utc>,
    access_type: AccessType,
    transaction_type: String,
    total_requests: i64,
}

#[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
enum AccessType {
    #[key_part("user")]
    User,
    #[key_part("system")]
    System,
}

/// The capacity of a storage account on one day. The `PartitionKey` is `yyyyMMddT0000`, and the `RowKey` is `data` or `analytics` (documented on the
/// same page; file `CapacityEntity.cs`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "$MetricsCapacityBlob", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(pattern("yyyyMMddTHHmm", time))]
#[row_key(of)]
struct DayOfCapacity {
    time: DateTime<Utc>,
    of: CapacityOf,
    capacity: i64,
}

#[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
enum CapacityOf {
    #[key_part("data")]
    Data,
    #[key_part("analytics")]
    Analytics,
}

#[test]
fn metrics_of_a_storage_account() {
    let of = |at: &str, access_type, transaction: &str| HourOfTransactions {
        time: instant(at),
        access_type,
        transaction_type: transaction.to_owned(),
        total_requests: 7,
    };
    let all = of("2024-02-28T09:00:00Z", AccessType::User, "All");
    both_ways(&all, ("20240228T0900", "user;All"));
    both_ways(
        &of("2024-02-28T09:00:00Z", AccessType::System, "GetBlob"),
        ("20240228T0900", "system;GetBlob"),
    );
    let capacity = |of| DayOfCapacity { time: instant("2024-02-28T00:00:00Z"), of, capacity: 1_024 };
    both_ways(&capacity(CapacityOf::Data), ("20240228T0000", "data"));
    both_ways(&capacity(CapacityOf::Analytics), ("20240228T0000", "analytics"));
    let hours = ["2023-12-31T23:00:00Z", "2024-01-01T00:00:00Z", "2024-02-28T09:00:00Z"];
    let keys = hours.map(|hour| of(hour, AccessType::User, "All").key_of().unwrap().partition_key);
    assert!(keys.is_sorted(), "{keys:?}");
}
