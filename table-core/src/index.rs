//! Indexes: what each look-up of a design puts into the store for an entity, and how its copies are read back.

pub mod consistency;
pub mod part;
mod read;

pub use crate::entity::{IndexEntry, IndexOf};
pub use consistency::{Behind, Consistency, InStep};
pub use part::IndexPart;
pub use read::{CopyIndex, FromCopy, Keeps};
pub(crate) use read::{read_copy, select_copies};

use crate::entity::Entity;
use crate::error::Result;
use crate::key::EntityKey;
use crate::query::EntityRef;
use crate::row::Row;
use crate::schema::IndexSchema;

/// A look-up beside the key as a type: `EmployeeByEmail` for `#[index(ByEmail, …)]` on `Employee`. Only `#[derive(Entity)]`
/// implements it.
///
/// It is pure: it says which copy, or which member of a list, an entity has in the index. The handle writes it; [`Entity::INDEXES`] lists what there is to write.
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
    /// The entity that it indexes.
    type Entity: Entity;
    /// Its design.
    const SCHEMA: &'static IndexSchema;
    /// Whether it changes together with the entities, which [`IndexSchema::is_same_partition`] says as a value.
    type Consistency: Consistency;

    /// Appends the texts of the entity's key in the index; `false`, and perhaps a part of them, if it is not indexed.
    ///
    /// # Errors
    /// `KeyEncoding` if a field's value has no text in its place.
    fn encode_key(entity: &Self::Entity, partition_key: &mut String, row_key: &mut String) -> Result<bool>;

    /// The properties that the entity's copy stores; of a list, those that tell the member: what the list's key does not say
    /// of the entity's own key.
    ///
    /// # Errors
    /// Those of [`Entity::to_row`].
    fn to_row(entity: &Self::Entity) -> Result<Row>;

    /// The key of the entity that a copy, or a member under the key of its list, belongs to.
    ///
    /// # Errors
    /// `EntityMismatch` if what is stored is not an entry of this index.
    fn owner(entry: EntityRef<'_>) -> Result<EntityKey>;

    /// The entity's entry in the index; `None` if it is not indexed.
    ///
    /// # Errors
    /// Those of [`encode_key`](Self::encode_key) and [`to_row`](Self::to_row), and `PropertyValueTooLarge` if a key is too long
    /// (KEY-8).
    fn entry(entity: &Self::Entity) -> Result<Option<IndexEntry>> {
        let (mut partition_key, mut row_key) = (String::new(), String::new());
        if !Self::encode_key(entity, &mut partition_key, &mut row_key)? {
            return Ok(None);
        }
        Ok(Some(IndexEntry { key: EntityKey::new(partition_key, row_key)?, row: Self::to_row(entity)? }))
    }
}
