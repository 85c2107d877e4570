//! Grants: the operations that a verified token allows (SAS-5, SAS-8, ASAS-4).

use table_core::{EntityKey, Error, OperationKind, Result, TableName};

use super::account::{ResourceTypes, Services};
use super::fault::SasFault;
use super::permissions::{AccountPermissions, TablePermissions};
use super::range::SignedRange;

/// The operations that a token allows at present.
///
/// ```
/// use table_wire::sas::Grant;
///
/// /// What a log says of a request's token.
/// fn described(grant: &Grant) -> String {
///     match grant {
///         Grant::Table(table) => format!("the table {}", table.table),
///         Grant::Account(account) => format!("the account, {:?}", account.services),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Entities of one table.
    Table(TableGrant),
    /// Services of the account.
    Account(AccountGrant),
}

/// The grant of a table's token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableGrant {
    /// The table.
    pub table: TableName,
    /// The keys.
    pub range: SignedRange,
    /// The operations.
    pub permissions: TablePermissions,
}

/// The grant of an account's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccountGrant {
    /// The services.
    pub services: Services,
    /// The types of resources.
    pub types: ResourceTypes,
    /// The operations.
    pub permissions: AccountPermissions,
}

/// An operation on a whole table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableVerb {
    Create,
    Delete,
    List,
}

fn not_permitted(rule: &'static str, what: &'static str) -> Error {
    Error::of(SasFault::Permission { what, rule })
}

/// The letters that a write needs: the same four for both kinds of token.
fn needed(kind: &OperationKind) -> TablePermissions {
    match kind {
        OperationKind::Insert(_) => TablePermissions::ADD,
        OperationKind::Replace(..) | OperationKind::Merge(..) => TablePermissions::UPDATE,
        OperationKind::InsertOrReplace(_) | OperationKind::InsertOrMerge(_) => {
            TablePermissions::ADD.and(TablePermissions::UPDATE)
        }
        OperationKind::Delete(_) => TablePermissions::DELETE,
    }
}

impl Grant {
    /// The keys that a read of this table may see.
    ///
    /// # Errors
    /// 403 if the table is another one or reading is not permitted.
    pub(super) fn reading(&self, table: &TableName) -> Result<SignedRange> {
        self.operation(table, TablePermissions::READ, "reading")?;
        Ok(match self {
            Self::Table(grant) => grant.range.clone(),
            Self::Account(_) => SignedRange::ALL,
        })
    }

    /// # Errors
    /// 403 if the table is another one, the operation is not permitted, or the key lies outside.
    pub(super) fn write(&self, table: &TableName, key: &EntityKey, kind: &OperationKind) -> Result<()> {
        self.operation(table, needed(kind), kind.name())?;
        self.key(key)
    }

    /// # Errors
    /// 403 if the key lies outside (SAS-8).
    pub(super) fn key(&self, key: &EntityKey) -> Result<()> {
        match self {
            Self::Table(grant) if !grant.range.contains(key.partition_key.as_str(), key.row_key.as_str()) => {
                Err(Error::of(SasFault::OutsideRange)
                    .with_key(key.partition_key.as_str(), key.row_key.as_str()))
            }
            _ => Ok(()),
        }
    }

    fn operation(&self, table: &TableName, needed: TablePermissions, what: &'static str) -> Result<()> {
        match self {
            Self::Table(grant) if grant.table != *table => Err(Error::of(SasFault::OtherTable)),
            Self::Table(grant) if grant.permissions.contains(needed) => Ok(()),
            Self::Table(_) => Err(not_permitted("SAS-11", what)),
            Self::Account(grant) => {
                // The letters r, a, u and d say the same of entities in both (SAS-5, ASAS-4).
                let needed = AccountPermissions::read(&needed.to_string())?;
                grant.check(ResourceTypes::OBJECT, grant.permissions.contains(needed), what)
            }
        }
    }

    /// # Errors
    /// 403 if it is not permitted, as it never is for the token of a table (SAS-5).
    pub(super) fn table(&self, verb: TableVerb) -> Result<()> {
        let Self::Account(grant) = self else {
            return Err(Error::of(SasFault::WholeTables));
        };
        let has = |permissions| grant.permissions.contains(permissions);
        let (permitted, what) = match verb {
            TableVerb::Create => {
                (has(AccountPermissions::WRITE) || has(AccountPermissions::CREATE), "creating tables")
            }
            TableVerb::Delete => (has(AccountPermissions::DELETE), "deleting tables"),
            TableVerb::List => (has(AccountPermissions::LIST), "listing tables"),
        };
        grant.check(ResourceTypes::CONTAINER, permitted, what)
    }
}

impl AccountGrant {
    fn check(self, of: ResourceTypes, permitted: bool, what: &'static str) -> Result<()> {
        if !self.services.contains(Services::TABLE) {
            return Err(Error::of(SasFault::Service));
        }
        if !self.types.contains(of) {
            return Err(Error::of(SasFault::ResourceType(what)));
        }
        if permitted { Ok(()) } else { Err(not_permitted("ASAS-5", what)) }
    }
}
