//! The indexes of an entity as data, and what one entity has in one of them.

use std::fmt;

use crate::error::Result;
use crate::key::EntityKey;
use crate::query::EntityRef;
use crate::row::Row;
use crate::schema::IndexSchema;

/// The entry of one entity in one index: its copy, or its member of a list.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # #[index(ByEmail, unique, row_key("email_", email), keep(age))]
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
    /// Where: the key of the copy, or of the list.
    pub key: EntityKey,
    /// The properties of the copy; of a list, those of the member.
    pub row: Row,
}

/// An index of `E` as data, so that one loop serves all of them: [`Entity::INDEXES`](crate::Entity::INDEXES).
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
    /// For generated code: the design and the functions of one [`Index`](crate::index::Index).
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        schema: &'static IndexSchema,
        entry: fn(&E) -> Result<Option<IndexEntry>>,
        owner: fn(EntityRef<'_>) -> Result<EntityKey>,
    ) -> Self {
        Self { schema, entry, owner }
    }

    /// The design of the index.
    #[must_use]
    pub const fn schema(&self) -> &'static IndexSchema {
        self.schema
    }

    /// The entity's entry in the index; `None` if it is not indexed.
    ///
    /// # Errors
    /// Those of [`Index::entry`](crate::index::Index::entry).
    pub fn entry(&self, entity: &E) -> Result<Option<IndexEntry>> {
        (self.entry)(entity)
    }

    /// The key of the entity that a copy, or a member under the key of its list, belongs to.
    ///
    /// # Errors
    /// `EntityMismatch` if what is stored is not an entry of this index.
    pub fn owner(&self, entry: EntityRef<'_>) -> Result<EntityKey> {
        (self.owner)(entry)
    }
}

impl<E> fmt::Debug for IndexOf<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IndexOf").field(&self.schema.name).finish()
    }
}
