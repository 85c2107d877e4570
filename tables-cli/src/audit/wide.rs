//! Recognises the rows of wide entities. A stored schema describes the key of the entire entity, not the keys of these rows.

use table_core::{EntityKey, TableEntity, Value};

use table_inspect::derived::part_of;

/// Returns the key of the wide entity that a row is a part of and the number of the part, or `None` if the row is not a part.
pub(super) fn whole_of(row: &TableEntity) -> Option<(EntityKey, usize)> {
    let (base, number) = part_of(row.key().row_key.as_str())?;
    match row.get("WriteId") {
        Some(Value::Guid(_)) => Some((EntityKey::new(row.key().partition_key.as_str(), base).ok()?, number)),
        _ => None,
    }
}
