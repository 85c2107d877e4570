//! An in-process Cosmos DB account for tests and examples, built on the Azure SDK's in-memory emulator.
//!
//! The emulator is an internal part of the Azure SDK, without a stability guarantee. It differs from the service in several ways: ids and levels can have any
//! length, items never expire, and a point read with a prefix of the partition key returns 404.

mod log;
mod network;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use azure_core::credentials::Secret;
use azure_core::http::{Request as HttpRequest, Url};
use azure_data_cosmos::options::Region;
use azure_data_cosmos::{AccountReference, CosmosClient, CosmosRuntimeBuilder, RoutingStrategy};
use azure_data_cosmos_driver::CosmosDriverRuntimeBuilder;
use azure_data_cosmos_driver::fault_injection::FaultInjectionRule;
use azure_data_cosmos_driver::in_memory_emulator::{
    ConsistencyLevel, ContainerConfig, EmulatorStore, InMemoryEmulatorHttpClient, RequestObserver,
    RequestUnitChargingModel, VirtualAccountConfig, VirtualRegion,
};
use azure_data_cosmos_driver::models::{EffectivePartitionKey, PartitionKeyDefinition};
use table_core::{Error, ErrorCode, Result, TableName};
use table_hierarchy::{Epk, read_units, write_units};

use crate::client::{provide_tls, unsharded};
use crate::runtime::Runtime;
use crate::{CosmosTables, Options};
use log::Log;
use network::Transport;

pub use log::{Answer, Sent};
pub use network::{Broken, Delivery, Network, Request};

const ENDPOINT: &str = "https://eastus.emulator.local";
/// The name of the emulator's database.
pub const DATABASE: &str = "tables";

/// An in-memory Cosmos DB account.
///
/// ```
/// # fn main() -> table_core::Result<()> {
/// let emulator = table_cosmos::emulator::Emulator::new(false)?;
/// let same = emulator.clone(); // a second handle to the same account
/// # let _ = same;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Emulator {
    client: Arc<InMemoryEmulatorHttpClient>,
    log: Arc<Log>,
}

impl Emulator {
    /// Creates an empty account. If `throttled` is `true`, the account returns 429 once the throughput of a container is used up.
    ///
    /// # Errors
    /// `InternalError` if the Azure SDK's emulator rejects the settings.
    pub fn new(throttled: bool) -> Result<Self> {
        let url = Url::parse(ENDPOINT).map_err(internal)?;
        let config = VirtualAccountConfig::new(vec![VirtualRegion::new("East US", url)])
            .map_err(internal)?
            .with_consistency(ConsistencyLevel::Session)
            .with_ru_model(published_prices())
            .with_throttling_enabled(throttled);
        let log = Arc::new(Log::default());
        let client = InMemoryEmulatorHttpClient::new(config)
            .with_request_observer(Arc::clone(&log) as Arc<dyn RequestObserver>);
        client.store().create_database(DATABASE);
        Ok(Self { client: Arc::new(client), log })
    }

    /// Opens a store on the account.
    ///
    /// # Errors
    /// `InternalError` if the Azure SDK rejects the settings.
    pub async fn open(&self, options: Options) -> Result<CosmosTables> {
        self.open_with_faults(options, Vec::new()).await
    }

    /// Opens a store with rules that inject failures or responses into the Azure SDK. The store's own retries also apply to the injected results.
    ///
    /// # Errors
    /// `InternalError` if the Azure SDK rejects the settings.
    pub async fn open_with_faults(
        &self,
        options: Options,
        rules: Vec<Arc<FaultInjectionRule>>,
    ) -> Result<CosmosTables> {
        Ok(opened(&self.client(rules).await?, options))
    }

    /// Opens a store that sends its requests over a scripted network.
    ///
    /// # Errors
    /// `InternalError` if the Azure SDK rejects the settings.
    pub async fn open_over(&self, options: Options, network: Arc<dyn Network>) -> Result<CosmosTables> {
        let runtime =
            CosmosDriverRuntimeBuilder::new().with_mock_http_client_factory(Arc::new(Transport(network)));
        Ok(opened(&connected(runtime).await?, options))
    }

