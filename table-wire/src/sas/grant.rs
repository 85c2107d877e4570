//! Grants: the operations permitted by a verified token (SAS-5, SAS-8, ASAS-4).

use table_core::{EntityKey, Error, OperationKind, Result, TableName};

use super::account::{ResourceTypes, Services};
use super::fault::SasFault;
use super::permissions::{AccountPermissions, TablePermissions};
use super::range::SignedRange;

/// The operations that a token currently permits.
///
/// ```
/// use table_wire::sas::Grant;
///
/// /// Describes a token for the request log.
/// fn described(grant: &Grant) -> String {
///     match grant {
///         Grant::Table(table) => format!("the table {}", table.table),
///         Grant::Account(account) => format!("the account, {:?}", account.services),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Operations on the entities in one table.
    Table(TableGrant),
    /// Operations on an account's services.
    Account(AccountGrant),
}

/// The table, key range and operations permitted by a table token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableGrant {
    /// The table.
    pub table: TableName,
    /// The permitted keys.
    pub range: SignedRange,
    /// The permitted operations.
    pub permissions: TablePermissions,
}

/// The services, resource types and operations permitted by an account token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccountGrant {
    /// The permitted services.
    pub services: Services,
    /// The permitted resource types.
    pub types: ResourceTypes,
    /// The permitted operations.
    pub permissions: AccountPermissions,
}

/// An operation on a table itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableVerb {
    Create,
    Delete,
    List,
}

fn not_permitted(rule: &'static str, operation: &'static str) -> Error {
    Error::of(SasFault::Permission { operation, rule })
}

/// Returns the permissions that an operation in a transaction requires. The letters of these permissions are the same in table and account tokens.
fn needed(kind: &OperationKind) -> TablePermissions {
    match kind {
        OperationKind::Insert(_) => TablePermissions::ADD,
        OperationKind::Replace(..) | OperationKind::Merge(..) => TablePermissions::UPDATE,
        OperationKind::InsertOrReplace(_) | OperationKind::InsertOrMerge(_) => {
            TablePermissions::ADD.and(TablePermissions::UPDATE)
        }
        OperationKind::Delete(_) => TablePermissions::DELETE,
        OperationKind::Check(_) => TablePermissions::READ,
    }
}

impl Grant {
    /// Returns the key range that the bearer may read in a table.
    ///
    /// # Errors
    /// An authorization error if the grant is for another table or does not permit reads.
    pub(super) fn reading(&self, table: &TableName) -> Result<SignedRange> {
        self.entities(table, TablePermissions::READ, "reading")?;
        Ok(match self {
            Self::Table(grant) => grant.range.clone(),
            Self::Account(_) => SignedRange::ALL,
        })
    }

    /// Checks that a write is permitted.
    ///
    /// # Errors
    /// An authorization error if the grant is for another table, does not permit the operation, or does not cover the key.
    pub(super) fn write(&self, table: &TableName, key: &EntityKey, kind: &OperationKind) -> Result<()> {
        self.entities(table, needed(kind), kind.name())?;
        self.key(key)
    }

    /// Checks that the key is within the grant's range.
    ///
    /// # Errors
    /// `AuthorizationFailure` if the key is outside the range (SAS-8).
    pub fn key(&self, key: &EntityKey) -> Result<()> {
        match self {
            Self::Table(grant) if !grant.range.contains(key.partition_key.as_str(), key.row_key.as_str()) => {
                Err(Error::of(SasFault::OutsideRange)
                    .with_key(key.partition_key.as_str(), key.row_key.as_str()))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the grant permits an operation on a table's entities, apart from their [keys](Self::key). `operation` is the operation's name in errors. A
    /// server can call this function before it reads the body of a request.
    ///
    /// ```
    /// use std::time::Duration;
    /// use chrono::Utc;
    /// use table_core::TableName;
    /// use table_wire::auth::AccountKey;
    /// use table_wire::sas::{SasVerifier, TablePermissions, TableSas};
    ///
    /// let (key, table) = (AccountKey::new("contoso", "a2V5")?, TableName::new("Employee")?);
    /// let sas = TableSas::table(table.clone()).allow(TablePermissions::READ);
    /// let token = sas.valid_for(Utc::now(), Duration::from_secs(60)).sign(&key)?;
    /// let grant = SasVerifier::new(key).verify(&token)?;
    /// assert!(grant.entities(&table, TablePermissions::READ, "read").is_ok());
    /// assert!(grant.entities(&table, TablePermissions::ADD, "insert").is_err());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// An authorization error if the grant is for another table, or lacks a permission in `needed` (SAS-11, ASAS-5).
    pub fn entities(
        &self,
        table: &TableName,
        needed: TablePermissions,
        operation: &'static str,
    ) -> Result<()> {
        match self {
            Self::Table(grant) if grant.table != *table => Err(Error::of(SasFault::OtherTable)),
            Self::Table(grant) if grant.permissions.contains(needed) => Ok(()),
            Self::Table(_) => Err(not_permitted("SAS-11", operation)),
            Self::Account(grant) => {
                // For entities, the letters r, a, u and d mean the same in table and account tokens (SAS-5, ASAS-4).
                let needed = AccountPermissions::read(&needed.to_string())?;
                grant.check(ResourceTypes::OBJECT, grant.permissions.contains(needed), operation)
            }
        }
    }

    /// Checks that the grant can permit a batch of operations on entities. The permissions for the operations are not checked.
    ///
    /// # Errors
    /// An authorization error if an account token lacks the Table service or the resource type of entities (ASAS-5).
    pub fn batch(&self) -> Result<()> {
        match self {
            Self::Table(_) => Ok(()),
            Self::Account(grant) => grant.check(ResourceTypes::OBJECT, true, "batch"),
        }
    }

    /// Checks that the grant permits creating tables.
    ///
    /// # Errors
    /// An authorization error if the grant is that of a table token (SAS-5), or an account token lacks the service, the resource type or the permission (ASAS-5).
    pub fn create_tables(&self) -> Result<()> {
        self.table(TableVerb::Create)
    }

    /// Checks that an operation on tables is permitted: create, delete or list.
    ///
    /// # Errors
    /// An authorization error if the operation is not permitted. A table token never permits table operations (SAS-5).
    pub(super) fn table(&self, verb: TableVerb) -> Result<()> {
        let Self::Account(grant) = self else {
            return Err(Error::of(SasFault::WholeTables));
        };
        let has = |permissions| grant.permissions.contains(permissions);
        let (permitted, operation) = match verb {
            TableVerb::Create => {
                (has(AccountPermissions::WRITE) || has(AccountPermissions::CREATE), "creating tables")
            }
            TableVerb::Delete => (has(AccountPermissions::DELETE), "deleting tables"),
            TableVerb::List => (has(AccountPermissions::LIST), "listing tables"),
        };
        grant.check(ResourceTypes::CONTAINER, permitted, operation)
    }
}

impl AccountGrant {
    fn check(self, of: ResourceTypes, permitted: bool, operation: &'static str) -> Result<()> {
        if !self.services.contains(Services::TABLE) {
            return Err(Error::of(SasFault::Service));
        }
        if !self.types.contains(of) {
            return Err(Error::of(SasFault::ResourceType(operation)));
        }
        if permitted { Ok(()) } else { Err(not_permitted("ASAS-5", operation)) }
    }
}
