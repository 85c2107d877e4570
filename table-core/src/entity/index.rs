//! Run-time descriptions of an entity's indexes, and the entity's row in an index.

use std::fmt;

use table_store::Result;

use crate::key::EntityKey;
use crate::query::EntityRef;
use crate::row::Row;
use crate::schema::IndexSchema;

/// The row that an index stores for an entity. It is a copy of the entity, or an entry in a list.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # #[index(ByEmail, unique, row_key("email_", email), include(age))]
/// # #[index_entity(ByLastName, at_most = 100, table = "LastNames", row_key(last_name))]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     last_name: String,
/// #     email: String,
/// #     age: i32,
/// # }
/// use table_core::index::Index;
///
/// let jones = Employee {
///     department: "Sales".into(), id: 223, last_name: "Jones".into(), email: "jonesj@contoso.com".into(), age: 34,
/// };
/// let entry = EmployeeByEmail::entry(&jones)?.expect("it has an address");
/// assert_eq!(entry.key.row_key.as_str(), "email_jonesj@contoso.com");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// The key of the copy or list.
    pub key: EntityKey,
    /// The properties of the copy or list entry.
    pub row: Row,
}

/// The run-time description of an index of `E`. [`Entity::INDEXES`](crate::Entity::INDEXES) contains one description for each index.
///
/// ```
/// use table_core::Entity;
///
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key("empid_", id)]
/// #[index(ByEmail, unique, row_key("email_", email))]
/// #[index_entity(ByLastName, at_most = 100, table = "LastNames", row_key(last_name))]
/// struct Employee {
///     department: String,
///     #[digits(6)]
///     id: u32,
///     last_name: String,
///     email: String,
/// }
///
/// let jones = Employee { department: "Sales".into(), id: 223, last_name: "Jones".into(), email: "j@contoso.com".into() };
/// let mut rows = Vec::new();
/// for index in Employee::INDEXES {
///     let key = index.entry(&jones)?.map(|entry| entry.key).expect("both are for everybody");
///     rows.push((index.schema().table.unwrap_or(Employee::SCHEMA.table), key.row_key.as_str().to_owned()));
/// }
/// assert_eq!(rows, [("Employee", "email_j@contoso.com".into()), ("LastNames", "Jones".into())]);
/// # Ok::<(), table_core::Error>(())
/// ```
pub struct IndexOf<E> {
    schema: &'static IndexSchema,
    entry: fn(&E) -> Result<Option<IndexEntry>>,
    owner: fn(EntityRef<'_>) -> Result<EntityKey>,
}

impl<E> IndexOf<E> {
    pub(crate) const fn new(
        schema: &'static IndexSchema,
        entry: fn(&E) -> Result<Option<IndexEntry>>,
        owner: fn(EntityRef<'_>) -> Result<EntityKey>,
    ) -> Self {
        Self { schema, entry, owner }
    }

    /// Returns the schema of the index.
    #[must_use]
    pub const fn schema(&self) -> &'static IndexSchema {
        self.schema
    }

    /// Returns the entity's row in the index, or `None` if the entity is not indexed.
    ///
    /// # Errors
    /// Any error from [`Index::entry`](crate::index::Index::entry).
    pub fn entry(&self, entity: &E) -> Result<Option<IndexEntry>> {
        (self.entry)(entity)
    }

    /// Returns the key of the entity that owns a copy or list entry.
    ///
    /// # Errors
    /// `EntityMismatch` if the stored row does not belong to this index.
    pub fn owner(&self, entry: EntityRef<'_>) -> Result<EntityKey> {
        (self.owner)(entry)
    }
}

impl<E> fmt::Debug for IndexOf<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IndexOf").field(&self.schema.name).finish()
    }
}
