//! Options of a client.

use table_core::Clock;

use crate::retry::RetryPolicy;
use crate::target::Target;
use crate::testing::Testing;

/// Options of a client.
///
/// ```
/// use table_azure::{AzureTables, Options, RetryPolicy};
///
/// let options = Options::new().retry(RetryPolicy { retries: 5, ..RetryPolicy::default() }).operation_ids(true);
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
    /// The defaults: three repetitions, no secondary, the target derived from the endpoint.
    pub fn new() -> Self {
        Self::default()
    }

    /// The retry policy.
    pub fn retry(self, retry: RetryPolicy) -> Self {
        Self { retry, ..self }
    }

    /// Whether each entity that is written stores an identifier of its write, as the property `OperationId`, so that the outcome of a
    /// write whose answer was lost is mostly known (CON-11); it is an error that
    /// [is ambiguous](table_core::Error::is_ambiguous) otherwise. Off unless asked for.
    ///
    /// - It costs 46 bytes of an entity, one of its 252 properties, and a read for each entity of a write whose answer was lost.
    /// - Reads leave the property out. An entity with a property of that name of its own is refused.
    /// - Every program that writes the table must have it on, or replace whole entities: a merge by another one leaves the identifier of
    ///   the write before it, which then seems to be the last.
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

    /// The secondary endpoint, where it is not the account's name with `-secondary` (ACC-1). Only
    /// [`AzureTables::secondary_reads`](crate::AzureTables::secondary_reads) and
    /// [`AzureTables::service_stats`](crate::AzureTables::service_stats) go there.
    pub fn secondary_endpoint(self, endpoint: impl Into<String>) -> Self {
        Self { secondary: Some(endpoint.into()), ..self }
    }

    /// The kind of service, where the endpoint does not show it: a private host name of Cosmos DB, for example.
    pub fn target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Whether an account's key signs in the short form (AUTH-2), which a gateway that rewrites headers leaves valid.
    pub fn shared_key_lite(self, shared_key_lite: bool) -> Self {
        Self { shared_key_lite, ..self }
    }

    /// Whether keys' signatures, shared access signatures and bearer tokens may be sent over plain HTTP to another machine. There every
    /// node on the path can read them, and use a shared access signature or a token until it expires: this is for test networks.
    /// Without it, plain HTTP is for this machine, and for the emulator's public key.
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

    /// The clock of the requests' dates.
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Sets what tests of this project may set.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn testing(self, testing: Testing) -> Self {
        Self { testing, ..self }
    }
}
