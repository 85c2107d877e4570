//! The client for a database's tables.

use std::fmt;
use std::sync::Arc;

use azure_core::credentials::{Secret, TokenCredential};
use azure_data_cosmos::clients::DatabaseClient;
use azure_data_cosmos::options::{ConnectionPoolOptions, Region};
use azure_data_cosmos::{
    AccountEndpoint, AccountReference, CosmosClient, CosmosRuntimeBuilder, RoutingStrategy,
};
use table_core::limits::{Limits, TransactionMeasure};
use table_core::store::Capabilities;
use table_core::{Error, ErrorCode, Result, TableName};
use tracing::Instrument;

use crate::containers::Containers;
use crate::failure;
use crate::foreign::{Skipped, SkippedItems};
use crate::options::Options;
use crate::runtime::Runtime;
use crate::usage::{self, Charges, Form, Measured, Usage, Usages, Verb};

/// The overhead of one operation in a batch, in bytes. It includes the member names of the item and the operation, the write identifier, and an `ETag`.
const OPERATION_BYTES: usize = 220;
/// The maximum size of a transaction request, in bytes.
pub(crate) const TRANSACTION_BYTES: usize = 2 << 20;
/// The resolution of Timestamps, in ticks: one second. The service stores them as `_ts`, in seconds.
const TIMESTAMP_STEP: u64 = 10_000_000;

/// A client for the tables of one Azure Cosmos DB for NoSQL database. Clones share connections, caches and statistics.
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
    runtime: Arc<Runtime>,
    usages: Usages,
    skipped: Skipped,
}

impl CosmosTables {
    /// Opens a database with an account key, which also permits creating and deleting tables. The database must exist.
    ///
    /// `region` is the program's region, spelled as in the portal, such as `West Europe`.
    ///
    /// # Errors
    /// - `InvalidInput` if the endpoint is invalid.
    /// - Any error returned by the account.
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

    /// Opens a database with an Azure SDK credential.
    ///
    /// The service does not allow a token to create containers. The containers of all tables must therefore already exist, including the containers of indexes
    /// and views, and `TablesLayouts`. If the program uses feeds or an outbox, `TablesFeeds` or `TablesOutbox` must also exist. [`Options::bicep`] returns a
    /// template that creates containers. Tables cannot be deleted or listed with a token.
    ///
    /// # Errors
    /// - `InvalidInput` if the endpoint is invalid.
    /// - Any error returned by the account.
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
        let runtime = Arc::<Runtime>::default();
        let region = Region::new(region.to_owned());
        let client = runtime
            .run(false, async move {
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

    /// Opens a database with an existing client. The client may, for example, use a proxy, different regions or different limits.
    ///
    /// All stores opened this way send their requests from one thread of the process. Requests that the program itself sends with the client share these
    /// connections. If such a request opens a connection, the connection works only while the program's runtime is running.
    #[must_use]
    pub fn with_client(client: &CosmosClient, database: &str, options: Options) -> Self {
        Self::build(client, database, options, Runtime::shared())
    }

    pub(crate) fn build(
        client: &CosmosClient,
        database: &str,
        options: Options,
        runtime: Arc<Runtime>,
    ) -> Self {
        let mut limits = Limits::PORTABLE;
        limits.transaction_bytes = TRANSACTION_BYTES;
        limits.measure = TransactionMeasure::Body { per_operation: OPERATION_BYTES, ascii: false };
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
            usages: Usages::default(),
            skipped: Skipped::default(),
        }))
    }

    /// Returns the request units charged for a table since this store was opened. Clones share the counts.
    ///
    /// Each operation's charge is also recorded in the `request_units` field of its span, whose target is `table_cosmos`.
    #[must_use]
    pub fn usage(&self, table: &TableName) -> Usage {
        self.0.usages.of(table)
    }

    /// Adds the request units that the current operation has used to the charges for the SQL text `form`.
    pub(crate) fn add_page(&self, table: &TableName, form: Form) {
        self.0.usages.add_page(table, form, usage::units());
    }

    /// Returns the charges recorded for query pages with the given SQL text.
    pub(crate) fn measured(&self, table: &TableName, form: Form) -> Option<Charges> {
        self.0.usages.of_form(table, form)
    }

    /// Returns the items that queries have skipped since this store was opened. Queries skip items in an unexpected format that other programs wrote (WIRE-6).
    #[must_use]
    pub fn skipped_items(&self) -> SkippedItems {
        self.0.skipped.items()
    }

    pub(crate) fn skipped(&self) -> &Skipped {
        &self.0.skipped
    }

    pub(crate) fn database_name(&self) -> &str {
        &self.0.name
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

    /// Runs an operation on a table, and adds the request units of the operation to the table's usage.
    pub(crate) async fn charged<T, F>(
        &self,
        verb: Verb,
        table: &TableName,
        work: impl FnOnce(Self) -> F,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let span = tracing::debug_span!(
            target: "table_cosmos",
            "operation",
            verb = %verb,
            table = table.as_str(),
            request_units = tracing::field::Empty,
        );
        let (store, table, within) = (self.clone(), table.clone(), span.clone());
        // The future is large. Boxing it here prevents outer futures from copying it.
        let work = Box::pin(work(self.clone()));
        let counted = async move {
            let Measured { result, units, container } = usage::measured(work).await;
            store.0.usages.add(&table, verb, units);
            span.record("request_units", units);
            match container {
                Some(opened) if !opened.is_current().await => {
                    Box::pin(store.compared_again(&table, verb, (&opened, result))).await
                }
                _ => result,
            }
        };
        self.0.runtime.run(verb == Verb::Submit, counted.instrument(within)).await
    }

    /// Runs the creation or deletion of a table on the store's runtime, with a clone of the store.
    pub(crate) async fn change<F>(&self, work: impl FnOnce(Self) -> F) -> Result<()>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.0.runtime.run(true, work(self.clone())).await
    }

    /// Runs a read on the store's runtime, with a clone of the store.
    pub(crate) async fn run<T, F>(&self, work: impl FnOnce(Self) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.0.runtime.run(false, work(self.clone())).await
    }
}

/// Configures a client's transport to use HTTP/1.1, with one request at a time per connection.
///
/// Over HTTP/2, the Azure SDK retries a request on another connection after a lost response. No option disables these retries.
pub(crate) fn unsharded(runtime: CosmosRuntimeBuilder) -> CosmosRuntimeBuilder {
    match ConnectionPoolOptions::builder().with_is_http2_allowed(false).build() {
        Ok(pool) => runtime.with_connection_pool(pool),
        // All other options are the Azure SDK's defaults, so this error cannot occur.
        Err(_) => runtime,
    }
}

/// Installs ring as the process's TLS provider, unless the program has already installed one. The client requires a provider.
pub(crate) fn provide_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn parse(endpoint: &str) -> Result<AccountEndpoint> {
    endpoint.parse().map_err(|error| {
        let message =
            format!("`{endpoint}` is not an account endpoint; write it as https://NAME.documents.azure.com/");
        Error::new(ErrorCode::InvalidInput, message).with_source(error)
    })
}

impl fmt::Debug for CosmosTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CosmosTables").field("database", &self.0.name).finish_non_exhaustive()
    }
}

/// Formats the store with the name of its database.
impl fmt::Display for CosmosTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the database {} of Cosmos DB for NoSQL", self.0.name)
    }
}
