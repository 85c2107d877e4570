//! Options for the table, queue and blob clients.

use table_core::Clock;

use crate::retry::RetryPolicy;
use crate::target::Target;
use crate::testing::Testing;

/// Options for the table, queue and blob clients.
///
/// ```
/// use table_azure::{AzureTables, Options, RetryPolicy};
///
/// let options = Options::new().retry(RetryPolicy { max_retries: 5, ..RetryPolicy::default() }).operation_ids(true);
/// let tables = AzureTables::from_connection_string_with("UseDevelopmentStorage=true", options)?;
/// assert_eq!(tables.account(), Some("devstoreaccount1"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Options {
    pub(crate) retry: RetryPolicy,
    pub(crate) secondary: Option<String>,
    pub(crate) operation_ids: bool,
    pub(crate) target: Option<Target>,
    pub(crate) shared_key_lite: bool,
    pub(crate) clock: Clock,
    pub(crate) plain: bool,
    pub(crate) testing: Testing,
}

impl Options {
    /// Creates the default options: three retries and no secondary. The target is derived from the endpoint.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the retry policy.
    pub fn retry(self, retry: RetryPolicy) -> Self {
        Self { retry, ..self }
    }

    /// Stores a unique identifier for each write in the written entities. It is off by default.
    ///
    /// The identifier is stored as the `OperationId` property. If the response to a write is lost, the client can then usually determine the outcome (CON-11).
    /// If it cannot, the error [is ambiguous](table_core::Error::is_ambiguous).
    ///
    /// - An identifier occupies 46 bytes, and counts as one of the 252 properties of an entity. In a batch, it adds 89 bytes to the request body. The limits in
    ///   the client's [capabilities](table_core::store::Capabilities::limits) leave room for it.
    /// - If a response is lost, the client reads the entities to find the identifier.
    /// - Reads omit the property. The client rejects an entity that already has a property with the same name.
    /// - Every other program that writes to the table must either enable the option or replace entire entities. Otherwise, a merge by such a program keeps the
    ///   identifier of the previous write. That write then appears to be the latest.
    ///
    /// ```
    /// use table_azure::{AzureTables, Options};
    ///
    /// let options = Options::new().operation_ids(true);
    /// let tables = AzureTables::from_connection_string_with("UseDevelopmentStorage=true", options)?;
    /// # let _ = tables;
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn operation_ids(self, operation_ids: bool) -> Self {
        Self { operation_ids, ..self }
    }

    /// Sets the secondary endpoint. By default, it comes from the connection string, or is derived from the primary endpoint: `-secondary` is appended to the
    /// account name (ACC-1).
    ///
    /// The endpoint is used only by [`AzureTables::secondary_reads`](crate::AzureTables::secondary_reads) and
    /// [`AzureTables::service_stats`](crate::AzureTables::service_stats).
    pub fn secondary_endpoint(self, endpoint: impl Into<String>) -> Self {
        Self { secondary: Some(endpoint.into()), ..self }
    }

    /// Sets the kind of service. This is necessary if the endpoint does not reveal the kind, for example if Cosmos DB has a private host name.
    pub fn target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Signs requests with `SharedKeyLite` (AUTH-2). These signatures remain valid if a gateway rewrites headers.
    pub fn shared_key_lite(self, shared_key_lite: bool) -> Self {
        Self { shared_key_lite, ..self }
    }

    /// Allows the client to send signatures and bearer tokens to another machine over plain HTTP.
    ///
    /// Every node on the network path can read them, and can use a SAS or a bearer token until it expires. Enable this option only in test networks. By
    /// default, plain HTTP is allowed only for requests to this machine, and for the emulator's well-known key.
    ///
    /// ```
    /// use table_azure::{AzureTables, Credential, Options};
    ///
    /// let key = || Credential::shared_key("contoso", "a2V5");
    /// let refused = AzureTables::new("http://tables.test.contoso.com", key()?).unwrap_err();
    /// assert_eq!(refused.rule(), Some("ACC-1"));
    /// let options = Options::new().allow_credentials_over_plain_http(true);
    /// AzureTables::with_options("http://tables.test.contoso.com", key()?, options)?;
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn allow_credentials_over_plain_http(self, allow: bool) -> Self {
        Self { plain: allow, ..self }
    }

    /// Sets the clock used for request dates and token expiry.
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Sets options that only this project's tests use.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn testing(self, testing: Testing) -> Self {
        Self { testing, ..self }
    }
}
