//! Shared access signatures for a table, a partition, or a range of rows (SAS rules).

use std::time::Duration;

use chrono::{DateTime, Utc};
use table_core::query::KeyRange;
use table_core::selection::{Class, IntoSelection};
use table_core::{Entity, Error, Result, TableName};

use super::caller;
use super::fault::SasFault;
use super::instant;
use super::lifetime::Lifetime;
use super::parameters::Parameters;
use super::permissions::{Protocol, TablePermissions};
use super::policy;
use super::range::SignedRange;
use super::token::SasToken;
use super::version::SignedVersion;
use crate::auth::AccountKey;

/// A shared access signature for a key range in one table.
///
/// ```
/// use std::time::Duration;
/// use chrono::Utc;
/// use table_wire::auth::AccountKey;
/// use table_wire::sas::{TablePermissions, TableSas};
/// use table_core::Entity;
///
/// #[derive(Entity)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key("empid_", id)]
/// struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
///
/// let key = AccountKey::new("contoso", "a2V5")?;
/// let token = TableSas::selection(Employee::rows("Sales").id(100..=199))?
///     .allow(TablePermissions::READ)
///     .valid_for(Utc::now(), Duration::from_secs(60 * 60))
///     .sign(&key)?;
/// assert_eq!(token.table(), Some("Company"));
/// assert!(token.query_string().contains("&spk=Sales&srk=empid_000100&epk=Sales&erk=empid_000199"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a signature has no effect until it is signed"]
pub struct TableSas {
    table: TableName,
    range: SignedRange,
    permissions: TablePermissions,
    start: Option<DateTime<Utc>>,
    expiry: Option<DateTime<Utc>>,
    policy: Option<String>,
    addresses: String,
    protocol: Protocol,
    version: SignedVersion,
}

impl TableSas {
    /// Creates a SAS for all keys of a table. It grants no permissions yet.
    pub fn table(table: TableName) -> Self {
        Self {
            table,
            range: SignedRange::ALL,
            permissions: TablePermissions::NONE,
            start: None,
            expiry: None,
            policy: None,
            addresses: String::new(),
            protocol: Protocol::default(),
            version: SignedVersion::default(),
        }
    }

    /// Creates a SAS for all keys in the table of `E`. They include the keys of other entity types in the table.
    ///
    /// # Errors
    /// Any error from [`TableName::new`].
    pub fn of<E: Entity>() -> Result<Self> {
        Ok(Self::table(TableName::new(E::SCHEMA.table)?))
    }

    /// Creates a SAS for a selection. This can be a point, a range of rows in a partition, a partition, a range of partitions, or an entire table.
    ///
    /// # Errors
    /// `InvalidInput` if the selection consists of several ranges, because a SAS has only one. Any error from [`SignedRange::of_keys`].
    pub fn selection<E: Entity, C: Class, F>(selection: impl IntoSelection<E, C, F>) -> Result<Self> {
        match &*selection.into_selection().ranges()? {
            [keys] => Self::of::<E>()?.keys(keys),
            many => Err(Error::of(SasFault::Ranges(many.len()))),
        }
    }

    /// Restricts the SAS to a key range.
    ///
    /// # Errors
    /// Any error from [`SignedRange::of_keys`].
    pub fn keys(self, keys: &KeyRange) -> Result<Self> {
        Ok(self.range(SignedRange::of_keys(keys)?))
    }

    /// Restricts the SAS to the given range.
    pub fn range(self, range: SignedRange) -> Self {
        Self { range, ..self }
    }

    /// Restricts the SAS to one partition.
    ///
    /// # Errors
    /// Any error from [`SignedRange::partition`].
    pub fn partition(self, partition_key: &str) -> Result<Self> {
        Ok(self.range(SignedRange::partition(partition_key)?))
    }

    /// Adds the given permissions.
    pub fn allow(self, permissions: TablePermissions) -> Self {
        Self { permissions: self.permissions.and(permissions), ..self }
    }

    /// Sets the lifetime of the token.
    pub fn lifetime(self, lifetime: Lifetime) -> Self {
        Self { start: lifetime.start, expiry: Some(lifetime.expiry), ..self }
    }

    /// Sets the lifetime. It starts 15 minutes before `now`, to tolerate clock skew, and ends `time` after `now`.
    pub fn valid_for(self, now: DateTime<Utc>, time: Duration) -> Self {
        self.lifetime(Lifetime::valid_for(now, time))
    }

    /// Refers to a stored policy of the table, which supplies the token's missing values. The token is valid only while the policy exists (SAS-10).
    pub fn policy(self, id: impl Into<String>) -> Self {
        Self { policy: Some(id.into()), ..self }
    }

    /// Restricts the token to one IPv4 address, or to a range of IPv4 addresses written as `first-last` (SAS-1).
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
    /// - `InvalidInput` if permissions or expiry are missing and no policy is set (SAS-10).
    /// - `InvalidInput` if the addresses (SAS-1) or the policy identifier (ACL-2) are invalid.
    /// - `InvalidInput` if addresses or a protocol are set, but the signed version does not cover them (SAS-4).
    pub fn sign(&self, key: &AccountKey) -> Result<SasToken> {
        let incomplete = self.permissions == TablePermissions::NONE || self.expiry.is_none();
        if incomplete && self.policy.is_none() {
            return Err(Error::of(SasFault::Incomplete).with_table(self.table.as_str()));
        }
        let of_table = |error: Error| error.with_table(self.table.as_str());
        caller::check(&self.addresses).map_err(of_table)?;
        self.policy.as_deref().map(policy::check_id).transpose().map_err(of_table)?;
        let mut parameters = Parameters::default();
        let at = |instant: Option<DateTime<Utc>>| instant.map(instant::write).unwrap_or_default();
        parameters.put("sv", self.version.as_str());
        parameters.put("tn", self.table.as_str());
        parameters.put("sp", self.permissions.to_string());
        parameters.put("st", at(self.start));
        parameters.put("se", at(self.expiry));
        parameters.put("si", self.policy.clone().unwrap_or_default());
        parameters.put("sip", self.addresses.as_str());
        parameters.put("spr", self.protocol.as_str());
        self.range.write(&mut parameters);
        let signature = key.sign(&parameters.string_to_sign_of_table(key.account()).map_err(of_table)?);
        parameters.put("sig", signature);
        Ok(SasToken(parameters))
    }
}
