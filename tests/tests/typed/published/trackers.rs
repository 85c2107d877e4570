//! Tests the table layouts of message buses and orchestrations: the states and events of orchestrations, sagas found by a property, and subscriptions.

use pollster::block_on;
use table_core::{Engine, Entity, TableStoreExt};
use uuid::Uuid;

use super::{both_ways, stored};

/// The state of an orchestration. All states are in one partition. The `RowKey` is `ID_EID_{instance}_{execution}`, where the execution is a GUID
/// without hyphens. Found in `Azure/durabletask`, folder `src/DurableTask.ServiceBus/Tracking`, files `AzureTableOrchestrationStateEntity.cs` and
/// `AzureTableConstants.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "InstanceHistory00hub", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("IS")]
#[row_key("ID_EID_", instance_id, "_", guid(simple, execution_id))]
struct TrackedState {
    #[property(also)]
    instance_id: String,
    execution_id: Uuid,
    orchestration_status: String,
}

/// An event in the history of an orchestration. The `PartitionKey` is `IH_{instance}`. The `RowKey` is `EID_SEQ_{execution}_{sequence}`, where the
/// sequence number has no leading zeros (file `AzureTableOrchestrationHistoryEventEntity.cs` in the same folder, function
/// `BuildDenormalizedEntities`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "InstanceHistory00hub")]
#[partition_key("IH_", instance_id)]
#[row_key("EID_SEQ_", guid(simple, execution_id), "_", unpadded(sequence_number))]
struct TrackedEvent {
    #[property(also)]
    instance_id: String,
    execution_id: Uuid,
    #[property(also)]
    sequence_number: i32,
    history_event: String,
}

#[test]
fn events_of_an_execution_are_a_range_without_an_order() {
    let id = Uuid::from_u128(0xABC);
    let state = TrackedState {
        instance_id: "order_7".to_owned(),
        execution_id: id,
        orchestration_status: "Running".to_owned(),
    };
    both_ways(&state, ("IS", "ID_EID_order_7_00000000000000000000000000000abc"));
    let of = |sequence_number| TrackedEvent {
        instance_id: "order_7".to_owned(),
        execution_id: id,
        sequence_number,
        history_event: "{}".to_owned(),
    };
    both_ways(&of(0), ("IH_order_7", "EID_SEQ_00000000000000000000000000000abc_0"));
    both_ways(&of(12), ("IH_order_7", "EID_SEQ_00000000000000000000000000000abc_12"));
    block_on(async {
        let other = TrackedEvent { execution_id: Uuid::from_u128(0xABD), ..of(1) };
        let events = stored!(TrackedEvent, [of(2), of(10), other]);
        let of_execution = TrackedEvent::rows("order_7").execution_id_is(id);
        let mut found = events.query(of_execution).collect().await.unwrap();
        assert_eq!(found, [of(10), of(2)], "as strings");
        found.sort_by_key(|event| event.sequence_number);
        assert_eq!(found, [of(2), of(10)]);
    });
}

/// An index row that finds a saga by its correlation property. The `PartitionKey` is `Index_{type}_{property}_{JSON}`, and the `RowKey` is empty.
/// Found in `Particular/NServiceBus.Persistence.AzureTable`, file `SagaPersisters/SecondaryIndices/SecondaryIndexKeyBuilder.cs` at commit `14bb3bd`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrderSagaData")]
#[partition_key("Index_Shop.OrderSagaData_OrderId_\"", order_id, "\"")]
#[row_key("")]
struct SagaOfOrder {
    order_id: String,
    saga_id: Uuid,
}

/// An index row that finds a saga by a numeric property. JSON writes a number without quotation marks.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrderSagaData")]
#[partition_key("Index_Shop.OrderSagaData_Number_", unpadded(number))]
#[row_key("")]
struct SagaOfNumber {
    number: i64,
    saga_id: Uuid,
}

#[test]
fn a_saga_is_found_by_the_json_of_a_property() {
    let saga_id = Uuid::from_u128(0xABC);
    let of_order = SagaOfOrder { order_id: "C4D91B59-A407-4CDA-A689-60AA3C334699".to_owned(), saga_id };
    let key = "Index_Shop.OrderSagaData_OrderId_\"C4D91B59-A407-4CDA-A689-60AA3C334699\"";
    both_ways(&of_order, (key, ""));
    both_ways(
        &SagaOfOrder { order_id: String::new(), saga_id },
        ("Index_Shop.OrderSagaData_OrderId_\"\"", ""),
    );
    both_ways(&SagaOfNumber { number: -7, saga_id }, ("Index_Shop.OrderSagaData_Number_-7", ""));
    block_on(async {
        let sagas = stored!(SagaOfOrder, [of_order.clone()]);
        let found = sagas.get(SagaOfOrder::key("C4D91B59-A407-4CDA-A689-60AA3C334699")).await.unwrap();
        assert_eq!(found.unwrap().value(), &of_order);
    });
}

/// A subscription in Rebus. The keys are the topic and the subscriber's address. The row has no properties. Found in `rebus-org/Rebus.AzureTables`, file
/// `Rebus.AzureTables/AzureTables/Subscriptions/AzureTablesSubscriptionStorage.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Subscriptions")]
#[partition_key(topic)]
#[row_key(address)]
struct Subscriber {
    topic: String,
    address: String,
}

#[test]
fn subscribers_are_the_rows_of_a_topic() {
    let of = |topic: &str, address: &str| Subscriber { topic: topic.to_owned(), address: address.to_owned() };
    both_ways(&of("Shop.Placed, Shop", "mail"), ("Shop.Placed, Shop", "mail"));
    both_ways(&of("Shop.Paid, Shop", "mail@host"), ("Shop.Paid, Shop", "mail@host"));
    block_on(async {
        let placed = [of("Shop.Placed, Shop", "mail"), of("Shop.Placed, Shop", "stock")];
        let subscribers =
            stored!(Subscriber, [placed[1].clone(), of("Shop.Paid, Shop", "mail"), placed[0].clone()]);
        let found = subscribers.query(Subscriber::partition("Shop.Placed, Shop")).collect().await.unwrap();
        assert_eq!(found, placed);
    });
}
