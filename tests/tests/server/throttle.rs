//! Tests that the server throttles requests at the published scalability targets of the service.

use table_azure::{AzureQueues, AzureTables, Options, RetryPolicy};
use table_core::query::{KeyRange, Query};
use table_core::queue::{PutMessage, QueueName};
use table_core::row::RowWriter;
use table_core::{
    Clock, Engine, ErrorCode, Operation, OperationKind, PartitionKey, QueueStore, Result, RowKey, TableName,
    TableStore, Transaction, ValueRef, ticks,
};
use table_server::{Config, Throttle};
use tests::served::{account, with_server};

fn inserts(partition: &str, rows: std::ops::Range<u32>) -> Transaction {
    let limits = Engine::in_memory().capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new(partition).unwrap(), limits).unwrap();
    for number in rows {
        let mut row = RowWriter::new();
        row.property("Age", ValueRef::Int32(34));
        let row_key = RowKey::new(format!("{number:05}")).unwrap();
        transaction.push(Operation { row_key, kind: OperationKind::Insert(row.finish()) }).unwrap();
    }
    transaction
}

#[test]
fn scl_3_beyond_the_target_of_a_partition_the_server_is_busy() {
    let throttle = Throttle::published(Clock::new(|| ticks::UNIX_EPOCH));
    with_server(Config::on_loopback(account().throttled(throttle)), async |connection, _| {
        let options = Options::new().retry(RetryPolicy::NONE);
        let tables = AzureTables::from_connection_string_with(&connection, options).unwrap();
        let table = TableName::new("Employee").unwrap();
        tables.create_table(&table).await.unwrap();
        // The clock does not advance. The allowance of 2,000 entities per second is therefore not refilled.
        for group in 0..20 {
            tables.submit(&table, inserts("Sales", group * 100..group * 100 + 100)).await.unwrap();
        }
        let busy = |result: Result<()>| assert_eq!(result.unwrap_err().code(), ErrorCode::ServerBusy);
        busy(tables.submit(&table, inserts("Sales", 9_000..9_100)).await.map(drop));
        busy(tables.submit(&table, inserts("Sales", 9_000..9_001)).await.map(drop));
        busy(tables.query(&table, &Query::new(KeyRange::partition("Sales")), None).await.map(drop));
        tables.submit(&table, inserts("Marketing", 0..1)).await.unwrap();
    });
}

#[test]
fn scl_1_and_3_each_message_of_a_page_counts_for_its_queue() {
    let throttle = Throttle::published(Clock::new(|| ticks::UNIX_EPOCH));
    with_server(Config::on_loopback(account().throttled(throttle)), async |connection, _| {
        let options = Options::new().retry(RetryPolicy::NONE);
        let queues = AzureQueues::from_connection_string_with(&connection, options).unwrap();
        let work = QueueName::new("work").unwrap();
        queues.create_queue(&work).await.unwrap();
        for number in 0..32 {
            queues.put(&work, PutMessage::new(number.to_string())).await.unwrap();
        }
        // The clock does not advance. The allowance of 2,000 messages per second is therefore not refilled.
        for _ in 0..60 {
            assert_eq!(queues.peek(&work, 32).await.unwrap().len(), 32);
        }
        let hour = std::time::Duration::from_secs(3_600);
        assert_eq!(queues.receive(&work, 32, hour).await.unwrap().len(), 32);
        // Of the 2,000 messages, 16 are left. An empty page counts as one message.
        for _ in 0..16 {
            assert!(queues.peek(&work, 32).await.unwrap().is_empty());
        }
        assert_eq!(queues.peek(&work, 1).await.unwrap_err().code(), ErrorCode::ServerBusy);
    });
}
