//! Reads copies from an index, as the entity or as a projection of the included fields.

use std::borrow::Cow;

use table_store::Result;

use crate::entity::FromEntity;
use crate::index::Index;
use crate::query::{EntityRef, Select};
use crate::row::RowWriter;

/// An index that stores copies of the entities (PAT-INTRA, PAT-INTER). Each copy contains all or some of the entity's properties. Only `#[derive(Entity)]`
/// implements this trait.
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
/// use table_core::index::CopyIndex;
///
/// /// Accepts indexes that can be read with one request.
/// fn one_request<I: CopyIndex>() {}
/// one_request::<EmployeeByEmail>();
/// ```
#[diagnostic::on_unimplemented(
    message = "[T072] `{Self}` is not an index of copies",
    label = "this index is a list of keys; read the list, then the entities it names (PAT-IX-3)"
)]
pub trait CopyIndex: Index {
    /// The properties that copies omit, because the copy's key contains them.
    const KEY_PROPERTIES: &'static [&'static str] = &[];
    /// The properties of a copy from which `Index::owner` computes the entity's key.
    const OWNER: &'static [&'static str] = &[];

    /// Appends the properties stored only in a copy's key.
    ///
    /// # Errors
    /// `EntityMismatch` if the stored key does not have the form of this index's keys.
    fn write_key_properties(_copy: EntityRef<'_>, _row: &mut RowWriter) -> Result<()> {
        Ok(())
    }
}

/// A type that copies of the index `I` can be read as. This is the entity if the copies include all its properties, and otherwise a projection of the included
/// fields. The derives implement this trait.
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
/// use table_core::Projection;
/// use table_core::index::FromCopy;
///
/// #[derive(Projection)]
/// #[projection(of = Employee)]
/// struct Age {
///     age: i32,
/// }
/// /// Accepts types that a copy in `ByEmail` can be read as.
/// fn by_email<T: FromCopy<EmployeeByEmail>>() {}
/// by_email::<Age>();
/// ```
// The trait's parameter is the index, not `Copies<I>`. Otherwise, all implementations would be for the same type, and rustc would compare each pair of them.
#[diagnostic::on_unimplemented(
    message = "[T071] `{Self}` cannot be read from the copies of the index `{I}`",
    label = "the copies do not contain everything that `{Self}` needs",
    note = "read copies of an index with `include(…)` as a projection of the included fields: `get_as::<P>`, `query(…).project::<P>()`",
    note = "an `index_entity` stores keys only; no entity can be read from it"
)]
pub trait FromCopy<I: Index>: Sized {
    /// Returns the properties required to read this type (DQ-13).
    #[must_use]
    fn select_copy() -> Select {
        Select::All
    }

    /// Reads a value from the stored row of a copy.
    ///
    /// # Errors
    /// Any error from [`FromEntity::from_entity`].
    fn from_copy(copy: EntityRef<'_>) -> Result<Self>;
}

/// An index whose copies contain the property with the hash `PROPERTY`. The property is stored as such, or in the key of the copy. Only `#[derive(Entity)]`
/// implements this trait.
///
/// The hash of a property's name identifies the property in const generic arguments.
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
/// use table_core::index::Includes;
///
/// /// Accepts an index that includes the property with this hash.
/// fn keeps<I: Includes<NUMBER>, const NUMBER: u64>() {}
/// const AGE: u64 = Employee::AGE.number();
/// keeps::<EmployeeByEmail, AGE>();
/// ```
#[diagnostic::on_unimplemented(
    message = "[T070] the copies of the index `{Self}` do not include a property that the projection needs",
    label = "a projection of these copies has a field that they do not include",
    note = "the field is shown below; add it to the index's `include(…)`, or remove it from the projection"
)]
pub trait Includes<const PROPERTY: u64, const OF_KEY: bool = false>: Index {}

/// Allows a projection to read the entity's key fields from any index, because every copy identifies its entity.
impl<I: CopyIndex> Includes<0, true> for I {}

/// Returns the properties needed to read a projection from copies.
///
/// If `of_key` is `true`, the projection includes key fields of the entity. The properties that determine the entity's key are then needed too.
pub(crate) fn select_copies<I: CopyIndex, P: FromEntity>(of_key: bool) -> Select {
    match P::select() {
        Select::Names(names) if of_key => {
            let owner = I::OWNER.iter().map(|name| Cow::Borrowed(*name));
            Select::names(names.iter().cloned().chain(owner))
        }
        select => select,
    }
}

/// Reads a copy as a projection. If `of_key` is `true`, the entity's key fields are read from the entity's key, not from the copy's key.
pub(crate) fn read_copy<I: CopyIndex, P: FromEntity>(copy: EntityRef<'_>, of_key: bool) -> Result<P> {
    let select = P::select();
    let owner = if of_key { Some(I::owner(copy)?) } else { None };
    let (partition_key, row_key) = match &owner {
        Some(owner) => (owner.partition_key.as_str(), owner.row_key.as_str()),
        None => (copy.partition_key, copy.row_key),
    };
    if !I::KEY_PROPERTIES.iter().any(|name| select.contains(name)) {
        return P::from_entity(EntityRef::new(partition_key, row_key, copy.row));
    }
    let mut row = RowWriter::with_capacity(copy.row.len() + I::KEY_PROPERTIES.len());
    for property in copy.row.properties() {
        let property = property?;
        row.property(property.name, property.value);
    }
    I::write_key_properties(copy, &mut row)?;
    P::from_entity(EntityRef::new(partition_key, row_key, row.finish().view()))
}
