//! Indexes store extra rows for secondary lookups of an entity. The traits in this module read these rows.

mod consistency;
mod part;
mod read;

pub use crate::entity::index::{IndexEntry, IndexOf};
pub use consistency::{Consistency, EventuallyConsistent, ReadAtOnce, ReadLater, StronglyConsistent};
#[doc(hidden)]
pub use consistency::{ReportedAtOnce, ReportedLater};
pub use part::IndexPart;
pub use read::{CopyIndex, FromCopy, Includes};
pub(crate) use read::{read_copy, select_copies};
use table_store::Result;

use crate::entity::Entity;
use crate::key::EntityKey;
use crate::query::EntityRef;
use crate::row::Row;
use crate::schema::IndexSchema;

/// A type that represents an index, such as `EmployeeByEmail` for `#[index(ByEmail, …)]` on `Employee`. Only `#[derive(Entity)]` implements this trait.
///
/// The functions are pure. They only compute an entity's copy or list entry, and write nothing. [`Entity::INDEXES`] contains the indexes of an entity.
///
/// ```
/// use table_core::{Entity, index::Index};
///
/// #[derive(Entity)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key("empid_", id)]
/// #[index(ByEmail, unique, row_key("email_", email))]
/// struct Employee {
///     department: String,
///     #[digits(6)]
///     #[property("EmployeeId")]
///     id: u32,
///     age: i32,
///     email: Option<String>,
/// }
///
/// let mut jones = Employee { department: "Sales".into(), id: 223, age: 32, email: Some("jonesj@contoso.com".into()) };
/// let copy = EmployeeByEmail::entry(&jones)?.expect("has an e-mail address");
/// assert_eq!(copy.key.row_key.as_str(), "email_jonesj@contoso.com"); // PAT-INTRA
/// let names: Vec<_> = copy.row.view().properties().map(|property| property.unwrap().name).collect();
/// assert_eq!(names, ["EmployeeId", "Age"]);
///
/// jones.email = None;
/// assert_eq!(EmployeeByEmail::entry(&jones)?, None); // sparse
/// # Ok::<(), table_core::Error>(())
/// ```
pub trait Index: Sized + 'static {
    /// The type of the indexed entities.
    type Entity: Entity;
    /// The schema of the index.
    const SCHEMA: &'static IndexSchema;
    /// The consistency of the index with the entities. It is `StronglyConsistent` if both are written in the same transaction, and otherwise
    /// `EventuallyConsistent`. [`IndexSchema::is_same_partition`] returns the same information as a value.
    type Consistency: Consistency;

    /// Appends the `PartitionKey` and `RowKey` of the entity's row in the index. Returns `false` if the entity is not indexed. In that case, part of the keys
    /// may already have been appended.
    ///
    /// # Errors
    /// `KeyEncoding` if a field's value cannot be encoded.
    fn encode_key(entity: &Self::Entity, partition_key: &mut String, row_key: &mut String) -> Result<bool>;

    /// Encodes the properties of the entity's copy, or of its list entry.
    ///
    /// A list entry contains the entity's key fields that are missing from the list's key. Together, they identify the entity.
    ///
    /// # Errors
    /// Any error from [`Entity::to_row`].
    fn to_row(entity: &Self::Entity) -> Result<Row>;

    /// Returns the key of the entity that owns a copy or list entry.
    ///
    /// # Errors
    /// `EntityMismatch` if the stored row does not belong to this index.
    fn owner(entry: EntityRef<'_>) -> Result<EntityKey>;

    /// Returns the entity's row in the index, or `None` if the entity is not indexed.
    ///
    /// # Errors
    /// Any error from [`encode_key`](Self::encode_key) and [`to_row`](Self::to_row); `PropertyValueTooLarge` if a key is too long (KEY-8).
    fn entry(entity: &Self::Entity) -> Result<Option<IndexEntry>> {
        let (mut partition_key, mut row_key) = (String::new(), String::new());
        if !Self::encode_key(entity, &mut partition_key, &mut row_key)? {
            return Ok(None);
        }
        Ok(Some(IndexEntry { key: EntityKey::new(partition_key, row_key)?, row: Self::to_row(entity)? }))
    }
}
