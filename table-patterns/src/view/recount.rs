//! Recount of the sums of one partition of a view from its records.

use std::collections::BTreeMap;

use table_core::error::{Error, ErrorCode, Result};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::query::{KeyRange, Query, TextRange};
use table_core::store::TableStore;

use crate::view::View;
use crate::view::apply::{stored_sum, sums_write};
use crate::view::record::{BY, Share};
use crate::view::table::ViewTable;

/// Sums by row and property.
type Sums = BTreeMap<String, BTreeMap<String, i64>>;

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Writes those sums of a partition that are not what the records add up to; how many rows that were.
    pub(super) async fn recount(&self, place: &PartitionKey) -> Result<usize> {
        let mut corrected = 0;
        for row in self.added_up(place).await?.keys() {
            corrected += usize::from(self.recount_row(place, row).await?);
        }
        Ok(corrected)
    }

    async fn recount_row(&self, place: &PartitionKey, row: &str) -> Result<bool> {
        let key = EntityKey { partition_key: place.clone(), row_key: RowKey::new(row)? };
        let mut race = self.retry.race("the sum");
        loop {
            let found = self.get(&key).await?;
            // IMPORTANT: after the row. Who changes a record of it writes the row, which is never deleted: if it still has its version when
            // it is written, no record of it has changed meanwhile, in however many pages they came.
            let sums = self.added_up(place).await?.remove(row).unwrap_or_default();
            let mut is_right = true;
            for (name, sum) in &sums {
                let stored = found.as_ref().map(|found| stored_sum(found, name)).transpose()?.unwrap_or(0);
                is_right &= stored == *sum;
            }
            if is_right {
                return Ok(false);
            }
            let sums: Vec<_> = sums.iter().map(|(name, sum)| (name.as_str(), *sum)).collect();
            let write = sums_write::<V::Row>(&sums, found.map(|found| found.etag));
            if self.submit(place, vec![(key.row_key.clone(), write)]).await? {
                return Ok(true);
            }
            race.lost(None).await.map_err(|error| self.at(error, &key))?;
        }
    }

    /// What the records of a partition add up to.
    async fn added_up(&self, place: &PartitionKey) -> Result<Sums> {
        let query = Query::new(KeyRange::rows(place.as_str(), TextRange::prefix(BY)));
        let (mut sums, mut from) = (Sums::new(), None);
        loop {
            let page = self.rows.store().query(self.rows.name()?, &query, from.as_ref()).await?;
            for entity in page.rows.iter() {
                let share = Share::read(entity.row)
                    .map_err(|error| error.with_key(entity.partition_key, entity.row_key))?;
                for (row, amounts) in share.sums {
                    let of_row = sums.entry(row).or_default();
                    for (name, amount) in amounts {
                        let sum = of_row.entry(name).or_default();
                        *sum = sum.checked_add(amount).ok_or_else(|| {
                            let message =
                                "what the records of the view add up to does not fit an Int64: add less";
                            Error::new(ErrorCode::OutOfRangeInput, message)
                                .with_key(entity.partition_key, entity.row_key)
                        })?;
                    }
                }
            }
            from = page.continuation;
            if from.is_none() {
                return Ok(sums);
            }
        }
    }
}
