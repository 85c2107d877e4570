//! Copies decoded as the whole entity, or as a projection of what they keep.

use std::borrow::Cow;

use crate::entity::FromEntity;
use crate::error::Result;
use crate::index::Index;
use crate::query::{EntityRef, Select};
use crate::row::RowWriter;

/// An index of copies (PAT-INTRA, PAT-INTER): what is found there can be read at once. Only `#[derive(Entity)]` implements it.
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
/// use table_core::index::CopyIndex;
///
/// /// Accepts what can be read at the place of the index row itself.
/// fn one_request<I: CopyIndex>() {}
/// one_request::<EmployeeByEmail>();
/// ```
#[diagnostic::on_unimplemented(
    message = "[T072] `{Self}` is not an index of copies",
    label = "this index is a list of keys: read the list, then the entities it names (PAT-IX-3)"
)]
pub trait CopyIndex: Index {
    /// The properties that are not stored in a copy because its key says them.
    const GIVEN: &'static [&'static str] = &[];
    /// The properties of a copy that the key of its entity is made of again (`Index::owner`).
    const OWNER: &'static [&'static str] = &[];

    /// Appends the properties that the key of a copy says.
    ///
    /// # Errors
    /// `EntityMismatch` if it is the key of no copy.
    fn write_given(_copy: EntityRef<'_>, _row: &mut RowWriter) -> Result<()> {
        Ok(())
    }
}

/// A type that the copies of the index `I` are read as: the entity where they keep all of it, a projection of what they keep. Derived.
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
/// use table_core::Projection;
/// use table_core::index::FromCopy;
///
/// #[derive(Projection)]
/// #[projection(of = Employee)]
/// struct Age {
///     age: i32,
/// }
/// /// Accepts what a copy under an e-mail address can be read as.
/// fn by_email<T: FromCopy<EmployeeByEmail>>() {}
/// by_email::<Age>();
/// ```
// Of the type and not of `Copies<I>`: the impls of each crate would all be of one type then, and be compared pair by pair.
#[diagnostic::on_unimplemented(
    message = "[T071] `{Self}` cannot be read from the copies of the index `{I}`",
    label = "what is stored there is not enough for a `{Self}`",
    note = "copies of an index with `keep(…)` are read as a projection of what they keep: `get_as::<P>`, `query(…).project::<P>()`",
    note = "an `index_entity` holds keys: no entity is read from it"
)]
pub trait FromCopy<I: Index>: Sized {
    /// The properties that are asked for (DQ-13).
    #[must_use]
    fn select_copy() -> Select {
        Select::All
    }

    /// Reads it, straight from the encoded row.
    ///
    /// # Errors
    /// Those of [`FromEntity::from_entity`].
    fn from_copy(copy: EntityRef<'_>) -> Result<Self>;
}

/// An index whose copies have the property of this number, stored or in their key. Only `#[derive(Entity)]` implements it.
///
/// The number is made of the property's name: it names the property in a type.
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
/// use table_core::index::Keeps;
///
/// /// Accepts an index that keeps the property with this number.
/// fn keeps<I: Keeps<NUMBER>, const NUMBER: u64>() {}
/// const AGE: u64 = Employee::AGE.number();
/// keeps::<EmployeeByEmail, AGE>();
/// ```
#[diagnostic::on_unimplemented(
    message = "[T070] the copies of the index `{Self}` do not keep a property that the projection asks for",
    label = "a projection of these copies has a field that they do not keep",
    note = "the field is shown below: add it to the index's `keep(…)`, or take it out of the projection"
)]
pub trait Keeps<const PROPERTY: u64, const OF_KEY: bool = false>: Index {}

/// Each copy has the key of its entity, from which a projection reads fields of the key.
impl<I: CopyIndex> Keeps<0, true> for I {}

/// The bounds on copies of an index that are read as a projection. One with fields of the entity's own key, `of_key`, needs
/// what that is made of.
pub(crate) fn select_copies<I: CopyIndex, P: FromEntity>(of_key: bool) -> Select {
    match P::select() {
        Select::Names(names) if of_key => {
            let owner = I::OWNER.iter().map(|name| Cow::Borrowed(*name));
            Select::names(names.iter().cloned().chain(owner))
        }
        select => select,
    }
}

/// Reads a copy as a projection. Fields of the entity's own key, `of_key`, are read from that key, and not from the copy's.
pub(crate) fn read_copy<I: CopyIndex, P: FromEntity>(copy: EntityRef<'_>, of_key: bool) -> Result<P> {
    let select = P::select();
    let owner = if of_key { Some(I::owner(copy)?) } else { None };
    let (partition_key, row_key) = match &owner {
        Some(owner) => (owner.partition_key.as_str(), owner.row_key.as_str()),
        None => (copy.partition_key, copy.row_key),
    };
    if !I::GIVEN.iter().any(|name| select.contains(name)) {
        return P::from_entity(EntityRef::new(partition_key, row_key, copy.row));
    }
    let mut row = RowWriter::with_capacity(copy.row.len() + I::GIVEN.len());
    for property in copy.row.properties() {
        let property = property?;
        row.property(property.name, property.value);
    }
    I::write_given(copy, &mut row)?;
    P::from_entity(EntityRef::new(partition_key, row_key, row.finish().view()))
}
