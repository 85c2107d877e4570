//! Tests on a Cosmos DB for NoSQL account, if one is configured: the behaviour suite, and placement checks.
//!
//! `TABLE_COSMOS_ENDPOINT` and `TABLE_COSMOS_KEY` specify the account. Without them, the suite is skipped with a message. `TABLE_COSMOS_REGION`
//! is the region to test in (default: East US). `TABLE_COSMOS_THROUGHPUT` is the throughput of each container (default: 400 RU/s; at 20,000, a
//! container has several physical partitions). The suite creates a database, and deletes it at the end.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "emulator/deviations.rs"]
mod deviations;
#[path = "emulator/placement.rs"]
mod placement;

use std::env;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use azure_core::credentials::Secret;
use azure_data_cosmos::options::Region;
use azure_data_cosmos::{AccountReference, CosmosClient, RoutingStrategy};
use table_core::{TableName, TableStore};
use table_cosmos::{CosmosTables, Options};
use tests::suite;
use tokio::runtime::Runtime;

use deviations::DEVIATIONS;

struct Account {
    endpoint: String,
    key: String,
    region: String,
    throughput: u64,
}

impl Account {
    fn given() -> Option<Self> {
        let Some((endpoint, key)) =
            env::var("TABLE_COSMOS_ENDPOINT").ok().zip(env::var("TABLE_COSMOS_KEY").ok())
        else {
            let line = "SKIPPED: no account of Cosmos DB: set TABLE_COSMOS_ENDPOINT and TABLE_COSMOS_KEY";
            drop(writeln!(std::io::stderr(), "{line}"));
            return None;
        };
        let region = env::var("TABLE_COSMOS_REGION").unwrap_or_else(|_| "East US".to_owned());
        let throughput = env::var("TABLE_COSMOS_THROUGHPUT").map_or(400, |units| units.parse().unwrap());
        Some(Self { endpoint, key, region, throughput })
    }

    async fn open(&self, database: &str, options: Options) -> (CosmosClient, CosmosTables) {
        let options = options.throughput(self.throughput);
        // The store is opened first, because this also installs the process's TLS provider.
        let store =
            CosmosTables::with_key(&self.endpoint, &self.key, &self.region, database, options).await.unwrap();
        let endpoint = self.endpoint.parse().unwrap();
        let account = AccountReference::with_authentication_key(endpoint, Secret::new(self.key.clone()));
        let region = RoutingStrategy::ProximityTo(Region::new(self.region.clone()));
        let client = CosmosClient::builder().build(account, region).await.unwrap();
        client.create_database(database, None).await.unwrap();
        (client, store)
    }
}

fn database() -> String {
    format!("tables-{}", uuid::Uuid::new_v4().simple())
}

/// Runs a scenario and deletes its tables. Returns a message if the result does not match the list of deviations.
fn outcome(
    runtime: &Runtime,
    name: &str,
    store: &CosmosTables,
    scenario: impl Future<Output = ()>,
) -> Option<String> {
    let held = catch_unwind(AssertUnwindSafe(|| runtime.block_on(scenario))).is_ok();
    runtime.block_on(async {
        for table in store.list_tables("", None, 1_000).await.unwrap().names {
            store.delete_table(&table).await.unwrap();
        }
    });
    let deviates = DEVIATIONS.iter().any(|(deviant, ..)| *deviant == name);
    match (held, deviates) {
        (true, true) => Some(format!("{name} passes; remove it from the deviations")),
        (false, false) => Some(format!("{name} fails")),
        _ => None,
    }
}

#[test]
fn the_behaviour_suite_passes_on_an_account() {
    let Some(account) = Account::given() else { return };
    let runtime = Runtime::new().unwrap();
    let database = database();
    let (client, store) = runtime.block_on(account.open(&database, Options::new()));
    let (store, mut wrong) = (&*Box::leak(Box::new(store)), Vec::new());
    macro_rules! in_turn { ($family:ident, [$($scenario:ident,)*]) => { $(
        let name = concat!(stringify!($family), "::", stringify!($scenario));
        wrong.extend(outcome(&runtime, name, store, suite::$family::$scenario(store)));
    )* } }
    tests::for_each_scenario!(in_turn);
    runtime.block_on(async { client.database_client(database).delete(None).await.unwrap() });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn keys_on_an_account_are_where_the_model_places_them() {
    let Some(account) = Account::given() else { return };
    Runtime::new().unwrap().block_on(async {
        let (database, table) = (database(), TableName::new("Placed").unwrap());
        let (client, store) = account.open(&database, Options::new().levels("Placed", 3)).await;
        store.create_table(&table).await.unwrap();
        placement::keys_lie_where_the_model_places_them(&client, &database, &store, &table).await;
        client.database_client(database).delete(None).await.unwrap();
    });
}
