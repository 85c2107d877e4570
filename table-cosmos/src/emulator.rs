//! The vendor's in-memory emulator: an account inside the process, for tests and recipes.
//!
//! It is internal to the vendor's client, without any promise of stability, and not the service: it takes ids and levels of any length,
//! keeps items beyond their time to live, and answers a prefix in a point read with 404.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use azure_core::credentials::Secret;
use azure_core::http::{Request, Url};
use azure_data_cosmos::options::Region;
use azure_data_cosmos::{AccountReference, CosmosClient, CosmosRuntimeBuilder, RoutingStrategy};
use azure_data_cosmos_driver::fault_injection::FaultInjectionRule;
use azure_data_cosmos_driver::in_memory_emulator::{
    ConsistencyLevel, ContainerConfig, EmulatorStore, InMemoryEmulatorHttpClient, RequestObserver,
    VirtualAccountConfig, VirtualRegion,
};
use azure_data_cosmos_driver::models::{EffectivePartitionKey, PartitionKeyDefinition};
use table_core::hierarchy::Epk;
use table_core::{Error, ErrorCode, Result, TableName};

use crate::client::provide_tls;
use crate::{CosmosTables, Options};

const ENDPOINT: &str = "https://eastus.emulator.local";
/// The database of its tables.
pub const DATABASE: &str = "tables";

/// An account in memory.
///
/// ```
/// # fn main() -> table_core::Result<()> {
/// let emulator = table_cosmos::emulator::Emulator::new(false)?;
/// let same = emulator.clone(); // a handle: both are one account
/// # let _ = same;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Emulator {
    client: Arc<InMemoryEmulatorHttpClient>,
    log: Arc<Log>,
}

/// What was sent.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<Sent>>);

/// A request, as far as routing goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sent {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// The path.
    pub path: String,
    /// Whether it is a query for items.
    pub is_query: bool,
    /// The number of the physical partition, if it names one.
    pub partition: Option<String>,
    /// The bounds of the keys that are asked for, if it names some.
    pub range: Option<(String, String)>,
    /// The partition key, if it names one.
    pub key: Option<String>,
    /// Bytes of the body.
    pub bytes: usize,
}

/// An answer of the account.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

impl RequestObserver for Log {
    fn on_request(&self, request: &Request) {
        let header = |wanted: &str| {
            let mut headers = request.headers().iter();
            headers.find(|(name, _)| name.as_str() == wanted).map(|(_, value)| value.as_str().to_owned())
        };
        let sent = Sent {
            method: request.method().as_str().to_owned(),
            path: request.url().path().to_owned(),
            is_query: header("x-ms-documentdb-isquery")
                .is_some_and(|value| value.eq_ignore_ascii_case("true")),
            partition: header("x-ms-documentdb-partitionkeyrangeid"),
            range: header("x-ms-start-epk").zip(header("x-ms-end-epk")),
            key: header("x-ms-documentdb-partitionkey"),
            bytes: request.body().len().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default(),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sent);
    }
}

impl Emulator {
    /// An empty account; `throttled` answers 429 where a container's throughput is used up.
    ///
    /// # Errors
    /// `InternalError` if the vendor's emulator refuses its settings.
    pub fn new(throttled: bool) -> Result<Self> {
        let url = Url::parse(ENDPOINT).map_err(internal)?;
        let config = VirtualAccountConfig::new(vec![VirtualRegion::new("East US", url)])
            .map_err(internal)?
            .with_consistency(ConsistencyLevel::Session)
            .with_throttling_enabled(throttled);
        let log = Arc::new(Log::default());
        let client = InMemoryEmulatorHttpClient::new(config)
            .with_request_observer(Arc::clone(&log) as Arc<dyn RequestObserver>);
        client.store().create_database(DATABASE);
        Ok(Self { client: Arc::new(client), log })
    }

    /// A store on it.
    ///
    /// # Errors
    /// What the client refuses.
    pub async fn open(&self, options: Options) -> Result<CosmosTables> {
        self.open_with_faults(options, Vec::new()).await
    }

    /// A store on it, some of whose requests fail or are answered by these rules of the vendor's, below the client's own retries.
    ///
    /// # Errors
    /// What the client refuses.
    pub async fn open_with_faults(
        &self,
        options: Options,
        rules: Vec<Arc<FaultInjectionRule>>,
    ) -> Result<CosmosTables> {
        Ok(CosmosTables::on(&self.client(rules).await?, DATABASE, options))
    }

