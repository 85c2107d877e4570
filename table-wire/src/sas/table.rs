//! Signatures for a table, a partition, or a range of its rows (SAS rules).

use std::time::Duration;

use chrono::{DateTime, Utc};
use table_core::query::KeyRange;
use table_core::selection::{Class, Selection};
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

/// A signature for a range of keys of one table.
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
///     .lasting(Utc::now(), Duration::from_hours(1))
///     .sign(&key)?;
/// assert_eq!(token.table(), Some("Company"));
/// assert!(token.query_string().contains("&spk=Sales&srk=empid_000100&epk=Sales&erk=empid_000199"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "it allows nothing until it is signed"]
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
    /// Every key of a table; nothing is permitted yet.
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

    /// Every key of the table that the design of `E` names, of other entities in it too.
    ///
    /// # Errors
    /// Those of [`TableName::new`].
    pub fn of<E: Entity>() -> Result<Self> {
        Ok(Self::table(TableName::new(E::SCHEMA.table)?))
    }

    /// The keys of a selection: a point, rows of a partition, a partition, a range of partitions, or a whole table.
    ///
    /// # Errors
    /// `InvalidInput` for a fan-out: one signature has one range; and those of [`SignedRange::of_keys`].
    pub fn selection<E: Entity, C: Class, F>(selection: impl Into<Selection<E, C, F>>) -> Result<Self> {
        match &*selection.into().ranges()? {
            [keys] => Self::of::<E>()?.keys(keys),
            many => Err(Error::of(SasFault::Ranges(many.len()))),
        }
    }

    /// These keys alone.
    ///
    /// # Errors
    /// Those of [`SignedRange::of_keys`].
    pub fn keys(self, keys: &KeyRange) -> Result<Self> {
        Ok(self.range(SignedRange::of_keys(keys)?))
    }

    /// These keys alone.
    pub fn range(self, range: SignedRange) -> Self {
        Self { range, ..self }
    }

    /// One partition alone.
    ///
    /// # Errors
    /// Those of a `PartitionKey`.
    pub fn partition(self, partition_key: &str) -> Result<Self> {
        Ok(self.range(SignedRange::partition(partition_key)?))
    }

    /// Permits this too.
    pub fn allow(self, permissions: TablePermissions) -> Self {
        Self { permissions: self.permissions.and(permissions), ..self }
    }

    /// Valid from when to when.
    pub fn lifetime(self, lifetime: Lifetime) -> Self {
        Self { start: lifetime.start, expiry: Some(lifetime.expiry), ..self }
    }

    /// Valid from `now` on for so long; clocks may be 15 minutes behind.
    pub fn lasting(self, now: DateTime<Utc>, time: Duration) -> Self {
        self.lifetime(Lifetime::lasting(now, time))
    }

    /// Valid as long as the table keeps a policy of this name, which supplies what is not given here (SAS-10).
    pub fn policy(self, id: impl Into<String>) -> Self {
        Self { policy: Some(id.into()), ..self }
    }

    /// Only from this IPv4 address, or from a range of them with `-` between (SAS-1).
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
    /// `InvalidInput` if nothing is permitted or there is no expiry, and no policy that could supply them (SAS-10); for
    /// addresses that are none (SAS-1) or the name of a policy that cannot be one (ACL-2); for addresses or a protocol under a
    /// version that does not sign them (SAS-4).
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
        let signature = key.sign(&parameters.string_of_table(key.account()).map_err(of_table)?);
        parameters.put("sig", signature);
        Ok(SasToken(parameters))
    }
}
