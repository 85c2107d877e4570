//! The client for an account's tables, with one connection pool.

use std::fmt;
use std::sync::Arc;

use table_core::limits::Limits;
use table_core::store::Capabilities;
use table_core::{Error, Result};

use crate::auth::Scheme;
use crate::connection_string::{ConnectionFault, ConnectionString};
use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::http::{Pipeline, PipelineParts};
use crate::operation_id;
use crate::options::Options;
use crate::target::Target;

/// A client for an account's tables: a [`TableStore`](table_core::TableStore) over the REST protocol. Clones share connections.
///
/// The client works on any executor, because it drives its connections on a separate thread.
///
/// # Lost responses
/// The client sends a request again if its response was lost. If the retry is rejected, an earlier attempt may have been applied, and may even have caused the
/// rejection. If the entity contains the [identifier](Options::operation_ids) of this write, the call succeeds. Otherwise, it fails with an error that [is
/// ambiguous](Error::is_ambiguous). If the first attempt itself is rejected, the error is not ambiguous.
///
/// The client never guesses the outcome. An ambiguous error contains the transaction as an [`AmbiguousWrite`](table_core::store::AmbiguousWrite), and
/// [`outcome_of`](Self::outcome_of) can determine its outcome later. `docs/lost-answers.md` lists the outcomes of each operation.
///
/// # Reads
/// Reads go to the primary, so they return the current state. [`secondary_reads`](Self::secondary_reads) returns a separate, read-only handle that also reads
/// from the secondary.
///
/// ```no_run
/// use table_azure::AzureTables;
/// use table_core::{TableName, TableStore};
///
/// # async fn run() -> table_core::Result<()> {
/// let tables = AzureTables::from_connection_string("UseDevelopmentStorage=true")?;
/// tables.create_table(&TableName::new("Employee")?).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct AzureTables(Arc<Inner>);

struct Inner {
    pipeline: Pipeline,
    target: Target,
    /// The capabilities reported to programs. If write identifiers are enabled, the limits leave room for one identifier.
    capabilities: Capabilities,
    /// The service's limits.
    service_limits: Limits,
    account: Option<String>,
    /// The secondary endpoint from the options or the connection string.
    secondary: Option<String>,
    /// `true` if each write stores an identifier in the entities it writes.
    operation_ids: bool,
}

/// The protocol version for requests without a bearer token (REQ-3). The official SDKs use the same version.
const VERSION: &str = "2019-02-02";
/// The protocol version for requests with a bearer token (AUTH-12).
const VERSION_OF_TOKENS: &str = "2020-12-06";

