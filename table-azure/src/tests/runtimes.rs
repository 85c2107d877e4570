//! Tests of connections that several runtimes share: no runtime of a caller can stop a connection that another caller uses.

use std::time::Duration;

use table_core::query::Select;
use table_core::{EntityKey, OperationKind, TableStore};
use tokio::runtime::{Builder, Runtime};

use super::server::*;
use crate::{AzureTables, Options, RetryPolicy};

/// Returns a server that runs on its own thread, and a client without retries.
fn world(replies: impl IntoIterator<Item = Reply>) -> (Runtime, Server, AzureTables) {
    let outer = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = outer.block_on(Server::start(replies));
    let retry = RetryPolicy { attempt_timeout: Duration::from_secs(5), ..RetryPolicy::NONE };
    let client = server.client(Options::new().retry(retry));
    (outer, server, client)
}

async fn write(client: &AzureTables, a: i32) {
    submit(client, [("r", OperationKind::InsertOrReplace(row(a)))]).await.unwrap();
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

#[test]
fn a_connection_outlives_the_pause_and_the_end_of_the_runtime_that_opened_it() {
    let (_outer, server, client) = world(vec![done(); 4]);
    let [first, second] = [current_thread(), current_thread()];
    first.block_on(async {
        write(&client, 1).await;
        // The connection returns to the pool.
        tokio::task::yield_now().await;
    });
    // The first runtime is not running now.
    second.block_on(write(&client, 2));
    drop(first);
    second.block_on(write(&client, 3));
    // This caller has no runtime.
    pollster::block_on(write(&client, 4));
    assert_eq!((server.received().len(), server.connections()), (4, 1));
}

#[test]
fn a_dropped_handle_leaves_the_connections_to_the_others() {
    let (_outer, server, client) = world(vec![entity("2026-11-20T07:00:00Z", 1), done()]);
    let far = client.secondary_reads().unwrap();
    let key = EntityKey::new("p", "r").unwrap();
    assert!(pollster::block_on(far.get(&table(), &key, &Select::All)).unwrap().is_some());
    drop(far);
    pollster::block_on(write(&client, 1));
    assert_eq!((server.received().len(), server.connections()), (2, 1));
}