    /// The vendor's client of it, with such rules.
    ///
    /// # Errors
    /// What the client refuses.
    pub async fn client(&self, rules: Vec<Arc<FaultInjectionRule>>) -> Result<CosmosClient> {
        provide_tls();
        let endpoint = ENDPOINT.parse().map_err(internal)?;
        let account = AccountReference::with_authentication_key(endpoint, Secret::new("dGVzdGtleQ=="));
        let runtime = if rules.is_empty() {
            self.client.runtime_builder()
        } else {
            self.client.runtime_builder_with_fault_rules(rules)
        };
        let runtime = CosmosRuntimeBuilder::from(runtime);
        let runtime = runtime.build().await.map_err(internal)?;
        CosmosClient::builder()
            .with_runtime(runtime)
            .build(account, RoutingStrategy::ProximityTo(Region::EAST_US))
            .await
            .map_err(internal)
    }

    /// Creates the container of a table with so many levels on so many physical partitions.
    ///
    /// # Errors
    /// `InvalidInput` for numbers that the emulator refuses.
    pub fn create(
        &self,
        table: &TableName,
        levels: usize,
        partitions: u32,
        throughput: Option<u64>,
    ) -> Result<()> {
        let paths = ["/l1", "/l2", "/l3"].into_iter().take(levels.clamp(1, 3));
        let definition = PartitionKeyDefinition::new(paths.map(Into::into).collect());
        let mut config = ContainerConfig::new().with_partition_count(partitions);
        if let Some(units) = throughput {
            config = config.with_throughput(units);
        }
        let config = config.build().map_err(|error| {
            Error::new(ErrorCode::InvalidInput, "the emulator has no such container").with_source(error)
        })?;
        self.store().create_container_with_config(DATABASE, table.as_str(), definition, config);
        Ok(())
    }

    /// Stores an item as another program might: its text as it is, under a key as its header names it, `["contoso","ada"]`.
    ///
    /// # Errors
    /// `InvalidInput` with the emulator's answer if it refuses the item.
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

    /// The description of a table's container, as the emulator gives it.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub async fn described(&self, table: &TableName) -> Result<String> {
        let target = format!("/dbs/{DATABASE}/colls/{table}");
        let answer = self.exchange("GET", &target, [], Vec::new()).await?;
        String::from_utf8(answer.body).map_err(internal)
    }

    /// Answers an HTTP request as the account would: for a loopback server that other clients ask.
    ///
    /// # Errors
    /// `InvalidInput` for a method or a target that the protocol does not have.
    pub async fn exchange(
        &self,
        method: &str,
        target: &str,
        headers: impl IntoIterator<Item = (String, String)>,
        body: Vec<u8>,
    ) -> Result<Answer> {
        let invalid =
            |what: &str| Error::new(ErrorCode::InvalidInput, format!("`{what}` is not of the protocol"));
        let url = Url::parse(ENDPOINT).and_then(|url| url.join(target)).map_err(|_| invalid(target))?;
        let mut request = Request::new(url, method.parse().map_err(|_| invalid(method))?);
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

    /// The requests since the last call.
    #[must_use]
    pub fn sent(&self) -> Vec<Sent> {
        std::mem::take(&mut *self.log.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Splits a physical partition at a key; until `locked` is over its requests answer 410 with 1007. Returns at once.
    ///
    /// # Errors
    /// `InvalidInput` for a key that the emulator cannot read.
    pub fn split(&self, table: &TableName, partition: u32, at: &Epk, locked: Duration) -> Result<()> {
        let at = EffectivePartitionKey::try_from(at.to_string().as_str()).map_err(|error| {
            Error::new(ErrorCode::InvalidInput, "the emulator cannot split there").with_source(error)
        })?;
        self.store().split_partition_at_epk(DATABASE, table.as_str(), partition, at, locked);
        Ok(())
    }

    /// Merges two neighbours. Returns at once.
    pub fn merge(&self, table: &TableName, left: u32, right: u32, locked: Duration) {
        self.store().merge_partitions(DATABASE, table.as_str(), left, right, locked);
    }

    /// Waits for splits and merges that have begun.
    pub async fn settled(&self) {
        self.store().drain_pending_control_plane().await;
    }

    fn store(&self) -> Arc<EmulatorStore> {
        self.client.store()
    }
}

fn internal(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorCode::InternalError, "the vendor's emulator could not be set up").with_source(error)
}

impl fmt::Debug for Emulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emulator").finish_non_exhaustive()
    }
}