impl AzureTables {
    /// Creates a client from a connection string (AUTH-31). This does not send any requests.
    ///
    /// # Errors
    /// - `InvalidInput` if the text is not a connection string, or if it has no table endpoint.
    /// - `AuthenticationFailed` if the account key is not base64.
    ///
    /// ```
    /// use table_azure::AzureTables;
    ///
    /// let tables = AzureTables::from_connection_string("AccountName=contoso;AccountKey=c2VjcmV0")?;
    /// assert_eq!(tables.to_string(), "https://contoso.table.core.windows.net");
    /// assert!(!format!("{tables:?}").contains("c2VjcmV0"));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn from_connection_string(text: &str) -> Result<Self> {
        Self::from_connection_string_with(text, Options::default())
    }

    /// Creates a client from a connection string with options.
    ///
    /// # Errors
    /// `InvalidInput` or `AuthenticationFailed`, for the same reasons as in [`from_connection_string`](Self::from_connection_string).
    pub fn from_connection_string_with(text: &str, options: Options) -> Result<Self> {
        let parsed: ConnectionString = text.parse()?;
        let Some(endpoint) = parsed.table_endpoint() else {
            return Err(Error::of(ConnectionFault::NoService { service: "table", key: "TableEndpoint" }));
        };
        let secondary = options.secondary.or_else(|| parsed.table_secondary_endpoint().map(str::to_owned));
        Self::with_options(endpoint, parsed.credential().clone(), Options { secondary, ..options })
    }

    /// Creates a client for an endpoint such as `https://contoso.table.core.windows.net`. This does not send any requests.
    ///
    /// # Errors
    /// - `InvalidInput` if `endpoint` is not a URL, or if the credential would be sent unencrypted (ACC-1).
    /// - `Io` if the system has no trusted certificates.
    pub fn new(endpoint: &str, credential: Credential) -> Result<Self> {
        Self::with_options(endpoint, credential, Options::default())
    }

    /// Creates a client for an endpoint with options.
    ///
    /// # Errors
    /// - `InvalidInput` if `endpoint` is not a URL, or if the credential would be sent unencrypted (ACC-1).
    /// - `Io` if the system has no trusted certificates.
    pub fn with_options(endpoint: &str, credential: Credential, options: Options) -> Result<Self> {
        let primary = Endpoint::new(endpoint)?;
        let target = options.target.unwrap_or_else(|| Target::of(&primary));
        let version = match credential {
            Credential::Token(_) => VERSION_OF_TOKENS,
            _ => VERSION,
        };
        let account = credential.account().map(str::to_owned);
        let pipeline = Pipeline::new(PipelineParts {
            primary,
            credential,
            scheme: if options.shared_key_lite { Scheme::TableLite } else { Scheme::Table },
            version,
            scope: target.scope(),
            retry: options.retry,
            clock: options.clock,
            plain: options.plain,
            testing: options.testing,
        })?;
        let base_bytes = pipeline.endpoint().base().len();
        let mut capabilities = target.capabilities(base_bytes);
        let service_limits = capabilities.limits;
        let (secondary, operation_ids) = (options.secondary, options.operation_ids);
        if operation_ids {
            capabilities.limits = operation_id::reserved(service_limits);
        }
        let inner =
            Inner { pipeline, target, capabilities, service_limits, account, secondary, operation_ids };
        Ok(Self(Arc::new(inner)))
    }

    /// Returns the account name if the credential contains it.
    #[must_use]
    pub fn account(&self) -> Option<&str> {
        self.0.account.as_deref()
    }

    /// Returns the kind of service the client connects to.
    #[must_use]
    pub fn target(&self) -> Target {
        self.0.target
    }

    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.0.pipeline
    }

    /// Returns the account's secondary endpoint. If none is configured, it is derived from the primary endpoint (ACC-1).
    pub(crate) fn secondary(&self) -> Result<Endpoint> {
        match &self.0.secondary {
            Some(named) => Endpoint::new(named),
            None => self.0.pipeline.endpoint().secondary(),
        }
    }

    /// Returns a client whose reads alternate between the primary and the secondary when they are retried.
    pub(crate) fn or_secondary(&self) -> Result<Self> {
        let inner = &*self.0;
        Ok(Self(Arc::new(Inner {
            pipeline: inner.pipeline.or_at(self.secondary()?)?,
            target: inner.target,
            capabilities: inner.capabilities.clone(),
            service_limits: inner.service_limits,
            account: inner.account.clone(),
            secondary: inner.secondary.clone(),
            operation_ids: inner.operation_ids,
        })))
    }

    /// Returns `true` if each write stores an identifier in the entities it writes.
    pub(crate) fn identifies(&self) -> bool {
        self.0.operation_ids
    }

    pub(crate) fn known_capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    /// Returns the service's own limits. After a write identifier has been added, the transaction is checked against these limits.
    pub(crate) fn service_limits(&self) -> Limits {
        self.0.service_limits
    }

    /// Runs a function on a clone of the client, on any executor.
    pub(crate) async fn run<T, F>(&self, work: impl FnOnce(Self) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.pipeline().runtime().run(work(self.clone())).await
    }

    /// Runs a function on a clone of the client as a separate task. The task makes progress even while the returned future is not polled.
    pub(crate) async fn run_apart<T, F>(&self, work: impl FnOnce(Self) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.pipeline().runtime().run_apart(work(self.clone())).await
    }
}

impl fmt::Debug for AzureTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AzureTables")
            .field("endpoint", self.0.pipeline.endpoint())
            .field("target", &self.0.target)
            .finish_non_exhaustive()
    }
}

/// Formats the client as the URL of its endpoint.
impl fmt::Display for AzureTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.pipeline.endpoint().fmt(f)
    }
}
