//! The fields of a group. A field contains exactly one entity of a type, at most one, or all entities of the type.

use std::ops::Deref;

use table_store::{Error, Result};

use crate::entity::{Entity, Versioned};
use crate::group::fault::GroupFault;

/// A field of an [`EntityGroup`](crate::group::EntityGroup), which is a [`One`], an `Option<One>` or a [`Many`].
///
/// ```
/// use table_core::group::{GroupField, Many, One};
/// use table_core::{ETag, Versioned};
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     age: i32,
/// # }
///
/// let ada = || Versioned::new(Employee { department: "Sales".into(), id: 223, age: 34 }, ETag::from_ticks(7), 7);
/// assert_eq!(Many::gather("employees", vec![ada(), ada()])?.len(), 2);
/// assert_eq!(One::gather("manager", vec![ada()])?.id, 223);
/// assert!(One::<Employee>::gather("manager", vec![]).is_err()); // exactly one is expected
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T107] `{Self}` cannot be a field of a group",
    label = "write `One<{Self}>`, `Option<One<{Self}>>` or `Many<{Self}>`, of an entity",
    note = "collect rows of other types in a field `#[other] rest: Vec<TableEntity>`"
)]
pub trait GroupField: Sized {
    /// The entity type of the field.
    type Member: Entity;

    /// Creates the field from the group's entities of this type. The entities are in key order.
    ///
    /// # Errors
    /// `ResourceNotFound` if there are too few entities; `EntityMismatch` if there are too many.
    fn gather(field: &'static str, found: Vec<Versioned<Self::Member>>) -> Result<Self>;
}

/// The only entity of its type in a group, with its version.
///
/// ```
/// use table_core::group::One;
/// use table_core::{ETag, Versioned};
///
/// let one = One::new(Versioned::new("Ada", ETag::from_ticks(7), 7));
/// assert_eq!((one.len(), one.etag()), (3, &ETag::from_ticks(7))); // dereferences to the entity
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct One<T>(Versioned<T>);

impl<T> One<T> {
    /// Creates the field from an entity and its version.
    pub const fn new(entity: Versioned<T>) -> Self {
        Self(entity)
    }

    /// Returns the entity with its version.
    #[must_use]
    pub fn into_versioned(self) -> Versioned<T> {
        self.0
    }

    /// Returns the entity without its version.
    #[must_use]
    pub fn into_value(self) -> T {
        self.0.into_value()
    }
}

impl<T> Deref for One<T> {
    type Target = Versioned<T>;

    fn deref(&self) -> &Versioned<T> {
        &self.0
    }
}

impl<T: Entity> GroupField for One<T> {
    type Member = T;

    fn gather(field: &'static str, found: Vec<Versioned<T>>) -> Result<Self> {
        Option::<Self>::gather(field, found)?
            .ok_or_else(|| Error::of(GroupFault::Missing { entity: T::SCHEMA.entity, field }))
    }
}

impl<T: Entity> GroupField for Option<One<T>> {
    type Member = T;

    fn gather(field: &'static str, found: Vec<Versioned<T>>) -> Result<Self> {
        let mut found = found.into_iter();
        let first = found.next();
        if let Some(second) = found.next() {
            let fault = GroupFault::Several { entity: T::SCHEMA.entity, field };
            let key = second.key_of()?;
            return Err(Error::of(fault).with_key(key.partition_key.as_str(), key.row_key.as_str()));
        }
        Ok(first.map(One))
    }
}

/// All entities of one type in a group, in key order, with their versions.
///
/// ```
/// use table_core::group::Many;
/// use table_core::{ETag, Versioned};
///
/// let many: Many<&str> = ["Ada", "Bob"].map(|name| Versioned::new(name, ETag::from_ticks(7), 7)).into_iter().collect();
/// assert_eq!(many.len(), 2);
/// assert!(many.values().eq(&["Ada", "Bob"]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Many<T>(Vec<Versioned<T>>);

impl<T> Many<T> {
    /// Iterates over the entities without their versions.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &T> {
        self.0.iter().map(Versioned::value)
    }

    /// Returns the entities without their versions.
    #[must_use]
    pub fn into_values(self) -> Vec<T> {
        self.0.into_iter().map(Versioned::into_value).collect()
    }
}

impl<T> Deref for Many<T> {
    type Target = [Versioned<T>];

    fn deref(&self) -> &[Versioned<T>] {
        &self.0
    }
}

impl<T> FromIterator<Versioned<T>> for Many<T> {
    fn from_iter<I: IntoIterator<Item = Versioned<T>>>(entities: I) -> Self {
        Self(entities.into_iter().collect())
    }
}

impl<T> IntoIterator for Many<T> {
    type Item = Versioned<T>;
    type IntoIter = std::vec::IntoIter<Versioned<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Many<T> {
    type Item = &'a Versioned<T>;
    type IntoIter = std::slice::Iter<'a, Versioned<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Entity> GroupField for Many<T> {
    type Member = T;

    fn gather(_: &'static str, found: Vec<Versioned<T>>) -> Result<Self> {
        Ok(Self(found))
    }
}