    /// Returns an Azure SDK client for this account, with rules that inject failures or responses.
    ///
    /// # Errors
    /// `InternalError` if the Azure SDK rejects the settings.
    pub async fn client(&self, rules: Vec<Arc<FaultInjectionRule>>) -> Result<CosmosClient> {
        connected(if rules.is_empty() {
            self.client.runtime_builder()
        } else {
            self.client.runtime_builder_with_fault_rules(rules)
        })
        .await
    }

    /// Processes a request delivered by a [`Network`].
    ///
    /// # Errors
    /// [`Broken::AfterSending`] if the emulator cannot process the request.
    pub async fn receive(&self, request: &Request) -> std::result::Result<Answer, Broken> {
        let headers = request.headers.iter().cloned();
        let answer = self.exchange(&request.method, &request.target, headers, request.body.clone()).await;
        answer.map_err(|_| Broken::AfterSending)
    }

    /// Creates a table's container with the given numbers of levels and physical partitions. The throughput is in request units per second.
    ///
    /// # Errors
    /// `InvalidInput` if the emulator rejects the number of partitions or the throughput.
    pub fn create(
        &self,
        table: &TableName,
        levels: usize,
        partitions: u32,
        throughput: Option<u64>,
    ) -> Result<()> {
        let paths = ["/l1", "/l2", "/l3"];
        let paths = paths.get(..levels.clamp(1, 3)).unwrap_or(&paths);
        self.create_with_paths(table, paths, partitions, throughput)
    }

    /// Creates a container as another program could, with any partition key paths. The throughput is in request units per second.
    ///
    /// # Errors
    /// `InvalidInput` if the emulator rejects the number of partitions or the throughput.
    pub fn create_with_paths(
        &self,
        table: &TableName,
        paths: &[&str],
        partitions: u32,
        throughput: Option<u64>,
    ) -> Result<()> {
        let paths = paths.iter().map(|path| (*path).to_owned().into());
        let definition = PartitionKeyDefinition::new(paths.collect());
        let mut config = ContainerConfig::new().with_partition_count(partitions);
        if let Some(units) = throughput {
            config = config.with_throughput(units);
        }
        let config = config.build().map_err(|error| {
            Error::new(ErrorCode::InvalidInput, "the emulator cannot create this container")
                .with_source(error)
        })?;
        self.store().create_container_with_config(DATABASE, table.as_str(), definition, config);
        Ok(())
    }

