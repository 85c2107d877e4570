//! The projection of one source entity: its rows in a view, and its contributions to sums.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use table_core::entity::PlainEntity;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::row::Row;
use table_core::selection::{Point, Selection};
use table_core::{Column, Error, Result};

use crate::view::fault::ViewFault;

/// One source entity's rows and contributions to sums, for a view with rows of type `R`.
pub struct Projection<R> {
    pub(super) places: BTreeMap<PartitionKey, Contribution>,
    of: PhantomData<fn() -> R>,
}

/// One source entity's rows and contributions to sums in one partition of the view.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Contribution {
    pub(super) rows: BTreeMap<RowKey, Row>,
    pub(super) sums: BTreeMap<RowKey, BTreeMap<&'static str, i64>>,
}

impl Contribution {
    /// Returns `true` if the entity contributes no rows and only zeros to sums.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.sums.values().flat_map(BTreeMap::values).all(|amount| *amount == 0)
    }
}

impl<R: PlainEntity> Projection<R> {
    pub(super) const fn new() -> Self {
        Self { places: BTreeMap::new(), of: PhantomData }
    }

    /// Adds a row that belongs only to this source entity.
    ///
    /// # Errors
    /// `InvalidInput` if the row is put twice, or also contains sums; any error from encoding the row.
    pub fn put(&mut self, row: &R) -> Result<()> {
        let key = row.key_of()?;
        let place = self.places.entry(key.partition_key.clone()).or_default();
        if place.rows.contains_key(&key.row_key) || place.sums.contains_key(&key.row_key) {
            return Err(duplicate_row(&key));
        }
        place.rows.insert(key.row_key, row.to_row()?);
        Ok(())
    }

    /// Adds an amount to a sum. A sum is a column in a row to which many source entities may contribute. The row is created when the first nonzero amount is
    /// added. The row's other `i64` columns start at 0, and it has no further properties.
    ///
    /// # Errors
    /// `InvalidInput` if the row has also been put; `OutOfRangeInput` if the entity's total contribution to a sum is outside the range of an `i64`.
    pub fn add(&mut self, row: Selection<R, Point>, column: Column<R, i64>, amount: i64) -> Result<()> {
        let key = row.into_key()?;
        // The strings are copied only for the first sum in a row, because an entity often adds to several sums in the same row.
        let place = match self.places.get_mut(&key.partition_key) {
            Some(place) => place,
            None => self.places.entry(key.partition_key.clone()).or_default(),
        };
        if place.rows.contains_key(&key.row_key) {
            return Err(duplicate_row(&key));
        }
        let sums = match place.sums.get_mut(&key.row_key) {
            Some(sums) => sums,
            None => place.sums.entry(key.row_key.clone()).or_default(),
        };
        let sum = sums.entry(column.name()).or_default();
        *sum = sum.checked_add(amount).ok_or_else(|| {
            Error::of(ViewFault::EntitySum)
                .with_property(column.name())
                .with_key(key.partition_key.as_str(), key.row_key.as_str())
        })?;
        Ok(())
    }
}

fn duplicate_row(key: &EntityKey) -> Error {
    Error::of(ViewFault::Twice).with_key(key.partition_key.as_str(), key.row_key.as_str())
}

debug_fields!([R] Projection[R] { places });
