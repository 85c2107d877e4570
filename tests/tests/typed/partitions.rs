//! Tests ranges of partitions whose keys have no levels. The layouts come from public projects. They are by time, by hash, and by the first characters of a
//! name.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::Bound;

use chrono::{DateTime, NaiveDate, Utc};
use pollster::block_on;
use table_core::query::QueryClass;
use table_core::selection::{FanOut, PartitionRange};
use table_core::{Engine, Entity, Selection, TableEntity, TableStoreExt};

fn instant(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// A log entry from Azure Diagnostics (`Microsoft.WindowsAzure.Diagnostics`). The `PartitionKey` consists of `0` and the ticks of the minute.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "WADLogsTable", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("0", minute)]
#[row_key(number)]
struct Diagnostics {
    minute: DateTime<Utc>,
    number: u64,
}

#[test]
fn diagnostics_by_time() {
    block_on(async {
        let logs = Engine::in_memory().table::<Diagnostics>().create_if_missing().await.unwrap();
        let minutes =
            ["2000-01-20T11:24:00Z", "2000-01-20T11:25:00Z", "2000-01-20T11:26:00Z", "2000-01-20T11:27:00Z"];
        for (minute, number) in minutes.map(instant).into_iter().zip(1..) {
            logs.insert(&Diagnostics { minute, number }).await.unwrap();
        }
        // This row was written by another program. Its partition key is not a number of ticks.
        let bags = logs.store().untyped("WADLogsTable").unwrap();
        bags.insert(&TableEntity::new("0x", "1").unwrap()).await.unwrap();
        let numbers = |selection: Selection<Diagnostics, PartitionRange>| {
            let logs = &logs;
            async move {
                let found = logs.query(selection).collect().await.unwrap();
                found.iter().map(|log| log.number).collect::<Vec<_>>()
            }
        };
        let [first, second, third, fourth] = minutes.map(instant);
        assert_eq!(numbers(Diagnostics::partitions_by_minute(second..fourth)).await, [2, 3]);
        assert_eq!(numbers(Diagnostics::partitions_by_minute(first..=second)).await, [1, 2]);
        assert_eq!(
            numbers(Diagnostics::partitions_by_minute((Bound::Excluded(third), Bound::Unbounded))).await,
            [4]
        );
        assert_eq!(numbers(Diagnostics::partitions_by_minute(..)).await, [1, 2, 3, 4]);
        let range = Diagnostics::partitions_by_minute(second..fourth);
        assert_eq!(range.class(), QueryClass::PartitionRange);
        let text = logs.plan(range).unwrap().to_string();
        let filter = "PartitionKey ge '00630839643000000000' and PartitionKey lt '00630839644200000000'";
        assert!(text.contains(filter), "{text}");
        assert!(text.contains("targeted cross-partition scan"), "{text}");
    });
}

/// An Orleans reminder (`Orleans.Reminders.AzureStorage`) in the partition `{serviceId}_{hash:X8}`. Each silo reads its ranges of hashes.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrleansReminders")]
#[partition_key(service, "_", hex(8, upper, hash))]
#[row_key(grain, "-", name)]
struct Reminder {
    #[without('_')]
    service: String,
    hash: u32,
    #[without('-')]
    grain: String,
    name: String,
}

#[test]
fn reminders_of_a_range_of_the_ring() {
    block_on(async {
        let reminders = Engine::in_memory().table::<Reminder>().create_if_missing().await.unwrap();
        let of = |service: &str, hash| Reminder {
            service: service.to_owned(),
            hash,
            grain: "GrainReference=0300".to_owned(),
            name: "tick".to_owned(),
        };
        for reminder in [
            of("shop", 0x0000_000A),
            of("shop", 0x0F00_0000),
            of("shop", 0xFFFF_FFFF),
            of("shop2", 0x0F00_0000),
        ] {
            reminders.insert(&reminder).await.unwrap();
        }
        let key = of("shop", 0x0F00_0000).key_of().unwrap();
        assert_eq!(
            (key.partition_key.as_str(), key.row_key.as_str()),
            ("shop_0F000000", "GrainReference=0300-tick")
        );
        // The hash range of a silo excludes its start and includes its end.
        let owned =
            Reminder::partitions_by_hash("shop", (Bound::Excluded(0xA), Bound::Included(0x0F00_0000)));
        let found = reminders.query(owned).collect().await.unwrap();
        assert_eq!(found.iter().map(|reminder| reminder.hash).collect::<Vec<_>>(), [0x0F00_0000]);
        let all = reminders.query(Reminder::partitions_by_hash("shop", ..)).collect().await.unwrap();
        assert_eq!(all.len(), 3);
        let services =
            reminders.query(Reminder::partitions_by_service_prefix("shop")).collect().await.unwrap();
        assert_eq!(services.len(), 4);
    });
}

/// An instance in the Durable Task Framework (`DurableTask.AzureStorage`). The `PartitionKey` is the escaped instance id, and the `RowKey` is empty.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Instances")]
#[partition_key(caret(instance))]
#[row_key("")]
struct Instance {
    instance: String,
    runtime_status: String,
}

#[test]
fn instances_by_the_beginning_of_their_ids() {
    block_on(async {
        let instances = Engine::in_memory().table::<Instance>().create_if_missing().await.unwrap();
        for instance in ["@counter@a", "order/1", "order/2", "orders"] {
            let instance = Instance { instance: instance.to_owned(), runtime_status: "Running".to_owned() };
            instances.insert(&instance).await.unwrap();
        }
        let orders = Instance::partitions_by_instance_prefix("order/");
        let found = instances.query(orders).collect().await.unwrap();
        assert_eq!(
            found.iter().map(|found| found.instance.as_str()).collect::<Vec<_>>(),
            ["order/1", "order/2"]
        );
    });
}

/// A visit in a daily log. The visits of each day are distributed over several partitions by user.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Visits")]
#[partition_key(bucket(user, 4), "_", pattern("yyyyMMdd", day))]
#[row_key(user, "_", digits(4, number))]
#[index(ByDay, partition_key("day_", day), row_key(user, "_", digits(4, number)))]
struct Visit {
    day: NaiveDate,
    user: u64,
    number: u32,
}

#[test]
fn days_of_all_buckets() {
    let day = |day| NaiveDate::from_ymd_opt(2024, 2, day).unwrap();
    let days = Visit::partitions_by_day(day(28)..day(29));
    assert_eq!(days.class(), QueryClass::FanOut(4));
    let ranges = days.ranges().unwrap();
    for (bucket, range) in ranges.iter().enumerate() {
        assert!(range.contains(&format!("{bucket}_20240228"), "x"));
        assert!(!range.contains(&format!("{bucket}_20240227"), "x"));
    }
    let _: Selection<Visit, FanOut> = days.clone();
    let copies = Visit::by_day_partitions_by_day(day(28)..);
    assert!(copies.ranges().unwrap()[0].contains("day_20240301", "x"));
    assert!(!copies.ranges().unwrap()[0].contains("day_x", "x"));
}

/// A shopping cart, in a partition for the hash of its user. Several readers each read a share of the hashes.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Carts")]
#[partition_key(hash(crc32, 8, user))]
#[row_key(user)]
struct Cart {
    user: String,
    items: i32,
}

#[test]
fn a_table_by_shares_of_its_hashes() {
    block_on(async {
        let carts = Engine::in_memory().table::<Cart>().create_if_missing().await.unwrap();
        for user in 0..100 {
            carts.insert(&Cart { user: format!("user{user}"), items: user }).await.unwrap();
        }
        let mut found = Vec::new();
        for share in 0..3 {
            let share = carts.query(Cart::partitions_by_user_share(share, 3)).collect().await.unwrap();
            assert!(share.len() > 20, "{}", share.len());
            found.extend(share.iter().map(|cart| cart.items));
        }
        found.sort_unstable();
        assert_eq!(found, (0..100).collect::<Vec<_>>());
    });
}
