//! Wide entity errors: undeclared properties, and parts from different writes.

use table_core::Fault;

/// An error from writing or reading a wide entity.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum WideFault {
    #[error("a merge cannot remove a property; use `update`, which replaces the whole entity")]
    #[fault(InvalidInput, "MRG-3")]
    Removed,
    #[error("the patch is empty; set at least one property")]
    #[fault(InvalidInput)]
    EmptyPatch,
    #[error("found {values} values for {slots} slots; give each slot one value, `None` if it is empty")]
    #[fault(InvalidInput, "PAT-WIDE-1")]
    Slots { values: usize, slots: usize },
    #[error("a wide entity cannot have {parts} parts; use 1 to {most}")]
    #[fault(InvalidInput, "PAT-WIDE-1")]
    Parts { parts: usize, most: usize },
    #[error("the wide entity to resize does not exist")]
    #[fault(ResourceNotFound, "UPD-2")]
    NothingToResize,
    #[error("the wide entity to update does not exist")]
    #[fault(ResourceNotFound, "UPD-2")]
    NothingToUpdate,
    #[error("the property is written twice; write it once")]
    #[fault(InvalidInput)]
    Twice,
    #[error("`{0}` is not in any part of the wide entity; add it to `PARTS`")]
    #[fault(InvalidInput, "PAT-WIDE-1")]
    UnknownProperty(String),
    #[error("the slot is not one of the field's slots {first} to {last}; use a number in this range")]
    #[fault(InvalidInput, "PAT-WIDE-1")]
    NoSlot { first: usize, last: usize },
    #[error(
        "part {part:02} of the wide entity is stored, but only {parts} parts are declared; declare as \
         many parts as are stored, or convert the entity by `WideTable::resize`"
    )]
    #[fault(EntityMismatch, "PAT-WIDE-4")]
    Surplus { part: usize, parts: usize },
    #[error(
        "part {0:02} of the wide entity is missing; if it was deleted, write the whole entity again; if the declaration had fewer \
         parts when the entity was written, convert it by `WideTable::resize`"
    )]
    #[fault(EntityMismatch, "PAT-WIDE-4")]
    Missing(usize),
    #[error(
        "parts of the wide entity are missing, or the store can neither represent them nor return their keys; correct or delete such rows with another program, and \
         read the entity again"
    )]
    #[fault(EntityMismatch, "PAT-WIDE-4")]
    Omitted,
    #[error(
        "part {0:02} of the wide entity has no `WriteId` and was not written by `WideTable`; write the whole entity again"
    )]
    #[fault(EntityMismatch, "PAT-WIDE-4")]
    NoWriteId(usize),
    #[error(
        "part {0:02} of the wide entity has a different `WriteId` than the first part; write the whole entity again"
    )]
    #[fault(EntityMismatch, "PAT-WIDE-4")]
    OtherWrite(usize),
    #[error(
        "parts {first:02} and {second:02} of the wide entity contain different values of the property, because programs with different \
         declarations wrote it; convert the entity by `WideTable::resize`, which keeps the value in the declared part"
    )]
    #[fault(EntityMismatch, "PAT-WIDE-4")]
    TwoParts { first: usize, second: usize },
    #[error(
        "the wide entity contains different values of a slot under the names `{first}` and `{second}`, because programs with different \
         declarations wrote it; convert the entity by `WideTable::resize`, which keeps the value under the declared name"
    )]
    #[fault(EntityMismatch, "PAT-WIDE-4")]
    TwoNames { first: String, second: String },
    #[error("an entity's key cannot change; insert it under the new key and delete the old one")]
    #[fault(InvalidInput, "UPD-6")]
    KeyChanged,
    #[error("the version belongs to a wide entity with a different number of parts; read the entity again")]
    #[fault(InvalidInput, "PAT-WIDE-2")]
    OtherParts,
}
