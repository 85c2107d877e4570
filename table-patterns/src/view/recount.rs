//! Recount of the sums of one partition of a view from its records.

use std::collections::{BTreeMap, BTreeSet};

use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::etag::ETag;
use table_core::key::{PartitionKey, RowKey};
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, KeyRange, Query, TextRange};
use table_core::row::RowView;
use table_core::store::TableStore;
use table_core::value::EdmType;

use crate::converge::{self, Derive, Part, Place, Wanted, WantedOf};
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
    /// Rows that one entity has put, which are not sums.
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
pub(crate) struct Stored {
    etag: ETag,
    amounts: Amounts,
}

/// The sums of partitions as what is derived from their records: see [`converge`]. A change of a record writes its sums, which are never
/// deleted: a row that still has its version when it is written has had no change of a record meanwhile, in however many pages these came.
struct Sums<'a, V: View, S>(&'a ViewTable<V, S>);

impl<V: View, S: TableStore> Derive for Sums<'_, V, S> {
    type Item = PartitionKey;
    type Stored = Vec<(PartitionKey, BTreeMap<String, Stored>)>;
    type What = (RowKey, OperationKind);

    const RACE: &'static str = "the sums";

    async fn stored(&self, places: &[PartitionKey], _: usize) -> Result<Self::Stored> {
        let mut found = Vec::with_capacity(places.len());
        for place in places {
            found.push((place.clone(), self.0.own_rows_of(place).await?));
        }
        Ok(found)
    }

    async fn wanted(&self, stored: Self::Stored) -> Result<WantedOf<Self>> {
        let mut wanted = Wanted::default();
        for (item, (partition_key, stored)) in stored.into_iter().enumerate() {
            let records = self.0.records(&partition_key).await?;
            let place = Place { table: self.0.rows.name()?.clone(), partition_key };
            for row in stored.keys().chain(records.sums.keys().filter(|row| !stored.contains_key(*row))) {
                let (found, nothing) = (stored.get(row), Amounts::new());
                let sums = records.corrections(row, found.map_or(&nothing, |found| &found.amounts));
                if !sums.is_empty() {
                    let sums: Vec<_> = sums.iter().map(|(name, sum)| (name.as_str(), *sum)).collect();
                    let what = sums_write::<V::Row>(&sums, found.map(|found| found.etag.clone()));
                    let (what, place) = ((RowKey::new(row)?, what), place.clone());
                    wanted.parts.push(Part { item, place, own: 1, shared: Vec::new(), what });
                }
            }
        }
        Ok(wanted)
    }

    async fn write(&self, place: &Place, parts: &[Part<Self::What>]) -> Result<Option<usize>> {
        let operations = parts.iter().map(|part| part.what.clone()).collect();
        Ok(self.0.submit(&place.partition_key, operations).await?.then_some(parts.len()))
    }

    fn named(&self, error: Error, place: &PartitionKey) -> Error {
        self.0
            .rows
            .name()
            .map_or(error.clone(), |table| error.with_table(table.as_str()).with_key(place.as_str(), ""))
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Writes those sums of a partition that are not what the records add up to; how many rows that were. A row that no record
    /// explains ends with 0 in its numbers.
    pub(super) async fn recount(&self, place: &PartitionKey) -> Result<usize> {
        let limits = self.rows.store().capabilities().limits;
        converge::settle(&Sums(self), [place.clone()], (&self.retry, limits)).await?.all()
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
