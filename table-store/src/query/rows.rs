//! `Rows`: a page of entities whose keys and encoded rows share a few buffers.

mod gather;

use std::ops::Range;

use crate::error::Result;
use crate::etag::ETag;
use crate::key::text::RESERVED;
use crate::query::Select;
use crate::row::EntityRef;
use crate::row::RowView;

pub use gather::Gather;

/// The entities in a page. They are stored in a few shared buffers, so a page needs few allocations regardless of its number of entities.
///
/// ```
/// use table_core::query::Rows;
/// use table_core::row::RowWriter;
///
/// let mut rows = Rows::default();
/// rows.push("Sales", "000223", RowWriter::new().finish().view(), None);
/// let keys: Vec<_> = rows.iter().map(|entity| (entity.partition_key, entity.row_key)).collect();
/// assert_eq!(keys, [("Sales", "000223")]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rows {
    bodies: Vec<u8>,
    row_keys: String,
    entries: Vec<Entry>,
    /// The row shapes: property names and types. Consecutive rows with the same shape share one copy.
    shapes: Vec<u8>,
    shape_places: Vec<Shape>,
    /// The partition keys. Consecutive rows in the same partition share one copy.
    partition_keys: String,
    partition_places: Vec<Range<usize>>,
    /// The `ETag`s sent by the backend, by entity index. An entity without one has the `ETag` that is derived from its Timestamp.
    etags: Vec<Option<ETag>>,
}

/// The position of an entity in the buffers. It consists of the end offsets of the entity's `RowKey` and body, and the indexes of its partition and shape. The
/// struct is small because one is written and read for every row of a page.
#[derive(Clone, Copy, Debug)]
struct Entry {
    row_key_end: usize,
    body_end: usize,
    /// The index into `partition_places`. `shape` is the index into `shape_places`.
    partition: u32,
    shape: u32,
}

#[derive(Clone, Debug)]
struct Shape {
    place: Range<usize>,
    /// The number of properties, or `None` if the shape is invalid.
    count: Option<u16>,
}

/// The buffer ranges of an entity's keys, shape and body.
struct Places {
    partition_key: Range<usize>,
    row_key: Range<usize>,
    shape: Range<usize>,
    count: Option<u16>,
    body: Range<usize>,
}

/// Returns the word-aligned start of a row's body (its Timestamp and values), given the end of the previous body.
///
/// Strings at the start of the values can then be validated word by word from the first byte, which makes reading a page 5% faster.
const fn aligned(end: usize) -> usize {
    end.next_multiple_of(size_of::<u64>())
}

impl Rows {
    /// Creates an empty page with capacity for `rows` rows and `bytes` bytes of row bodies.
    #[must_use]
    pub fn with_capacity(rows: usize, bytes: usize) -> Self {
        Self {
            bodies: Vec::with_capacity(bytes),
            row_keys: String::with_capacity(rows.saturating_mul(16)),
            entries: Vec::with_capacity(rows),
            ..Self::default()
        }
    }

    /// Removes rows reserved for patterns, such as outbox rows ([`RESERVED`](crate::key::text::RESERVED)).
    #[doc(hidden)]
    #[must_use]
    pub fn without_reserved(self) -> Self {
        // Reserved rows are rare, so a single search over all keys usually shows that the page has none.
        if !self.row_keys.contains(RESERVED) {
            return self;
        }
        let mut kept = Self::default();
        for entity in self.iter().filter(|entity| !entity.row_key.starts_with(RESERVED)) {
            let etag = entity.sent_etag().cloned();
            kept.push(entity.partition_key, entity.row_key, entity.row, etag);
        }
        kept
    }

    /// Appends an entity. Without an `etag`, its `ETag` is derived from its Timestamp.
    pub fn push(&mut self, partition_key: &str, row_key: &str, row: RowView<'_>, etag: Option<ETag>) {
        if etag.is_some() {
            self.etags.resize(self.entries.len(), None);
            self.etags.push(etag);
        }
        self.row_keys.push_str(row_key);
        self.push_row(partition_key, self.row_keys.len(), row);
    }

    /// Appends a row whose `RowKey` will end at `row_key_end`. The caller may append the key itself later.
    fn push_row(&mut self, partition_key: &str, row_key_end: usize, row: RowView<'_>) {
        let (shape, body) = row.parts();
        let last = self.partition_places.last().and_then(|place| self.partition_keys.get(place.clone()));
        if last != Some(partition_key) {
            let start = self.partition_keys.len();
            self.partition_keys.push_str(partition_key);
            self.partition_places.push(start..self.partition_keys.len());
        }
        let last = self.shape_places.last().and_then(|last| self.shapes.get(last.place.clone()));
        if last != Some(shape) {
            let start = self.shapes.len();
            self.shapes.extend_from_slice(shape);
            let place = start..self.shapes.len();
            self.shape_places.push(Shape { place, count: RowView::count_of(shape) });
        }
        self.push_alike(row_key_end, body);
    }

