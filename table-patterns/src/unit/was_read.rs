//! The argument of unit methods that change an entity: the entity that was read, with its version.

use table_core::entity::{Entity, Versioned};

/// A reference to a [`Versioned`], which is an entity that has been read, with its version.
///
/// ```
/// use table_patterns::unit::WasRead;
/// use table_patterns::{ETag, Entity, Versioned};
///
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key(id)]
/// struct Employee { department: String, #[digits(6)] id: u32 }
///
/// /// Returns the number of the version.
/// fn version<'a>(read: impl WasRead<'a>) -> Option<u64> {
///     read.into_versioned().etag().ticks()
/// }
/// let ada = Versioned::new(Employee { department: "Sales".into(), id: 223 }, ETag::from_ticks(7), 7);
/// assert_eq!(version(&ada), Some(7)); // `version(ada.value())` does not compile: T238
/// ```
#[diagnostic::on_unimplemented(
    message = "[T238] a unit changes an entity that was read, and not `{Self}`",
    label = "write `&found`, a reference to the `Versioned` entity",
    note = "the unit reads it by its key: `let found = unit.get(…::key(…)).await?`, with the type of the entity, and the handle by `get`, too",
    note = "a read returns an `Option`: `let found = found.ok_or(…)?`"
)]
pub trait WasRead<'a> {
    /// The entity type.
    type Entity: Entity + 'a;

    /// Returns the entity with its version.
    fn into_versioned(self) -> &'a Versioned<Self::Entity>;
}

#[diagnostic::do_not_recommend]
impl<'a, E: Entity> WasRead<'a> for &'a Versioned<E> {
    type Entity = E;

    fn into_versioned(self) -> Self {
        self
    }
}
