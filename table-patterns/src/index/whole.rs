//! Builds copies from the stored values of their entities. Copies of whole entities also contain properties that only a newer release knows.

use table_core::entity::Entity;
use table_core::index::IndexEntry;
use table_core::row::{self, Row, RowView, RowWriter};
use table_core::schema::{IndexKind, IndexSchema};
use table_core::store::TableStore;
use table_core::{Result, ValueRef};

use crate::entities::Entities;

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Returns the index entry of a stored entity, with the [stored values](with_values). A copy of the whole entity also contains properties that only a newer
    /// release knows.
    ///
    /// # Errors
    /// `SchemaMismatch` if this program must not write; any error from the store.
    pub(crate) async fn whole_entry(
        &self,
        index: &IndexSchema,
        entry: IndexEntry,
        stored: Option<&Row>,
    ) -> Result<IndexEntry> {
        let is_whole = index.kind == IndexKind::Copies && index.include.is_none();
        let Some(stored) = stored.filter(|_| is_whole) else { return Ok(entry) };
        // IMPORTANT: the schema is read after the entity, because a newer release may have added properties to the entity.
        let newer = self.table.newer_properties(self.retry.runtime()).await?;
        Ok(IndexEntry { row: with_newer(entry.row, stored.view(), &newer)?, ..entry })
    }
}

/// The known stored values of an entity: the written row and, for a merge, the previous row. Values are looked up in this order.
pub(crate) type StoredValues<'a> = [Option<RowView<'a>>; 2];

/// Returns a copy that contains the values in the stored row of its entity, and not newly encoded ones. Two programs, or two instances of the same map, can
/// encode a property differently. Copies are therefore written and compared by their stored values.
pub(crate) fn with_values<E: Entity>(
    index: &IndexSchema,
    entry: IndexEntry,
    values: StoredValues<'_>,
) -> Result<IndexEntry> {
    if index.kind != IndexKind::Copies {
        return Ok(entry);
    }
    // Usually, the copy already contains the stored values.
    let (mut stored, mut differs, mut hints) = (RowWriter::new(), false, [0; 2]);
    for property in entry.row.view().properties() {
        let property = property?;
        let mut found = None;
        for (row, hint) in values.iter().flatten().zip(&mut hints) {
            if found.is_none() {
                found = row.find(property.name, hint)?;
            }
        }
        let found = found.filter(|found| *found != property.value);
        // The parts of the entity's key are stored as properties only in the copy.
        let is_declared = || E::SCHEMA.properties.iter().any(|declared| declared.name == property.name);
        if let Some(value) = found.filter(|_| is_declared()) {
            stored.property(property.name, value);
            differs = true;
        }
    }
    if !differs {
        return Ok(entry);
    }
    Ok(IndexEntry { row: row::merge(entry.row.view(), stored.finish().view())?, ..entry })
}

/// Returns `true` if two rows have the same properties, in any order. All NaN values are equal, and so are positive and negative zero, because a store need not
/// preserve the difference.
pub(crate) fn has_same(one: RowView<'_>, other: RowView<'_>) -> Result<bool> {
    if one.len() != other.len() {
        return Ok(false);
    }
    let mut hint = 0;
    for property in one.properties() {
        let property = property?;
        let value = other.find(property.name, &mut hint)?;
        let is_same = match (property.value, value) {
            (ValueRef::Double(one), Some(ValueRef::Double(other))) => {
                canonical(one).to_bits() == canonical(other).to_bits()
            }
            (one, other) => Some(one) == other,
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the canonical form of a number, which has a single NaN value and only positive zero.
pub(crate) fn canonical(number: f64) -> f64 {
    if number.is_nan() { f64::NAN } else { number + 0.0 }
}

/// Adds the properties of the entity that `newer` names to the row of a copy.
pub(crate) fn with_newer(copy: Row, entity: RowView<'_>, newer: &[String]) -> Result<Row> {
    if newer.is_empty() {
        return Ok(copy);
    }
    let mut kept = RowWriter::new();
    for property in entity.properties() {
        let property = property?;
        if newer.iter().any(|name| name == property.name) {
            kept.property(property.name, property.value);
        }
    }
    row::merge(copy.view(), kept.finish().view())
}
