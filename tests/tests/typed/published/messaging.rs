//! Tests the table layouts of message-driven programs: the commits and stream heads of an event store, and sagas.

use pollster::block_on;
use table_core::{Engine, Entity, TableStoreExt};
use uuid::Uuid;

use super::both_ways;

/// A commit in `EventStore.Persistence.AzureTablesPersistence`. The `PartitionKey` is the stream. The `RowKey` is the sequence number without leading
/// zeros, and the keys therefore do not sort in numeric order (class `CommitExtensions`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Commits")]
#[partition_key(stream)]
#[row_key(unpadded(sequence))]
struct Commit {
    stream: Uuid,
    sequence: i32,
    stream_revision: i32,
    dispatched: bool,
}

/// The head of a stream in the same event store. The keys are the two halves of the stream identifier, as signed numbers (class `StreamHeadExtensions`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "StreamHeads")]
#[partition_key(unpadded(first_half))]
#[row_key(unpadded(second_half))]
struct CommittedHead {
    first_half: i64,
    second_half: i64,
    head_revision: i32,
    snapshot_revision: i32,
}

#[test]
fn the_commits_and_heads_of_an_event_store() {
    let stream = Uuid::from_u128(0x00112233_4455_6677_8899_aabbccddeeff);
    let of = |sequence| Commit { stream, sequence, stream_revision: 2 * sequence, dispatched: true };
    both_ways(&of(10), ("00112233-4455-6677-8899-aabbccddeeff", "10"));
    // These are the two halves of the identifier in the byte order of a .NET GUID.
    let [first, second] = [0, 8].map(|at| {
        let bytes: [u8; 8] = std::array::from_fn(|byte| stream.to_bytes_le()[at + byte]);
        i64::from_le_bytes(bytes)
    });
    let head =
        CommittedHead { first_half: first, second_half: second, head_revision: 20, snapshot_revision: 0 };
    both_ways(&head, ("7383445245961249331", "-4822678189205112"));
    block_on(async {
        let commits = Engine::in_memory().table::<Commit>().create_if_missing().await.unwrap();
        for sequence in [1, 2, 10] {
            commits.insert(&of(sequence)).await.unwrap();
        }
        assert_eq!(commits.get(Commit::key(stream, 2)).await.unwrap().unwrap().stream_revision, 4);
        let all = commits.query(Commit::partition(stream)).collect().await.unwrap();
        assert_eq!(all.iter().map(|commit| commit.sequence).collect::<Vec<_>>(), [1, 10, 2]);
    });
}

/// A saga of `MassTransit`. All sagas are in one partition (class `ConstPartitionSagaKeyFormatter`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Sagas", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("OrderState")]
#[row_key(correlation_id)]
struct Saga {
    #[property(also)]
    correlation_id: Uuid,
    current_state: String,
}

/// The same saga, but each saga has its own partition (class `ConstRowSagaKeyFormatter`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "SagasApart")]
#[partition_key(correlation_id)]
#[row_key("OrderState")]
struct SagaApart {
    correlation_id: Uuid,
    current_state: String,
}

#[test]
fn the_sagas_of_mass_transit() {
    let id = Uuid::from_u128(0xABC);
    let saga = Saga { correlation_id: id, current_state: "Placed".to_owned() };
    both_ways(&saga, ("OrderState", "00000000-0000-0000-0000-000000000abc"));
    let apart = SagaApart { correlation_id: id, current_state: "Placed".to_owned() };
    both_ways(&apart, ("00000000-0000-0000-0000-000000000abc", "OrderState"));
    block_on(async {
        let sagas = Engine::in_memory().table::<Saga>().create_if_missing().await.unwrap();
        let etag = sagas.insert(&saga).await.unwrap();
        let next = Saga { current_state: "Paid".to_owned(), ..saga.clone() };
        sagas.replace(&next, etag.clone()).await.unwrap();
        // If two messages change the same saga, the second must read it again.
        assert!(sagas.replace(&saga, etag).await.unwrap_err().is_conflict());
        assert_eq!(sagas.get(Saga::key(id)).await.unwrap().unwrap().value(), &next);
    });
}
