//! Signatures for services of an account (ASAS rules).

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
    /// The services that an account signature is for (ASAS-1).
    ///
    /// ```
    /// use table_wire::sas::Services;
    ///
    /// assert_eq!(Services::TABLE.and(Services::QUEUE).to_string(), "qt");
    /// ```
    Services, "ASAS-1", "services", [
        /// Blobs.
        BLOB = b'b',
        /// Queues.
        QUEUE = b'q',
        /// Tables.
        TABLE = b't',
        /// Files.
        FILE = b'f',
    ]
}

letters! {
    /// The kinds of resources that an account signature is for (ASAS-4).
    ResourceTypes, "ASAS-1", "resource types", [
        /// The service: its properties.
        SERVICE = b's',
        /// Containers: tables, queues.
        CONTAINER = b'c',
        /// Their content: entities, messages.
        OBJECT = b'o',
    ]
}

/// A signature for services of an account.
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
#[must_use = "it allows nothing until it is signed"]
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
    /// These permissions on these types of resources of these services.
    pub fn new(
        services: Services,
        types: ResourceTypes,
        permissions: AccountPermissions,
        lifetime: Lifetime,
    ) -> Self {
        let (addresses, protocol, version) = Default::default();
        Self { services, types, permissions, lifetime, addresses, protocol, version }
    }

    /// Valid from `now` on for so long instead; clocks may be 15 minutes behind.
    pub fn lasting(self, now: DateTime<Utc>, time: Duration) -> Self {
        Self { lifetime: Lifetime::lasting(now, time), ..self }
    }

    /// Only from this IPv4 address, or from a range of them with `-` between.
    pub fn addresses(self, addresses: impl Into<String>) -> Self {
        Self { addresses: addresses.into(), ..self }
    }

    /// Only over this protocol.
    pub fn protocol(self, protocol: Protocol) -> Self {
        Self { protocol, ..self }
    }

    /// Under another version than 2019-02-02.
    pub fn version(self, version: SignedVersion) -> Self {
        Self { version, ..self }
    }

    /// Signs it.
    ///
    /// # Errors
    /// `InvalidInput` if no service, resource type or permission is named, under a version before 2015-04-05 (ASAS-1), or for
    /// addresses that are none (SAS-1).
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
        let signature = key.sign(&parameters.string_of_account(key.account())?);
        parameters.put("sig", signature);
        Ok(SasToken(parameters))
    }
}
