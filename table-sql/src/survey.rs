//! Determines the columns of a table from its stored schemas and a sample of its rows.

use std::collections::HashMap;

use table_core::query::{EntityRef, KeyRange};
use table_core::schema::StoredSchema;
use table_core::{DynTableStore, EdmType, Query, Result, TableName, TableStore, ValueRef};

use crate::build::nanos;
use crate::column::{Column, Kind, Source, of_keys};

/// The properties and types found in a table.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    properties: Vec<Seen>,
    known: HashMap<String, usize>,
}

/// A property found in the table.
#[derive(Debug)]
struct Seen {
    name: String,
    /// The number of values of each type, in the order of [`EdmType::ALL`].
    types: [u64; 8],
    /// `true` if at least one value is a time that cannot be represented in nanoseconds.
    is_distant: bool,
}

impl Survey {
    /// Adds the properties declared by stored schemas.
    pub(crate) fn declare(&mut self, schemas: &[StoredSchema]) {
        for property in schemas.iter().flat_map(|schema| &schema.properties) {
            self.count(&property.name, property.edm, false, 1);
        }
    }

    /// Adds the properties of the first rows of a table, or of all rows if `limit` is `None`.
    pub(crate) async fn sample(
        &mut self,
        store: &DynTableStore,
        table: &TableName,
        limit: Option<usize>,
    ) -> Result<()> {
        let (mut from, mut left) = (None, limit.unwrap_or(usize::MAX));
        // A continuation token is valid only for one query, so all pages are requested with the same maximum number of rows.
        let top = Some(store.capabilities().top.min(left));
        let query = Query { top, ..Query::new(KeyRange::ALL) };
        while left > 0 {
            let page = store.query(table, &query, from.as_ref()).await?;
            page.rows.iter().take(left).try_for_each(|entity| self.add(entity))?;
            left = left.saturating_sub(page.rows.len());
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn add(&mut self, entity: EntityRef<'_>) -> Result<()> {
        for property in entity.row.properties() {
            let property = property?;
            let is_distant = matches!(property.value, ValueRef::DateTime(ticks) if nanos(ticks).is_none());
            self.count(property.name, property.value.edm_type(), is_distant, 1);
        }
        Ok(())
    }

    fn count(&mut self, name: &str, edm: EdmType, is_distant: bool, count: u64) {
        let at = self.known.get(name).copied().unwrap_or_else(|| {
            self.known.insert(name.to_owned(), self.properties.len());
            self.properties.push(Seen { name: name.to_owned(), types: [0; 8], is_distant: false });
            self.properties.len() - 1
        });
        let Some(seen) = self.properties.get_mut(at) else { return };
        seen.is_distant |= is_distant;
        let mut types = EdmType::ALL.iter().zip(&mut seen.types);
        if let Some((_, found)) = types.find(|(known, _)| **known == edm) {
            *found += count;
        }
    }

    /// Returns the columns of the table. `names` contains the names of the key parts, indexed by label.
    pub(crate) fn columns(&self, schemas: &[StoredSchema], names: &[String]) -> Vec<Column> {
        let mut properties = Vec::new();
        for seen in &self.properties {
            let mut types: Vec<(EdmType, u64)> = EdmType::ALL.into_iter().zip(seen.types).collect();
            types.retain(|(_, count)| *count > 0);
            types.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            for (at, (edm, _)) in types.into_iter().enumerate() {
                let suffix = edm.name().trim_start_matches("Edm.");
                let name = if at == 0 { seen.name.clone() } else { format!("{}@{suffix}", seen.name) };
                let source = Source::Property(seen.name.clone(), edm);
                properties.push(Column::new(name, Kind::of(edm, seen.is_distant), source));
            }
        }
        let mut columns = of_keys(schemas, names, &properties);
        columns.extend(properties);
        columns
    }
}
