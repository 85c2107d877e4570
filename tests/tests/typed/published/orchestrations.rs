//! Tests the table layouts of the Durable Task Framework: orchestration instances and their history.

use pollster::block_on;
use table_core::{Engine, Entity, TableStoreExt};

use super::{both_ways, stored};

/// The state of an orchestration in `DurableTask.AzureStorage` (table `Instances`). The `PartitionKey` is the instance identifier, escaped with `^`. The
/// `RowKey` is empty.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "TestHubInstances")]
#[partition_key(caret(instance))]
#[row_key("")]
struct Instance {
    instance: String,
    runtime_status: String,
}

#[test]
fn the_instances_of_orchestrations() {
    let of =
        |instance: &str| Instance { instance: instance.to_owned(), runtime_status: "Running".to_owned() };
    both_ways(&of("order/7"), ("order^07", ""));
    block_on(async {
        let instances = Engine::in_memory().table::<Instance>().create_if_missing().await.unwrap();
        for instance in ["order/7", "order/8", "refund/7"] {
            instances.insert(&of(instance)).await.unwrap();
        }
        let orders =
            instances.query(Instance::partitions_by_instance_prefix("order/")).collect().await.unwrap();
        assert_eq!(orders, [of("order/7"), of("order/8")]);
    });
}

/// An event in the history of an orchestration in `DurableTask.AzureStorage`. `KeySanitation.EscapePartitionKey` encodes the `PartitionKey`. The
/// `RowKey` is `{sequence:X16}`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "History")]
#[partition_key(caret(instance))]
#[row_key(hex(16, upper, sequence))]
struct History {
    instance: String,
    sequence: u64,
    event: String,
}

#[test]
fn the_history_of_orchestrations() {
    let of =
        |sequence| History { instance: "order/7".to_owned(), sequence, event: "TaskScheduled".to_owned() };
    both_ways(&of(42), ("order^07", "000000000000002A"));
    block_on(async {
        let history = stored!(History, [of(1), of(9), of(10), of(42)]);
        let later = history.query(History::rows("order/7").sequence(10..)).collect().await.unwrap();
        assert_eq!(later.iter().map(|event| event.sequence).collect::<Vec<_>>(), [10, 42]);
        assert_eq!(*history.get(History::key("order/7", 9)).await.unwrap().unwrap().value(), of(9));
    });
}
