//! Tests the table layouts of Orleans and Dapr: reminders sorted by hash, versions of the state of a grain, and the states of applications.

#![expect(clippy::struct_field_names, reason = "the names are those of the published programs")]

use pollster::block_on;
use table_core::{Engine, Entity, ErrorCode, TableStoreExt};

use super::{both_ways, stored};

/// A reminder of an Orleans grain. The `PartitionKey` is `{service}_{hash:X8}`, and the `RowKey` is `{grain}-{reminder}`.
///
/// A silo (server) reads the reminders whose hash is in its range. The keys must therefore sort in the order of the hashes. Found in `dotnet/orleans`, file
/// `src/Azure/Orleans.Reminders.AzureStorage/Storage/RemindersTableManager.cs`, functions `ConstructPartitionKey` and `ConstructRowKey`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrleansReminders")]
#[partition_key(service_id, "_", hex(8, upper, grain_hash))]
#[row_key(without('-', grain_reference), "-", reminder_name)]
struct Reminder {
    #[property(also)]
    service_id: String,
    grain_hash: u32,
    #[property(also)]
    grain_reference: String,
    #[property(also)]
    reminder_name: String,
    start_at: String,
    period: String,
}

#[test]
fn reminders_sort_like_the_hashes_of_grains() {
    let of = |grain_hash, reminder: &str| Reminder {
        service_id: "shop_1".to_owned(),
        grain_hash,
        grain_reference: "GrainReference=0000000000000000000000000000002a03ffffff8ee3e5a6".to_owned(),
        reminder_name: reminder.to_owned(),
        start_at: "2024-02-28 09:05:07.000 GMT".to_owned(),
        period: "00:01:00".to_owned(),
    };
    let row_key = "GrainReference=0000000000000000000000000000002a03ffffff8ee3e5a6-daily-report";
    both_ways(&of(0xFEDC_BA98, "daily-report"), ("shop_1_FEDCBA98", row_key));
    both_ways(&of(42, "daily-report"), ("shop_1_0000002A", row_key));
    let keys = [0, 9, 10, 0x7FFF_FFFF, 0x8000_0000, u32::MAX].map(|hash| of(hash, "r").key_of().unwrap());
    assert!(keys.is_sorted_by(|left, right| left.partition_key < right.partition_key));
    block_on(async {
        let reminders = stored!(Reminder, [of(42, "daily"), of(42, "hourly"), of(43, "daily")]);
        let of_grain = Reminder::rows("shop_1", 42_u32).grain_reference_is(of(42, "").grain_reference);
        let of_grain = reminders.query(of_grain).collect().await.unwrap();
        assert_eq!(of_grain, [of(42, "daily"), of(42, "hourly")]);
    });
}

/// A version of the transactional state of an Orleans grain. The `PartitionKey` is `{grain}_{service}_{state}`, and the `RowKey` is `s_{sequence:x16}`.
/// Found in `dotnet/orleans`, folder `src/Azure/Orleans.Transactions.AzureStorage/TransactionalState`, file `StateEntity.cs`, and in the function
/// `MakePartitionKey` of the factory.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "TransactionalState")]
#[partition_key(grain, "_", without('_', service), "_", without('_', state))]
#[row_key("s_", hex(16, sequence))]
struct GrainState {
    #[without('_')]
    grain: String,
    service: String,
    state: String,
    sequence: u64,
    transaction_id: String,
    state_json: String,
}

/// The row that identifies the committed version of the same state, in the same partition (class `KeyEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "TransactionalState")]
#[partition_key(grain, "_", without('_', service), "_", without('_', state))]
#[row_key("k")]
struct GrainCommit {
    #[without('_')]
    grain: String,
    service: String,
    state: String,
    committed_sequence_id: i64,
}

#[test]
fn versions_of_a_grain_are_a_range_after_its_commit() {
    let (grain, service, state) = ("2a03ffffff", "shop", "balance");
    let of = |sequence| GrainState {
        grain: grain.to_owned(),
        service: service.to_owned(),
        state: state.to_owned(),
        sequence,
        transaction_id: "t1".to_owned(),
        state_json: "{}".to_owned(),
    };
    let commit = GrainCommit {
        grain: grain.to_owned(),
        service: service.to_owned(),
        state: state.to_owned(),
        committed_sequence_id: 10,
    };
    both_ways(&of(1), ("2a03ffffff_shop_balance", "s_0000000000000001"));
    both_ways(&of(i64::MAX.unsigned_abs()), ("2a03ffffff_shop_balance", "s_7fffffffffffffff"));
    both_ways(&commit, ("2a03ffffff_shop_balance", "k"));
    block_on(async {
        let states = stored!(GrainState, [of(1), of(9), of(10), of(16)]);
        states.store().table::<GrainCommit>().insert(&commit).await.unwrap();
        let pending = GrainState::rows(grain, service, state).sequence(11..);
        assert_eq!(states.query(pending).collect().await.unwrap(), [of(16)]);
        let all = states.query(GrainState::rows(grain, service, state)).collect().await.unwrap();
        assert_eq!(all, [of(1), of(9), of(10), of(16)]);
    });
}

/// An application state stored by Dapr. The key `{app}||{key}` is split at `||` into the `PartitionKey` and the `RowKey`. Found in `dapr/components-contrib`,
/// file `state/azure/tablestorage/tablestorage.go`, function `getPartitionAndRowKey`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "statestore")]
#[partition_key(app)]
#[row_key(key)]
struct AppState {
    app: String,
    key: String,
    value: String,
}

#[test]
fn a_state_is_replaced_only_with_its_tag() {
    let of = |key: &str, value: &str| AppState {
        app: "orders".to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
    };
    both_ways(&of("cart-7", "{}"), ("orders", "cart-7"));
    // This key, from a table in Cosmos DB, does not contain `||`.
    both_ways(&of("_dapr_empty_row_key_value_", "1"), ("orders", "_dapr_empty_row_key_value_"));
    block_on(async {
        let states = stored!(AppState, [of("cart-7", "{}")]);
        let read = states.get(AppState::key("orders", "cart-7")).await.unwrap().unwrap();
        states.replace(&of("cart-7", "[1]"), read.etag().clone()).await.unwrap();
        let late = states.replace(&of("cart-7", "[2]"), read.etag().clone()).await.unwrap_err();
        assert_eq!(late.code(), ErrorCode::UpdateConditionNotSatisfied);
    });
}
