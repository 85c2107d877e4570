//! Opens stores in an account. Each store uses a separate name prefix.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};

use object_store::ObjectStore;
use object_store::memory::InMemory;
use table_advice::meter::Meter;
use table_azure::{AzureBlobs, AzureQueues, AzureTables};
use table_core::queue::DynQueueStore;
use table_core::{DynTableStore, Engine, ErrorCode, Result};

use crate::prefixed::Prefixed;
use crate::store::{DeleteContainer, Run, Store};

/// Opens a new store in an account. The store has tables and queues with a unique prefix, and a new blob container. Existing data is not changed.
///
/// If the connection string lacks a queue or blob endpoint, as for Cosmos DB, the queues or blobs are kept in memory. Blobs are also kept in memory if the
/// account has no blob service, for example on `table-server`.
///
/// # Errors
/// Any error from [`AzureTables::from_connection_string`], or from the creation of the container.
pub async fn azure(connection_string: &str) -> Result<Store> {
    let name = format!("cookbook{:016x}", RandomState::new().hash_one(connection_string.len()));
    let account = AzureTables::from_connection_string(connection_string)?;
    let queues = match AzureQueues::from_connection_string(connection_string) {
        Err(error) if error.rule() == Some("AUTH-31") => DynQueueStore::new(Engine::in_memory()),
        queues => DynQueueStore::new(queues?),
    };
    let (blobs, container): (Arc<dyn ObjectStore>, Option<DeleteContainer>) =
        match AzureBlobs::from_connection_string(connection_string) {
            Err(error) if error.rule() == Some("AUTH-31") => (Arc::new(InMemory::new()), None),
            blobs => {
                let blobs = blobs?;
                match blobs.create_container(&name).await {
                    Err(error) if error.code() == ErrorCode::NotImplemented => {
                        (Arc::new(InMemory::new()), None)
                    }
                    made => {
                        made?;
                        (Arc::new(blobs.container(&name)?), Some(deletes(blobs, name.clone())))
                    }
                }
            }
        };
    let run = Run { prefix: format!("{name}-"), queues: Mutex::default(), container };
    let tables = Meter::new(DynTableStore::new(Prefixed::new(account, name)));
    Ok(Store { tables, queues, blobs, run: Arc::new(run) })
}

fn deletes(blobs: AzureBlobs, name: String) -> DeleteContainer {
    Box::new(move || {
        let (blobs, name) = (blobs.clone(), name.clone());
        Box::pin(async move { blobs.delete_container(&name).await.map(drop) })
    })
}