    /// Appends a row with the same partition and shape as the previous row.
    #[inline]
    fn push_alike(&mut self, row_key_end: usize, body: &[u8]) {
        self.bodies.resize(aligned(self.bodies.len()), 0);
        self.bodies.extend_from_slice(body);
        // The index is less than 2^32, because every listed partition and shape belongs to a row, and 2^32 rows do not fit into memory.
        let last = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).saturating_sub(1);
        let (partition, shape) = (last(self.partition_places.len()), last(self.shape_places.len()));
        self.entries.push(Entry { row_key_end, body_end: self.bodies.len(), partition, shape });
    }

    /// Appends an entity with only the requested properties (SEL-2). Requested properties that the entity lacks are omitted (SEL-3).
    ///
    /// # Errors
    /// `Corrupted` if the bytes are not a row.
    pub fn push_selected(&mut self, entity: EntityRef<'_>, select: &Select) -> Result<()> {
        let etag = entity.sent_etag().cloned();
        match select.narrow(entity.row)? {
            None => self.push(entity.partition_key, entity.row_key, entity.row, etag),
            Some(mut narrowed) => {
                let row = narrowed.close(entity.row.timestamp());
                self.push(entity.partition_key, entity.row_key, row, etag);
            }
        }
        Ok(())
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if the page has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    fn places(&self, index: usize) -> Option<Places> {
        let entry = self.entries.get(index)?;
        let (row_key, body) = match index.checked_sub(1).and_then(|before| self.entries.get(before)) {
            Some(before) => (before.row_key_end, aligned(before.body_end)),
            None => (0, 0),
        };
        let shape = self.shape_places.get(entry.shape as usize)?;
        Some(Places {
            partition_key: self.partition_places.get(entry.partition as usize)?.clone(),
            row_key: row_key..entry.row_key_end,
            shape: shape.place.clone(),
            count: shape.count,
            body: body..entry.body_end,
        })
    }

    /// Returns the entity at a zero-based index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<EntityRef<'_>> {
        let Places { partition_key, row_key, shape, count, body } = self.places(index)?;
        let (shape, body) = (self.shapes.get(shape)?, self.bodies.get(body)?);
        let row = RowView::counted(shape, count, body);
        let entity =
            EntityRef::new(self.partition_keys.get(partition_key)?, self.row_keys.get(row_key)?, row);
        Some(match self.etags.get(index) {
            Some(Some(etag)) => entity.with_etag(etag),
            _ => entity,
        })
    }

    /// Iterates over the entities in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = EntityRef<'_>> {
        let nothing = || EntityRef::new("", "", RowView::new(&[]));
        (0..self.len()).map(move |index| self.get(index).unwrap_or_else(nothing))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::filter::arbitrary;
    use crate::row::RowWriter;
    use crate::value::{Value, ValueRef};

    proptest! {
        #[test]
        fn rows_come_back_as_they_were_pushed(
            samples in prop::collection::vec((arbitrary::sample(), prop::option::of(1_u64..9)), 0..8),
        ) {
            let mut rows = Rows::default();
            for (sample, etag) in &samples {
                let (partition_key, row_key) = (&sample.partition_key, &sample.row_key);
                rows.push(partition_key, row_key, sample.row().view(), etag.map(ETag::from_ticks));
            }
            prop_assert_eq!((rows.len(), rows.iter().count()), (samples.len(), samples.len()));
            for (entity, (sample, etag)) in rows.iter().zip(&samples) {
                let row = sample.row();
                prop_assert_eq!(entity.partition_key, &sample.partition_key);
                prop_assert_eq!(entity.row_key, &sample.row_key);
                prop_assert_eq!(entity.row.to_row(), row.clone());
                prop_assert_eq!(entity.etag(), etag.map_or(row.view().etag(), ETag::from_ticks));
            }
        }

        #[test]
        fn sel_2_and_3_only_existing_selected_properties_are_returned(sample in arbitrary::sample(), own in 1_u64..9) {
            let (row, etag) = (sample.row(), ETag::from_ticks(own));
            let entity = EntityRef::new(&sample.partition_key, &sample.row_key, row.view()).with_etag(&etag);
            let mut rows = Rows::default();
            rows.push_selected(entity, &Select::names(["X", "P", "Nowhere", "RowKey"])).unwrap();
            rows.push_selected(entity, &Select::All).unwrap();
            let selected = rows.get(0).unwrap();
            prop_assert_eq!((selected.etag(), selected.row.timestamp()), (etag.clone(), row.view().timestamp()));
            for property in ["P", "Q", "X"] {
                let expected = sample.get(property).filter(|_| property != "Q");
                let found = selected.row.find(property, &mut 0).unwrap();
                // Compared by `Debug` output, so that NaN equals NaN.
                prop_assert_eq!(format!("{found:?}"), format!("{:?}", expected.as_ref().map(Value::as_ref)));
            }
            prop_assert!(!selected.row.properties().any(|property| property.unwrap().name == "RowKey"));
            prop_assert_eq!(rows.get(1).unwrap().row.to_row(), row);
            prop_assert!(rows.get(2).is_none());
        }
    }

    #[test]
    fn a_selected_row_keeps_its_values() {
        let mut writer = RowWriter::new();
        writer.property("A", ValueRef::Int32(1));
        writer.property("B", ValueRef::String("b"));
        let row = writer.finish();
        let mut rows = Rows::with_capacity(1, 64);
        rows.push_selected(EntityRef::new("p", "r", row.view()), &Select::names(["B"])).unwrap();
        let selected = rows.get(0).unwrap().row;
        assert_eq!((selected.len(), selected.find("B", &mut 0).unwrap()), (1, Some(ValueRef::String("b"))));
    }
}
