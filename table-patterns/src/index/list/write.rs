//! Writes the members of a list into its entity.

use table_core::key::EntityKey;
use table_core::limits::Limits;
use table_core::row::{Row, RowView, RowWriter};
use table_core::{Result, ValueRef};

use crate::index::list::{ListForm, Members};

impl ListForm {
    /// Returns the row of a list entity. The members are distributed over as many properties as needed.
    ///
    /// # Errors
    /// - `IndexListFull` if the members do not fit into one entity (PAT-IX-4).
    /// - `EntityMismatch` if the list stores parts of keys and a part is unknown.
    pub(crate) fn write(&self, key: &EntityKey, members: &Members, limits: &Limits) -> Result<Row> {
        if self.has_keys {
            return self.with_mark(self.write_keys(key, members, limits)?, (key, members), limits);
        }
        let texts = members.texts().ok_or_else(|| self.invalid_members_fault())?;
        self.with_mark(self.write_parts(key, &texts, limits)?, (key, members), limits)
    }

    /// If the list is marked, adds the mark to its row. The mark is a space before the members in the last property, which is most likely to have room.
    fn with_mark(&self, row: Row, (key, members): (&EntityKey, &Members), limits: &Limits) -> Result<Row> {
        if !members.is_marked() {
            return Ok(row);
        }
        let (mut marked, last) = (RowWriter::new(), row.view().len().saturating_sub(1));
        for (at, property) in row.view().properties().enumerate() {
            let property = property?;
            match property.value {
                ValueRef::String(text) if at == last => {
                    if text.encode_utf16().count() >= limits.string_units {
                        return Err(self.full(members.len()));
                    }
                    marked.property(property.name, ValueRef::String(&format!(" {text}")));
                }
                value => marked.property(property.name, value),
            }
        }
        self.within(marked.finish(), (key, members.len()), limits)
    }

    /// Returns `true` if a list's row contains the mark.
    pub(crate) fn is_marked(list: RowView<'_>) -> Result<bool> {
        for property in list.properties() {
            if matches!(property?.value, ValueRef::String(text) if text.starts_with(' ')) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn write_keys(&self, key: &EntityKey, members: &Members, limits: &Limits) -> Result<Row> {
        let is_here = self.index.is_same_partition();
        let owner = |owner: &EntityKey| match [owner.partition_key.as_str(), owner.row_key.as_str()] {
            [_, row_key] if is_here => serde_json::to_string(row_key),
            pair => serde_json::to_string(&pair),
        };
        self.write_pieces((&self.keys, key), members.owners().map(owner), limits)
    }
}
