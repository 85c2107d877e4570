//! Recognises the rows of wide entities. A stored schema describes the key of the wide entity, not the keys of its parts.

use table_core::{EntityKey, TableEntity, Value};

use table_inspect::derived::part_of;

/// Returns the key of a row's wide entity and the row's part number, or `None` if the row is not part of a wide entity.
pub(super) fn whole_of(row: &TableEntity) -> Option<(EntityKey, usize)> {
    let (base, number) = part_of(row.key().row_key.as_str())?;
    match row.get("WriteId") {
        Some(Value::Guid(_)) => Some((EntityKey::new(row.key().partition_key.as_str(), base).ok()?, number)),
        _ => None,
    }
}
