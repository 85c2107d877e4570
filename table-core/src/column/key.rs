//! Typed key fields, for projections that include parts of the key.

use std::marker::PhantomData;

use table_store::Result;

use crate::key::codec::compound::{Piece, Splitter};
use crate::query::EntityRef;

/// A field of type `T` in the key of the entity `E`, such as `Employee::ID`. Created by `#[derive(Entity)]`.
///
/// A key column is not a [`Column`](crate::Column). The store has no such property, so filters and patches cannot name it. To select rows by the field, use
/// `Employee::key` and `Employee::rows`. A projection can include a key column.
///
/// ```
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
/// use table_core::{KeyColumn, Projection};
///
/// let id: KeyColumn<Employee, u32> = Employee::ID;
///
/// #[derive(Projection)]
/// #[projection(of = Employee)]
/// struct Badge {
///     id: u32, // read from the key by this column
///     age: i32,
/// }
/// ```
pub struct KeyColumn<E, T> {
    field: &'static str,
    in_row_key: bool,
    pieces: &'static [Piece],
    part: usize,
    decode: fn(&str) -> Result<T>,
    of: PhantomData<fn() -> E>,
}

impl<E, T> KeyColumn<E, T> {
    /// Returns 0, because the column has no property. Called by generated code.
    #[doc(hidden)]
    #[must_use]
    pub const fn number(&self) -> u64 {
        0
    }

    /// Returns `true`, because this column is a key field. Copies store such a field as a property. Called by generated code.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_of_key(&self) -> bool {
        true
    }

    /// Creates a column for a part of the `PartitionKey`. Only generated code calls this function, with pieces that match the entity.
    #[doc(hidden)]
    #[must_use]
    pub const fn of_partition_key(
        field: &'static str,
        pieces: &'static [Piece],
        part: usize,
        decode: fn(&str) -> Result<T>,
    ) -> Self {
        Self { field, in_row_key: false, pieces, part, decode, of: PhantomData }
    }

    /// Creates a column for a part of the `RowKey`. Only generated code calls this function, with pieces that match the entity.
    #[doc(hidden)]
    #[must_use]
    pub const fn of_row_key(
        field: &'static str,
        pieces: &'static [Piece],
        part: usize,
        decode: fn(&str) -> Result<T>,
    ) -> Self {
        Self { field, in_row_key: true, pieces, part, decode, of: PhantomData }
    }

    /// Returns the name of the field.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        self.field
    }

    /// Reads the value from a stored entity's key.
    ///
    /// # Errors
    /// `EntityMismatch`, with the name of the field, if the key does not match the entity's schema.
    pub(super) fn read(&self, entity: EntityRef<'_>) -> Result<T> {
        let text = if self.in_row_key { entity.row_key } else { entity.partition_key };
        let mut key = Splitter::new(self.pieces, text);
        let mut found = "";
        let parts = self.pieces.iter().filter(|piece| matches!(piece, Piece::Part(_))).count();
        for at in 0..parts {
            let part = key.next_part()?;
            if at == self.part {
                found = part;
            }
        }
        key.finish()?;
        (self.decode)(found).map_err(|error| error.with_property(self.field))
    }
}

impl<E, T> Clone for KeyColumn<E, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, T> Copy for KeyColumn<E, T> {}

impl<E, T> std::fmt::Debug for KeyColumn<E, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeyColumn({})", self.field)
    }
}
