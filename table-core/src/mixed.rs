//! Classifies stored rows in a table that contains several entity types.
//!
//! A partition may contain entities of several kinds, the rows that are part of an entity, the copies and lists of indexes, and rows reserved for patterns.
//!
//! An entity declares which other rows may occur. These are the rows of its indexes and, with `#[entity(set = Desk)]`, the rows of all members of its
//! [set](crate::set) and their indexes. A read of one type returns the rows of this type and skips the other declared rows. A row that belongs to no declared
//! type causes an error with the row's key (PAT-HET-6).

mod fault;

use table_store::{Error, Result};

use crate::entity::{Entity, FromEntity, Versioned};
use crate::key::text::RESERVED;
use crate::mixed::fault::MixedFault;
use crate::query::EntityRef;
use crate::schema::{EntitySchema, IndexSchema, fits};
use crate::set::is_of;

/// The result of classifying a stored row for an entity type.
///
/// ```
/// use table_core::mixed::{RowOwner, classify_key};
/// use table_core::{Entity, EntitySet, TableEntity};
///
/// #[derive(Entity)]
/// #[entity(table = "Desk", set = Desk)]
/// #[partition_key(tenant)]
/// #[row_key("ticket_", number)]
/// #[index(ByStatus, row_key("status_", status, "_", number))]
/// struct Ticket { tenant: String, #[digits(3)] number: u32, #[without('_')] status: String }
///
/// #[derive(Entity)]
/// #[entity(table = "Desk", set = Desk)]
/// #[partition_key(tenant)]
/// #[row_key("ticket_", ticket, "_", number)]
/// struct Comment { tenant: String, #[digits(3)] ticket: u32, #[digits(2)] number: u32 }
///
/// #[derive(EntitySet)]
/// enum Desk { Ticket(Ticket), Comment(Comment), #[other] Other(TableEntity) }
///
/// assert_eq!(classify_key::<Ticket>("contoso", "ticket_017")?, RowOwner::Own);
/// assert_eq!(classify_key::<Ticket>("contoso", "ticket_017_01")?, RowOwner::Other);
/// assert_eq!(classify_key::<Comment>("contoso", "status_open_017")?, RowOwner::Other);
/// let error = classify_key::<Ticket>("contoso", "ticket_1").unwrap_err();
/// assert_eq!(error.key(), Some(("contoso", "ticket_1")));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOwner {
    /// A row of the entity type itself.
    Own,
    /// A row of another declared type or of an index, or a row reserved for patterns.
    Other,
}

/// Classifies a stored row in the table of `E`.
///
/// # Errors
/// `EntityMismatch` (PAT-HET-6), with the key, if the row belongs to no declared type; `Corrupted` if the bytes are not a row.
pub fn classify_row<E: Entity>(entity: EntityRef<'_>) -> Result<RowOwner> {
    // Reserved rows are checked first, because they would also match a key whose parts accept any text.
    let mut is_other = is_reserved(entity.row_key);
    if !is_other && is_of(E::SCHEMA, entity)? {
        return Ok(RowOwner::Own);
    }
    for design in E::SET_SCHEMAS {
        is_other |= is_of(design, entity)?;
    }
    other::<E>(is_other, E::SCHEMA.table, entity.partition_key, entity.row_key)
}

/// Classifies a key without reading its row.
///
/// `Own` means that the key matches `E`. The row may still belong to another type, because its `EntityType` is not part of the key, and may differ from the
/// kind of `E`.
///
/// # Errors
/// `EntityMismatch` (PAT-HET-6), with the key, if the key belongs to no declared type.
pub fn classify_key<E: Entity>(partition_key: &str, row_key: &str) -> Result<RowOwner> {
    if !is_reserved(row_key) && has_key_of(E::SCHEMA, partition_key, row_key) {
        return Ok(RowOwner::Own);
    }
    let is_other = is_reserved(row_key)
        || E::SET_SCHEMAS.iter().any(|design| has_key_of(design, partition_key, row_key));
    other::<E>(is_other, E::SCHEMA.table, partition_key, row_key)
}

/// Classifies a row in the table of an index of `E`. `Own` means that the row belongs to the index.
///
/// # Errors
/// Any error from [`classify_row`].
pub fn classify_index_row<E: Entity>(index: &IndexSchema, entity: EntityRef<'_>) -> Result<RowOwner> {
    if is_reserved(entity.row_key) {
        return Ok(RowOwner::Other);
    }
    if is_row_of(E::SCHEMA, index, entity.partition_key, entity.row_key) {
        return Ok(RowOwner::Own);
    }
    match index.table.filter(|table| !table.eq_ignore_ascii_case(E::SCHEMA.table)) {
        Some(table) => other::<E>(false, table, entity.partition_key, entity.row_key),
        None => classify_row::<E>(entity).map(|_| RowOwner::Other),
    }
}

/// Classifies a row that could not be read as an `E`. Returns `Ok` if the row belongs to another type.
///
/// # Errors
/// Any error from [`classify_row`]; `error` itself if the row belongs to `E`.
#[cold]
pub(crate) fn not_read<E: Entity>(entity: EntityRef<'_>, error: Error) -> Result<()> {
    match classify_row::<E>(entity)? {
        RowOwner::Own => Err(error.with_key(entity.partition_key, entity.row_key)),
        RowOwner::Other => Ok(()),
    }
}

/// Reads a row as a projection of `E`. The row is classified first, because a projection could also be read from rows of other types.
///
/// # Errors
/// Any error from [`classify_row`], or from [`FromEntity::from_entity`] for a row of type `E`.
pub(crate) fn read_own_as<E: Entity, P: FromEntity>(entity: EntityRef<'_>) -> Result<Option<Versioned<P>>> {
    match classify_row::<E>(entity)? {
        RowOwner::Own => Versioned::read(entity).map(Some),
        RowOwner::Other => Ok(None),
    }
}

pub(crate) fn is_reserved(row_key: &str) -> bool {
    row_key.starts_with(RESERVED)
}

fn has_key_of(design: &EntitySchema, partition_key: &str, row_key: &str) -> bool {
    fits(design.row_key, row_key) && fits(design.partition_key, partition_key)
}

fn is_row_of(design: &EntitySchema, index: &IndexSchema, partition_key: &str, row_key: &str) -> bool {
    fits(index.row_key, row_key) && fits(index.partition_key.unwrap_or(design.partition_key), partition_key)
}

/// Returns `true` if the key could belong to a row of one of the entity type's indexes in this table.
pub(crate) fn is_index_row(design: &EntitySchema, table: &str, partition_key: &str, row_key: &str) -> bool {
    let mut here =
        design.indexes.iter().filter(|index| index.table.unwrap_or(design.table).eq_ignore_ascii_case(table));
    here.any(|index| is_row_of(design, index, partition_key, row_key))
}

fn other<E: Entity>(is_other: bool, table: &str, partition_key: &str, row_key: &str) -> Result<RowOwner> {
    let is_copy = |design: &EntitySchema| is_index_row(design, table, partition_key, row_key);
    let is_declared = is_other || is_copy(E::SCHEMA) || E::SET_SCHEMAS.iter().any(|design| is_copy(design));
    if is_declared {
        return Ok(RowOwner::Other);
    }
    let fault = MixedFault::Unexplained { entity: E::SCHEMA.entity };
    Err(Error::of(fault).with_table(table).with_key(partition_key, row_key))
}
