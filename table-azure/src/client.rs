//! The client: an account's tables, reached over one pool of connections.

use std::fmt;
use std::sync::Arc;

use table_core::store::Capabilities;
use table_core::{Error, Result};

use crate::auth::Scheme;
use crate::connection_string::{ConnectionFault, ConnectionString};
use crate::credential::Credential;
use crate::endpoint::Endpoint;
use crate::http::{Pipeline, PipelineParts, Runtime};
use crate::options::Options;
use crate::target::Target;
use crate::testing::Mutant;

/// The tables of an account: a [`TableStore`](table_core::TableStore) over the REST protocol. Clones share connections.
///
/// Works on any executor: inside a tokio runtime requests run there, elsewhere on a thread of the client's own.
///
/// # Lost answers
/// A request whose answer was lost is sent again. If the repetition is refused, an earlier attempt may be the reason, and the
/// call ends with an error that [is ambiguous](Error::is_ambiguous), unless the entity holds the very
/// [identifier](Options::operation_ids) that was sent with it: a write is never called a success, or a refusal, by a guess.
/// [`AmbiguousWrite`](table_core::store::AmbiguousWrite) says what was sent, and [`outcome_of`](Self::outcome_of) looks again. A refusal of the first attempt is
/// what it says. `docs/lost-answers.md` has the table of outcomes for each verb.
///
/// # Reads
/// They go to the primary, so that decisions are based on the stored state. [`secondary_reads`](Self::secondary_reads) is another
/// handle, which cannot write.
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
    runtime: Runtime,
    target: Target,
    capabilities: Capabilities,
    account: Option<String>,
    /// The secondary as it is named, if it is.
    secondary: Option<String>,
    /// Whether entities store identifiers of their writes.
    operation_ids: bool,
}

/// Without a bearer token: what the official SDKs send (REQ-3).
const VERSION: &str = "2019-02-02";
/// With one (AUTH-12).
const VERSION_OF_TOKENS: &str = "2020-12-06";

impl AzureTables {
    /// A client of the account that a connection string names (AUTH-31). Nothing is sent.
    ///
    /// # Errors
    /// `InvalidInput` if the text is not a connection string, or has no table endpoint; `AuthenticationFailed` if its key is not base64.
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

    /// The same, under these options.
    ///
    /// # Errors
    /// As [`from_connection_string`](Self::from_connection_string).
    pub fn from_connection_string_with(text: &str, options: Options) -> Result<Self> {
        let parsed: ConnectionString = text.parse()?;
        let Some(endpoint) = parsed.table_endpoint() else {
            return Err(Error::of(ConnectionFault::NoService { service: "table", key: "TableEndpoint" }));
        };
        let secondary = options.secondary.or_else(|| parsed.table_secondary_endpoint().map(str::to_owned));
        Self::with_options(endpoint, parsed.credential().clone(), Options { secondary, ..options })
    }

    /// A client of an endpoint, such as `https://contoso.table.core.windows.net`. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidInput` if it is not an endpoint, or if the credential would be sent there in the clear (ACC-1).
    pub fn new(endpoint: &str, credential: Credential) -> Result<Self> {
        Self::with_options(endpoint, credential, Options::default())
    }

    /// The same, under these options.
    ///
    /// # Errors
    /// `InvalidInput` if the endpoint is not a URL; `Io` if the system has no certificates to trust.
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
            secondary: None,
            credential,
            scheme: if options.shared_key_lite { Scheme::TableLite } else { Scheme::Table },
            version,
            scope: target.scope(),
            retry: options.retry,
            clock: options.clock,
            plain: options.plain,
            testing: options.testing,
        })?;
        let (capabilities, runtime) = (target.capabilities(), Runtime::default());
        let (secondary, operation_ids) = (options.secondary, options.operation_ids);
        let inner = Inner { pipeline, runtime, target, capabilities, account, secondary, operation_ids };
        let client = Self(Arc::new(inner));
        if client.pipeline().is(Mutant::StaleReads) { client.or_secondary() } else { Ok(client) }
    }

    /// The account, if the credential names it.
    #[must_use]
    pub fn account(&self) -> Option<&str> {
        self.0.account.as_deref()
    }

    /// The kind of service that answers.
    #[must_use]
    pub fn target(&self) -> Target {
        self.0.target
    }

    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.0.pipeline
    }

    /// The account's secondary, named or implied (ACC-1).
    pub(crate) fn secondary(&self) -> Result<Endpoint> {
        match &self.0.secondary {
            Some(named) => Endpoint::new(named),
            None => self.0.pipeline.endpoint().secondary(),
        }
    }

    /// The same with every second attempt of a read at the secondary.
    pub(crate) fn or_secondary(&self) -> Result<Self> {
        let inner = &*self.0;
        Ok(Self(Arc::new(Inner {
            pipeline: inner.pipeline.or_at(self.secondary()?)?,
            runtime: Runtime::default(),
            target: inner.target,
            capabilities: inner.capabilities.clone(),
            account: inner.account.clone(),
            secondary: inner.secondary.clone(),
            operation_ids: inner.operation_ids,
        })))
    }

    /// Whether entities store identifiers of their writes.
    pub(crate) fn identifies(&self) -> bool {
        self.0.operation_ids
    }

    pub(crate) fn known_capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    /// Runs the work of a clone of the client, on any executor of the caller.
    pub(crate) async fn run<T, F>(&self, work: impl FnOnce(Self) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.0.runtime.run(work(self.clone())).await
    }

    /// The same, and it continues while its future is not polled.
    pub(crate) async fn run_apart<T, F>(&self, work: impl FnOnce(Self) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.0.runtime.run_apart(work(self.clone())).await
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

/// The endpoint.
impl fmt::Display for AzureTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.pipeline.endpoint().fmt(f)
    }
}
