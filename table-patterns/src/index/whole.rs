//! Builds copies from the stored values of their entities. Copies of whole entities also contain properties known only to a newer release.

use table_core::entity::Entity;
use table_core::index::IndexEntry;
use table_core::row::{self, Row, RowView, RowWriter};
use table_core::schema::{IndexKind, IndexSchema};
use table_core::store::TableStore;
use table_core::{Result, ValueRef};

use crate::entities::Entities;

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Returns a stored entity's index entry, with the [stored values](with_values). A copy of the whole entity also contains properties known only to a newer
    /// release.
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

/// An entity's known stored values, in lookup order: the written row and, for a merge, the previous row.
pub(crate) type StoredValues<'a> = [Option<RowView<'a>>; 2];

/// Returns a copy with the values stored in its entity's row instead of newly encoded ones. Two programs, or two instances of the same map, can encode a
/// property differently, so copies are written and compared by their stored values.
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

/// Returns `true` if two rows have the same properties, in any order. All NaN values count as equal, as do positive and negative zero, because a store need not
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

/// Returns a number's canonical form: a single NaN value and positive zero.
pub(crate) fn canonical(number: f64) -> f64 {
    if number.is_nan() { f64::NAN } else { number + 0.0 }
}

/// Returns a copy's row extended with its entity's properties named in `newer`.
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
