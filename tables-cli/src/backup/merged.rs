//! Merges the layers of a table in a generation, in key order. Newer layers take precedence over older ones.

use table_core::query::KeyRange;
use table_core::{EntityKey, TableEntity};

use crate::backup::generation::TableRows;
use crate::backup::layer::{LayerReader, Record};
use crate::backup::repository::Repository;
use crate::failure::Result;
use crate::transfer::ordered::{Entities, OrderedEntities, key_order};

/// The rows of a table, merged from several layers.
#[derive(Debug)]
pub struct Merged {
    /// The layers, oldest first.
    layers: Vec<Head>,
    range: KeyRange,
    after: Option<EntityKey>,
}

/// A layer and its next record.
#[derive(Debug)]
struct Head {
    reader: LayerReader,
    next: Option<Record>,
}

impl Merged {
    /// Opens the rows of a table. If the generation does not contain the table, pass `None`; the result has no rows.
    ///
    /// # Errors
    /// Any error from [`LayerReader`].
    pub fn open(repository: &Repository, table: Option<&TableRows>) -> Result<Self> {
        let layers = table.map_or(&[][..], |table| &table.layers);
        let open = |layer: &crate::backup::generation::Layer| {
            let mut reader = LayerReader::open(
                &**repository.storage(),
                &repository.layer(&layer.file),
                layer.end.clone(),
            )?;
            let next = reader.next_record()?;
            Ok(Head { reader, next })
        };
        let layers = layers.iter().map(open).collect::<Result<_>>()?;
        Ok(Self { layers, range: KeyRange::ALL, after: None })
    }

    /// Restricts the rows to a key range.
    #[must_use]
    pub fn within(self, range: KeyRange) -> Self {
        Self { range, ..self }
    }

    /// Restricts the rows to keys after the given one.
    #[must_use]
    pub fn behind(self, after: Option<EntityKey>) -> Self {
        Self { after, ..self }
    }

    /// Returns the next record, which may be a deletion, or `None` at the end.
    fn next_record(&mut self) -> Result<Option<Record>> {
        let keys = self.layers.iter().filter_map(|head| head.next.as_ref().map(Record::key));
        let Some(first) = keys.min_by(|left, right| key_order(left, right)).cloned() else { return Ok(None) };
        let mut newest = None;
        for head in &mut self.layers {
            if head.next.as_ref().is_some_and(|record| *record.key() == first) {
                newest = std::mem::replace(&mut head.next, head.reader.next_record()?);
            }
        }
        Ok(newest)
    }

    fn is_selected(&self, key: &EntityKey) -> bool {
        self.after.as_ref().is_none_or(|after| key_order(key, after).is_gt())
            && self.range.contains(key.partition_key.as_str(), key.row_key.as_str())
    }
}

impl OrderedEntities for Merged {}

impl Entities for Merged {
    async fn next(&mut self) -> Result<Option<TableEntity>> {
        loop {
            match self.next_record()? {
                None => return Ok(None),
                Some(Record::Put(entity)) if self.is_selected(entity.key()) => return Ok(Some(entity)),
                Some(_) => {}
            }
        }
    }
}
