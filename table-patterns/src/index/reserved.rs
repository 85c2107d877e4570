//! Refuses index rows whose keys would begin with U+FFFC. This character begins the keys that are reserved for patterns (PAT-EC-8).

use table_core::key::EntityKey;
use table_core::key::text::RESERVED;
use table_core::schema::{IndexSchema, KeyPiece};
use table_core::{Error, Result};

use crate::index::fault::IndexFault;

/// Checks that no declared key of an index row begins with U+FFFC. Called before the row is written. Rows that another tool has stored under such keys can still
/// be read and removed.
///
/// If an index declares no `PartitionKey`, its rows have the entity's `PartitionKey`, which is not checked.
///
/// # Errors
/// `OutOfRangeInput` (PAT-EC-8). The error names the field whose value begins with the character.
pub(crate) fn check_reserved(index: &IndexSchema, key: &EntityKey) -> Result<()> {
    let partition_key = index.partition_key.map(|pieces| (pieces, key.partition_key.as_str()));
    for (pieces, text) in partition_key.into_iter().chain([(index.row_key, key.row_key.as_str())]) {
        if text.starts_with(RESERVED) {
            let field = first_field(pieces).unwrap_or_default();
            let fault = IndexFault::Reserved { index: index.name, field };
            return Err(Error::of(fault)
                .with_property(field)
                .with_key(key.partition_key.as_str(), key.row_key.as_str()));
        }
    }
    Ok(())
}

/// Returns the field in the first part of a key. No literal begins with U+FFFC (T024). If a key begins with this character, it therefore begins with the value
/// of this field.
fn first_field(pieces: &'static [KeyPiece]) -> Option<&'static str> {
    pieces.iter().find_map(|piece| match piece {
        KeyPiece::Field { field, .. } => Some(*field),
        KeyPiece::Literal(_) => None,
    })
}
