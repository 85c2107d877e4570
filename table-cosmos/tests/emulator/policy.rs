//! Tests that the indexing policies sent for new containers match the policies documented in `docs/cosmos.md`.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value as Json;
use table_core::{TableName, TableStore};
use table_cosmos::emulator::{Delivery, Emulator, Network, Request};
use table_cosmos::{Format, Mapping, Options};

use crate::runtime;

/// A mock network that records the properties of new containers.
struct Created {
    account: Emulator,
    descriptions: Mutex<Vec<Json>>,
}

impl Network for Created {
    fn deliver(&self, request: Request) -> Delivery {
        if request.method == "POST" && request.target.ends_with("/colls") {
            let description = serde_json::from_slice(&request.body);
            self.descriptions.lock().unwrap_or_else(PoisonError::into_inner).extend(description);
        }
        let account = self.account.clone();
        Box::pin(async move { account.receive(&request).await })
    }
}

impl fmt::Debug for Created {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Created")
    }
}

/// Returns the indexing policy in the request that creates a container.
async fn sent(options: Options) -> Json {
    let account = Emulator::new(false).unwrap();
    let network = Arc::new(Created { account: account.clone(), descriptions: Mutex::default() });
    let store = account.open_over(options, network.clone()).await.unwrap();
    store.create_table(&TableName::new("Things").unwrap()).await.unwrap();
    let mut descriptions = network.descriptions.lock().unwrap_or_else(PoisonError::into_inner);
    descriptions.retain(|description| description["indexingPolicy"].is_object());
    assert_eq!(descriptions.len(), 1, "{descriptions:?}");
    descriptions[0]["indexingPolicy"].take()
}

/// Returns the indexing policies documented in the page's section on creating containers.
fn documented() -> Vec<Json> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cosmos.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section = page.split("\n## Creating containers\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks = section.split("```json").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.map(|block| serde_json::from_str(block).unwrap()).collect()
}

#[test]
fn hpk_32_the_documented_indexing_policies_are_the_ones_that_are_sent() {
    runtime().block_on(async {
        let mapping = Mapping::new(["/tenantId"]).property("Total", "/total/amount", Format::Double);
        let mapped = Options::new().mapping("Things", mapping).unwrap();
        assert_eq!(documented(), [sent(Options::new().levels("Things", 2)).await, sent(mapped).await]);
    });
}