    /// Stores a JSON item as if another program had written it. The partition key has the format of the request header, such as `["contoso","ada"]`.
    ///
    /// # Errors
    /// `InvalidInput`, with the emulator's status code, if the emulator rejects the item.
    pub async fn put(&self, table: &TableName, key: &str, item: &str) -> Result<()> {
        let headers = [("x-ms-documentdb-partitionkey", key), ("x-ms-documentdb-is-upsert", "true")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let target = format!("/dbs/{DATABASE}/colls/{table}/docs");
        let Answer { status, .. } = self.exchange("POST", &target, headers, item.into()).await?;
        if status < 300 {
            return Ok(());
        }
        let message = format!("the emulator refused the item with status {status}");
        Err(Error::new(ErrorCode::InvalidInput, message))
    }

    /// Returns the properties of a table's container, as JSON.
    ///
    /// # Errors
    /// `InternalError` if the emulator cannot process the request.
    pub async fn described(&self, table: &TableName) -> Result<String> {
        let target = format!("/dbs/{DATABASE}/colls/{table}");
        let answer = self.exchange("GET", &target, [], Vec::new()).await?;
        String::from_utf8(answer.body).map_err(internal)
    }

    /// Processes an HTTP request, such as one that a loopback server has received.
    ///
    /// # Errors
    /// `InvalidInput` if the method or the target is not part of the protocol.
    pub async fn exchange(
        &self,
        method: &str,
        target: &str,
        headers: impl IntoIterator<Item = (String, String)>,
        body: Vec<u8>,
    ) -> Result<Answer> {
        let invalid =
            |what: &str| Error::new(ErrorCode::InvalidInput, format!("`{what}` is not part of the protocol"));
        let url = Url::parse(ENDPOINT).and_then(|url| url.join(target)).map_err(|_| invalid(target))?;
        let mut request = HttpRequest::new(url, method.parse().map_err(|_| invalid(method))?);
        for (name, value) in headers {
            request.insert_header(name.to_ascii_lowercase(), value);
        }
        request.set_body(body);
        let answer = self.client.execute_request(&request).await.map_err(internal)?;
        let answer = answer.try_into_raw_response().await.map_err(internal)?;
        let headers = answer.headers().iter();
        let headers =
            headers.map(|(name, value)| (name.as_str().to_owned(), value.as_str().to_owned())).collect();
        Ok(Answer { status: u16::from(answer.status()), headers, body: answer.body().as_ref().to_vec() })
    }

    /// Returns the requests that the account has received since the last call.
    #[must_use]
    pub fn sent(&self) -> Vec<Sent> {
        self.log.take()
    }

    /// Starts a split of a physical partition at an effective partition key. The partition is locked for the duration `locked`. During this time, requests to
    /// it fail with 410 and sub-status 1007.
    ///
    /// # Errors
    /// `InvalidInput` if the emulator cannot parse the key.
    pub fn split(&self, table: &TableName, partition: u32, at: &Epk, locked: Duration) -> Result<()> {
        let at = EffectivePartitionKey::try_from(at.to_string().as_str()).map_err(|error| {
            Error::new(ErrorCode::InvalidInput, "the emulator cannot split there").with_source(error)
        })?;
        self.store().split_partition_at_epk(DATABASE, table.as_str(), partition, at, locked);
        Ok(())
    }

    /// Starts a merge of two adjacent physical partitions. Both are locked for the duration `locked`. During this time, requests to them fail.
    pub fn merge(&self, table: &TableName, left: u32, right: u32, locked: Duration) {
        self.store().merge_partitions(DATABASE, table.as_str(), left, right, locked);
    }

    /// Waits until all splits and merges are complete.
    pub async fn settled(&self) {
        self.store().drain_pending_control_plane().await;
    }

    fn store(&self) -> Arc<EmulatorStore> {
        self.client.store()
    }
}

/// Returns a charging model with the published request charges for an item of up to 1 KB. For larger items, the emulator doubles the charge each time the size
/// doubles. The service does not.
fn published_prices() -> RequestUnitChargingModel {
    RequestUnitChargingModel {
        read_base_ru: read_units(0),
        create_base_ru: write_units(0),
        write_multiplier: 1.0,
        indexing_ru_per_property: 0.0,
    }
}

/// Creates a store whose requests run on the caller's runtime, as the emulator's tasks do. A test can therefore pause the clock.
fn opened(client: &CosmosClient, options: Options) -> CosmosTables {
    CosmosTables::build(client, DATABASE, options, Runtime::of_callers())
}

/// Creates an Azure SDK client for the in-memory account.
async fn connected(runtime: CosmosDriverRuntimeBuilder) -> Result<CosmosClient> {
    provide_tls();
    let endpoint = ENDPOINT.parse().map_err(internal)?;
    let account = AccountReference::with_authentication_key(endpoint, Secret::new("dGVzdGtleQ=="));
    let runtime = unsharded(CosmosRuntimeBuilder::from(runtime)).build().await.map_err(internal)?;
    CosmosClient::builder()
        .with_runtime(runtime)
        .build(account, RoutingStrategy::ProximityTo(Region::EAST_US))
        .await
        .map_err(internal)
}

fn internal(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorCode::InternalError, "the vendor's emulator could not be set up").with_source(error)
}

impl fmt::Debug for Emulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emulator").finish_non_exhaustive()
    }
}
