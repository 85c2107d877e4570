//! Account SAS tokens (ASAS rules).

use std::time::Duration;

use chrono::{DateTime, Utc};
use table_core::{Error, Result};

use super::caller;
use super::fault::SasFault;
use super::instant;
use super::lifetime::Lifetime;
use super::parameters::Parameters;
use super::permissions::{AccountPermissions, Protocol, letters};
use super::token::SasToken;
use super::version::SignedVersion;
use crate::auth::AccountKey;

letters! {
    /// The services accessible with an account SAS (ASAS-1).
    ///
    /// ```
    /// use table_wire::sas::Services;
    ///
    /// assert_eq!(Services::TABLE.and(Services::QUEUE).to_string(), "qt");
    /// ```
    Services, "ASAS-1", "services", [
        /// The blob service.
        BLOB = b'b',
        /// The queue service.
        QUEUE = b'q',
        /// The table service.
        TABLE = b't',
        /// The file service.
        FILE = b'f',
    ]
}

letters! {
    /// The resource types accessible with an account SAS (ASAS-4).
    ResourceTypes, "ASAS-1", "resource types", [
        /// The service itself, including its properties.
        SERVICE = b's',
        /// Containers, such as tables and queues.
        CONTAINER = b'c',
        /// Objects, such as entities and messages, that are stored in containers.
        OBJECT = b'o',
    ]
}

/// An account SAS, which grants access to entire services.
///
/// ```
/// use chrono::DateTime;
/// use table_wire::auth::AccountKey;
/// use table_wire::sas::{AccountPermissions, AccountSas, Lifetime, ResourceTypes, Services};
///
/// let key = AccountKey::new("contoso", "a2V5")?;
/// let lifetime = Lifetime::until(DateTime::from_timestamp(1_893_456_000, 0).unwrap());
/// let token = AccountSas::new(Services::TABLE, ResourceTypes::OBJECT, AccountPermissions::READ, lifetime).sign(&key)?;
/// assert!(token.query_string().starts_with("sv=2019-02-02&ss=t&srt=o&sp=r&se=2030-01-01T00%3A00%3A00Z&sig="));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a signature has no effect until it is signed"]
pub struct AccountSas {
    services: Services,
    types: ResourceTypes,
    permissions: AccountPermissions,
    lifetime: Lifetime,
    addresses: String,
    protocol: Protocol,
    version: SignedVersion,
}

impl AccountSas {
    /// Creates an account SAS that grants permissions on the given resource types of the given services.
    pub fn new(
        services: Services,
        types: ResourceTypes,
        permissions: AccountPermissions,
        lifetime: Lifetime,
    ) -> Self {
        let (addresses, protocol, version) = Default::default();
        Self { services, types, permissions, lifetime, addresses, protocol, version }
    }

    /// Sets the lifetime. It starts 15 minutes before `now`, to tolerate clock skew, and ends `time` after `now`.
    pub fn valid_for(self, now: DateTime<Utc>, time: Duration) -> Self {
        Self { lifetime: Lifetime::valid_for(now, time), ..self }
    }

    /// Restricts the token to one IPv4 address, or to a range of IPv4 addresses written as `first-last`.
    pub fn addresses(self, addresses: impl Into<String>) -> Self {
        Self { addresses: addresses.into(), ..self }
    }

    /// Restricts the token to the given protocol.
    pub fn protocol(self, protocol: Protocol) -> Self {
        Self { protocol, ..self }
    }

    /// Sets the signed version. The default is 2019-02-02.
    pub fn version(self, version: SignedVersion) -> Self {
        Self { version, ..self }
    }

    /// Signs the token.
    ///
    /// # Errors
    /// - `InvalidInput` if services, resource types or permissions are missing.
    /// - `InvalidInput` if the version is earlier than 2015-04-05 (ASAS-1).
    /// - `InvalidInput` if the addresses are invalid (SAS-1).
    pub fn sign(&self, key: &AccountKey) -> Result<SasToken> {
        caller::check(&self.addresses)?;
        let (no_services, no_types) = (self.services == Services::NONE, self.types == ResourceTypes::NONE);
        if no_services || no_types || self.permissions == AccountPermissions::NONE {
            return Err(Error::of(SasFault::IncompleteOfAccount));
        }
        let mut parameters = Parameters::default();
        parameters.put("sv", self.version.as_str());
        parameters.put("ss", self.services.to_string());
        parameters.put("srt", self.types.to_string());
        parameters.put("sp", self.permissions.to_string());
        parameters.put("st", self.lifetime.start.map(instant::write).unwrap_or_default());
        parameters.put("se", instant::write(self.lifetime.expiry));
        parameters.put("sip", self.addresses.as_str());
        parameters.put("spr", self.protocol.as_str());
        let signature = key.sign(&parameters.string_to_sign_of_account(key.account())?);
        parameters.put("sig", signature);
        Ok(SasToken(parameters))
    }
}
