//! Recount of the sums of one partition of a view from its records.

use std::collections::{BTreeMap, BTreeSet};

use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::query::{EntityRef, KeyRange, Query, TextRange};
use table_core::row::RowView;
use table_core::store::TableStore;
use table_core::value::EdmType;

use crate::view::View;
use crate::view::fault::ViewFault;
use crate::view::operations::{sum_in, sums_write};
use crate::view::record::{BY, Share};
use crate::view::table::ViewTable;

/// Numbers of one row, by property.
type Amounts = BTreeMap<String, i64>;

/// What the records of a partition say.
#[derive(Debug, Default)]
struct Records {
    /// Sums by row.
    sums: BTreeMap<String, Amounts>,
    /// Rows that one entity has put: they are not sums.
    put: BTreeSet<String>,
}

impl Records {
    /// What is to be written over the numbers of a row; nothing where they are right.
    fn corrections(&self, row: &str, stored: &Amounts) -> Vec<(String, i64)> {
        if self.put.contains(row) {
            return Vec::new();
        }
        let nothing = Amounts::new();
        let wanted = self.sums.get(row).unwrap_or(&nothing);
        let names: BTreeSet<_> = stored.keys().chain(wanted.keys()).collect();
        let number = |amounts: &Amounts, name: &String| amounts.get(name).copied().unwrap_or(0);
        let wrong = names.into_iter().filter(|name| number(stored, name) != number(wanted, name));
        wrong.map(|name| (name.clone(), number(wanted, name))).collect()
    }
}

/// A row of the view as it is stored.
struct Stored {
    etag: ETag,
    amounts: Amounts,
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Writes those sums of a partition that are not what the records add up to; how many rows that were. A row that no record
    /// explains ends with 0 in its numbers.
    pub(super) async fn recount(&self, place: &PartitionKey) -> Result<usize> {
        // IMPORTANT: the rows before the records. A change of a record of a row writes the row, which is never deleted: if it still has
        // its version when it is written, no record of it has changed meanwhile, in however many pages they came.
        let stored = self.own_rows_of(place).await?;
        let records = self.records(place).await?;
        let mut corrected = 0;
        for row in stored.keys().chain(records.sums.keys().filter(|row| !stored.contains_key(*row))) {
            let found = stored.get(row);
            if !records.corrections(row, found.map_or(&Amounts::new(), |found| &found.amounts)).is_empty() {
                corrected += usize::from(self.recount_row(place, row, &records, found).await?);
            }
        }
        Ok(corrected)
    }

    /// Writes one row by what was read of it; if that is no longer so, by what is there now.
    async fn recount_row(
        &self,
        place: &PartitionKey,
        row: &str,
        records: &Records,
        stored: Option<&Stored>,
    ) -> Result<bool> {
        if let Some(written) = self.correct(place, row, records, stored).await? {
            return Ok(written);
        }
        let key = EntityKey { partition_key: place.clone(), row_key: RowKey::new(row)? };
        let mut race = self.retry.race("the sum");
        loop {
            race.lost(None).await.map_err(|error| self.at(error, &key))?;
            let found = self.get(&key).await?;
            let amounts = found.as_ref().map(|found| amounts::<V::Row>(found.row.view())).transpose()?;
            let found = found.zip(amounts).map(|(found, amounts)| Stored { etag: found.etag, amounts });
            let records = self.records(place).await?;
            if let Some(written) = self.correct(place, row, &records, found.as_ref()).await? {
                return Ok(written);
            }
        }
    }

    /// Whether something was written; `None` if another writer got between.
    async fn correct(
        &self,
        place: &PartitionKey,
        row: &str,
        records: &Records,
        stored: Option<&Stored>,
    ) -> Result<Option<bool>> {
        let nothing = Amounts::new();
        let corrections = records.corrections(row, stored.map_or(&nothing, |stored| &stored.amounts));
        if corrections.is_empty() {
            return Ok(Some(false));
        }
        let sums: Vec<_> = corrections.iter().map(|(name, sum)| (name.as_str(), *sum)).collect();
        let write = sums_write::<V::Row>(&sums, stored.map(|stored| stored.etag.clone()));
        Ok(self.submit(place, vec![(RowKey::new(row)?, write)]).await?.then_some(true))
    }

    /// The rows of the view in one partition, with their numbers.
    async fn own_rows_of(&self, place: &PartitionKey) -> Result<BTreeMap<String, Stored>> {
        let query = Query::new(KeyRange::rows(place.as_str(), TextRange::ALL));
        let mut rows = BTreeMap::new();
        self.each(&query, |entity| {
            if !RowKey::new(entity.row_key)?.is_reserved() {
                let stored = Stored { etag: entity.etag(), amounts: amounts::<V::Row>(entity.row)? };
                rows.insert(entity.row_key.to_owned(), stored);
            }
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    /// What the records of a partition add up to.
    async fn records(&self, place: &PartitionKey) -> Result<Records> {
        let query = Query::new(KeyRange::rows(place.as_str(), TextRange::prefix(BY)));
        let mut records = Records::default();
        self.each(&query, |entity| {
            let share = Share::read(entity.row)?;
            records.put.extend(share.rows);
            for (row, amounts) in share.sums {
                let of_row = records.sums.entry(row).or_default();
                for (name, amount) in amounts {
                    let sum = of_row.entry(name).or_default();
                    *sum = sum.checked_add(amount).ok_or_else(|| Error::of(ViewFault::RecordedSum))?;
                }
            }
            Ok(())
        })
        .await?;
        Ok(records)
    }

    /// Reads a range of the view's table, page by page.
    async fn each(
        &self,
        query: &Query,
        mut take: impl FnMut(EntityRef<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        let mut from = None;
        loop {
            let page = self.rows.store().query(self.rows.name()?, query, from.as_ref()).await?;
            for entity in page.rows.iter() {
                take(entity).map_err(|error| error.with_key(entity.partition_key, entity.row_key))?;
            }
            from = page.continuation;
            if from.is_none() {
                return Ok(());
            }
        }
    }
}

/// The numbers of a row that are not 0, of the columns that can hold a sum.
fn amounts<R: Entity>(row: RowView<'_>) -> Result<Amounts> {
    let mut amounts = Amounts::new();
    for property in R::SCHEMA.properties {
        if property.edm == EdmType::Int64 && !property.optional {
            let amount = sum_in(row, property.name)?;
            if amount != 0 {
                amounts.insert(property.name.to_owned(), amount);
            }
        }
    }
    Ok(amounts)
}
