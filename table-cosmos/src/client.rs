//! The store: an account's database, opened with options.

use std::fmt;
use std::sync::Arc;

use azure_core::credentials::{Secret, TokenCredential};
use azure_data_cosmos::clients::DatabaseClient;
use azure_data_cosmos::options::{ConnectionPoolOptions, Region};
use azure_data_cosmos::{
    AccountEndpoint, AccountReference, CosmosClient, CosmosRuntimeBuilder, RoutingStrategy,
};
use table_core::limits::Limits;
use table_core::store::Capabilities;
use table_core::{Error, ErrorCode, Result};

use crate::containers::Containers;
use crate::failure;
use crate::options::Options;
use crate::runtime::Runtime;

/// The largest transaction, in bytes of JSON.
pub(crate) const TRANSACTION_BYTES: usize = 2 << 20;
/// Timestamps are `_ts`: whole seconds, in ticks.
const TIMESTAMP_STEP: u64 = 10_000_000;

/// The tables of one database of Azure Cosmos DB for NoSQL. Clones share everything.
///
/// ```no_run
/// use table_core::{TableName, TableStore};
/// use table_cosmos::{CosmosTables, Options};
///
/// # async fn program() -> table_core::Result<()> {
/// let options = Options::new().levels("Events", 3);
/// let store = CosmosTables::with_key("https://account.documents.azure.com/", "key", "East US", "database", options).await?;
/// store.create_table(&TableName::new("Events")?).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CosmosTables(Arc<Inner>);

struct Inner {
    database: DatabaseClient,
    name: String,
    options: Options,
    capabilities: Capabilities,
    containers: Containers,
    runtime: Runtime,
}

impl CosmosTables {
    /// With an account key, which also creates and deletes tables. `region` is where the program runs, as the portal spells it.
    ///
    /// # Errors
    /// `InvalidInput` for an endpoint that is none; what the account refuses.
    pub async fn with_key(
        endpoint: &str,
        key: &str,
        region: &str,
        database: &str,
        options: Options,
    ) -> Result<Self> {
        let endpoint = parse(endpoint)?;
        let account = AccountReference::with_authentication_key(endpoint, Secret::new(key.to_owned()));
        Self::open(account, region, database, options).await
    }

    /// With a credential of the vendor's crates. Tables must be there: a token does not create them.
    ///
    /// # Errors
    /// `InvalidInput` for an endpoint that is none; what the account refuses.
    pub async fn with_credential(
        endpoint: &str,
        credential: Arc<dyn TokenCredential>,
        region: &str,
        database: &str,
        options: Options,
    ) -> Result<Self> {
        let account = AccountReference::with_credential(parse(endpoint)?, credential);
        Self::open(account, region, database, options).await
    }

    async fn open(account: AccountReference, region: &str, database: &str, options: Options) -> Result<Self> {
        provide_tls();
        let runtime = Runtime::default();
        let region = Region::new(region.to_owned());
        let client = runtime
            .run(async move {
                let runtime = unsharded(CosmosRuntimeBuilder::new()).build().await;
                let runtime = runtime.map_err(|error| failure::error("open", error))?;
                let built = CosmosClient::builder()
                    .with_runtime(runtime)
                    .build(account, RoutingStrategy::ProximityTo(region))
                    .await;
                built.map_err(|error| failure::error("open", error))
            })
            .await?;
        Ok(Self::build(&client, database, options, runtime))
    }

    /// On a client that is there: with a proxy, other regions, other limits of its own.
    #[must_use]
    pub fn on(client: &CosmosClient, database: &str, options: Options) -> Self {
        Self::build(client, database, options, Runtime::default())
    }

    fn build(client: &CosmosClient, database: &str, options: Options, runtime: Runtime) -> Self {
        let mut limits = Limits::PORTABLE;
        limits.transaction_bytes = TRANSACTION_BYTES;
        let mut capabilities = Capabilities::service(limits);
        capabilities.ordered = false;
        capabilities.looks_ahead = true;
        capabilities.timestamp_step = TIMESTAMP_STEP;
        Self(Arc::new(Inner {
            database: client.database_client(database.to_owned()),
            name: database.to_owned(),
            options,
            capabilities,
            containers: Containers::default(),
            runtime,
        }))
    }

    pub(crate) fn database(&self) -> &DatabaseClient {
        &self.0.database
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    pub(crate) fn containers(&self) -> &Containers {
        &self.0.containers
    }

    pub(crate) fn known_capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    /// Runs what needs the network where it can be run.
    pub(crate) async fn run<T, F>(&self, work: impl FnOnce(Self) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.0.runtime.run(work(self.clone())).await
    }
}

/// Sets the transport of a client: HTTP/1.1, one request at a time on a connection.
///
/// Over HTTP/2 the vendor's client repeats a request on another connection after it lost an answer, and no option disables that.
pub(crate) fn unsharded(runtime: CosmosRuntimeBuilder) -> CosmosRuntimeBuilder {
    match ConnectionPoolOptions::builder().with_is_http2_allowed(false).build() {
        Ok(pool) => runtime.with_connection_pool(pool),
        // The other options are the vendor's own defaults, so this does not happen.
        Err(_) => runtime,
    }
}

/// The client's TLS takes the provider of the process, and cannot be set up without one: ring, unless the program has chosen another.
pub(crate) fn provide_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn parse(endpoint: &str) -> Result<AccountEndpoint> {
    endpoint.parse().map_err(|error| {
        let message = format!("`{endpoint}` is no endpoint of an account: https://NAME.documents.azure.com/");
        Error::new(ErrorCode::InvalidInput, message).with_source(error)
    })
}

impl fmt::Debug for CosmosTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CosmosTables").field("database", &self.0.name).finish_non_exhaustive()
    }
}

/// The database.
impl fmt::Display for CosmosTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the database {} of Cosmos DB for NoSQL", self.0.name)
    }
}
