//! Tests callers with different runtimes, over HTTP. A caller's runtime must not stop a connection that another caller uses, and a call must return on any
//! thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use azure_core::credentials::Secret;
use azure_data_cosmos::options::{ConnectionPoolOptions, Region};
use azure_data_cosmos::{AccountReference, CosmosClient, CosmosRuntimeBuilder, RoutingStrategy};
use table_core::query::{KeyRange, Query, Select};
use table_core::{BlockOn, EntityKey, OperationKind, TableName, TableStore};
use table_cosmos::emulator::{DATABASE, Emulator};
use table_cosmos::{CosmosTables, Options};
use tokio::runtime::{Builder, Runtime};

use crate::operation::{row, transaction};
use crate::{bridge, runtime};

/// An account with an empty table, served over HTTP.
struct World {
    /// The stores. The first has its own client, and the second and third share a client created by the program.
    stores: [CosmosTables; 3],
    connections: Arc<AtomicUsize>,
    /// The runtime of the server and of the program's own client.
    _outer: Runtime,
}

fn world() -> World {
    let (outer, connections) = (runtime(), Arc::<AtomicUsize>::default());
    let stores = outer.block_on(async {
        let account = Emulator::new(false).unwrap();
        account.create(&table(), 1, 1, None).unwrap();
        let endpoint = bridge::serve(account, Arc::clone(&connections)).await.unwrap();
        let key = "dGVzdGtleQ==";
        let own = CosmosTables::with_key(&endpoint, key, "East US", DATABASE, Options::new()).await.unwrap();
        let account = AccountReference::with_authentication_key(endpoint.parse().unwrap(), Secret::new(key));
        let routing = RoutingStrategy::ProximityTo(Region::EAST_US);
        let pool = ConnectionPoolOptions::builder().with_is_http2_allowed(false).build().unwrap();
        let runtime = CosmosRuntimeBuilder::new().with_connection_pool(pool).build().await.unwrap();
        let client = CosmosClient::builder().with_runtime(runtime).build(account, routing).await.unwrap();
        let [first, second] = [(); 2].map(|()| CosmosTables::with_client(&client, DATABASE, Options::new()));
        [own, first, second]
    });
    World { stores, connections, _outer: outer }
}

fn table() -> TableName {
    TableName::new("Things").unwrap()
}

async fn write(store: &CosmosTables, row_key: &str) {
    let write = transaction(store, [(row_key.to_owned(), OperationKind::Insert(row("x")))]);
    store.submit(&table(), write).await.unwrap();
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn a_connection_outlives_the_pause_and_the_end_of_the_runtime_that_opened_it() {
    let World { stores: [own, one, other], connections, _outer } = world();
    for [before, after] in [[&own, &own], [&one, &other]] {
        let [first, second] = [current_thread(), current_thread()];
        first.block_on(async {
            write(before, "a").await;
            write(after, "b").await;
        });
        let opened = connections.load(Ordering::Relaxed);
        // At this point, the first runtime is not running.
        second.block_on(write(after, "c"));
        drop(first);
        second.block_on(write(after, "d"));
        // This caller has no runtime.
        write(before, "e").block_on();
        assert_eq!(connections.load(Ordering::Relaxed), opened);
        for row_key in ["a", "b", "c", "d", "e"] {
            let key = EntityKey::new("p", row_key).unwrap();
            let delete = OperationKind::Delete(table_core::IfMatch::Any);
            assert!(after.get(&table(), &key, &Select::All).block_on().unwrap().is_some());
            after.submit(&table(), transaction(after, [(row_key.to_owned(), delete)])).block_on().unwrap();
        }
    }
    // After one of the two stores sharing a client is dropped, the second still works.
    drop(one);
    write(&other, "f").block_on();
}

/// Tests synchronous calls inside async code. Each call blocks the thread of the caller's runtime until it returns.
#[test]
fn a_call_returns_while_it_blocks_the_thread_of_the_callers_runtime() {
    let multi_thread = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    for runtime in [current_thread(), multi_thread] {
        let World { stores, _outer, .. } = world();
        let calls = async move {
            for (store, row_key) in stores.iter().zip(["a", "b", "c"]) {
                write(store, row_key).block_on();
                let key = EntityKey::new("p", row_key).unwrap();
                assert!(store.get(&table(), &key, &Select::All).block_on().unwrap().is_some());
                let page = store.query(&table(), &Query::new(KeyRange::ALL), None).block_on().unwrap();
                assert!(!page.rows.is_empty());
                assert_eq!(store.list_tables("", None, 9).block_on().unwrap().names, [table()]);
            }
        };
        runtime.block_on(runtime.spawn(calls)).unwrap();
    }
}
