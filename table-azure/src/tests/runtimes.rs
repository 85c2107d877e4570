//! Tests of callers with different runtimes.
//!
//! A connection that one caller uses must not stop with the runtime of another caller. A call must return on any thread.

use std::time::Duration;

use table_core::query::{KeyRange, Query, Select};
use table_core::{BlockOn, EntityKey, ErrorCode, OperationKind, TableStore};
use tokio::runtime::{Builder, Runtime};

use super::server::*;
use crate::testing::Testing;
use crate::{AzureTables, Options, RetryPolicy};

/// Returns a server running on a separate thread, and a client that does not retry and uses its own timers.
fn world(replies: impl IntoIterator<Item = Reply>) -> (Runtime, Server, AzureTables) {
    let outer = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = outer.block_on(Server::start(replies));
    let retry = RetryPolicy { attempt_timeout: Duration::from_secs(5), ..RetryPolicy::NONE };
    let client = server.client(options(retry));
    (outer, server, client)
}

fn options(retry: RetryPolicy) -> Options {
    Options { testing: Testing { has_own_timers: true, ..Testing::default() }, ..Options::new().retry(retry) }
}

async fn write(client: &AzureTables, a: i32) {
    submit(client, [("r", OperationKind::InsertOrReplace(row(a)))]).await.unwrap();
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
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
    // At this point, the first runtime is not running.
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

/// Tests synchronous calls inside async code. Each call blocks a thread of the caller's runtime until the call returns.
#[test]
fn a_call_returns_while_it_blocks_the_thread_of_the_callers_runtime() {
    let multi_thread = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    for runtime in [current_thread(), multi_thread] {
        let page = json(200, r#"{"value":[]}"#);
        let (_outer, server, client) =
            world([entity("2026-11-20T07:00:00Z", 1), page.clone(), page, done(), Reply::Silence]);
        let (key, query) = (EntityKey::new("p", "r").unwrap(), Query::new(KeyRange::ALL));
        let limit = RetryPolicy { attempt_timeout: Duration::from_millis(100), ..RetryPolicy::NONE };
        let hasty = server.client(options(limit));
        let calls = async move {
            assert!(client.get(&table(), &key, &Select::All).block_on().unwrap().is_some());
            for _ in 0..2 {
                assert!(client.query(&table(), &query, None).block_on().unwrap().rows.is_empty());
            }
            client.create_table(&table()).block_on().unwrap();
            // If no response arrives, the call ends at its time limit.
            let error = hasty.query(&table(), &query, None).block_on().unwrap_err();
            assert_eq!(error.code(), ErrorCode::Io, "{error}");
        };
        runtime.block_on(runtime.spawn(calls)).unwrap();
        assert_eq!(server.received().len(), 5);
    }
}
