//! The records, rows and sums of entities in one partition of a view, written together.

use std::collections::BTreeMap;

use table_core::error::{Error, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::operation::OperationKind;
use table_core::row::Row;
use table_core::store::{StoredRow, TableStore};

use crate::converge::upsert;
use crate::requests;
use crate::view::View;
use crate::view::fault::ViewFault;
use crate::view::operations::{sum_in, sums_write};
use crate::view::projection::Contribution;
use crate::view::record::{self, Share};
use crate::view::table::ViewTable;

/// Requests of one transaction's look under way at once.
const CONCURRENCY: usize = 8;

/// What one entity has in one partition of the view, and is to have.
pub(crate) struct Change {
    source: EntityKey,
    etag: Option<ETag>,
    before: Share,
    after: Share,
    rows: BTreeMap<RowKey, Row>,
}

/// What is to be added to sums, by row and property.
type Differences<'a> = BTreeMap<&'a str, BTreeMap<&'a str, i64>>;

impl Change {
    /// Rows of sums that it changes.
    pub(super) fn sums(&self) -> impl Iterator<Item = &String> {
        let (before, after) = (&self.before.sums, &self.after.sums);
        let new = after.keys().filter(|row| !before.contains_key(*row));
        before.iter().filter(|(row, sums)| after.get(*row) != Some(sums)).map(|(row, _)| row).chain(new)
    }

    /// Rows that it had put, and puts no more.
    fn gone(&self) -> impl Iterator<Item = &String> {
        self.before.rows.difference(&self.after.rows)
    }

    /// Its operations, without those of sums.
    pub(super) fn operations(&self) -> usize {
        1 + self.rows.len() + self.gone().count()
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    pub(super) fn change(
        &self,
        source: &EntityKey,
        place: &PartitionKey,
        stored: Option<StoredRow>,
        wanted: Contribution,
    ) -> Result<Change> {
        let before = stored.as_ref().map(|stored| Share::read(stored.row.view())).transpose();
        let before = match before {
            Ok(before) => before.unwrap_or_default(),
            Err(error) => return Err(self.at(error, &record::share_key(place, source)?)),
        };
        // IMPORTANT: no zeros. A record grows with what the entity has, not with all that it ever had.
        let sums = |amounts: BTreeMap<&'static str, i64>| -> BTreeMap<String, i64> {
            let amounts = amounts.into_iter().filter(|(_, amount)| *amount != 0);
            amounts.map(|(name, amount)| (name.to_owned(), amount)).collect()
        };
        let summed = wanted.sums.into_iter().map(|(row, amounts)| (row.into_string(), sums(amounts)));
        let after = Share {
            rows: wanted.rows.keys().map(|row| row.as_str().to_owned()).collect(),
            sums: summed.filter(|(_, amounts)| !amounts.is_empty()).collect(),
        };
        let etag = stored.map(|stored| stored.etag);
        Ok(Change { source: source.clone(), etag, before, after, rows: wanted.rows })
    }

    /// Writes what some entities have; `false` if another writer got between.
    pub(super) async fn write_changes<'a>(
        &self,
        place: &PartitionKey,
        changes: impl Iterator<Item = &'a Change> + Send,
    ) -> Result<bool> {
        let mut operations = Vec::new();
        let (mut differences, mut gone) = (Differences::new(), Vec::new());
        for change in changes {
            // Also where nothing changes: a process with an older entity in mind then fails.
            let own = upsert(change.after.write(&change.source)?, change.etag.clone());
            operations.push((record::share_key(place, &change.source)?.row_key, own));
            let put = |(row_key, row): (&RowKey, &Row)| {
                (row_key.clone(), OperationKind::InsertOrReplace(row.clone()))
            };
            operations.extend(change.rows.iter().map(put));
            gone.extend(change.gone());
            for row in change.sums() {
                let of_row = differences.entry(row.as_str()).or_default();
                let (was, is) = (change.before.sums.get(row), change.after.sums.get(row));
                for name in [was, is].into_iter().flatten().flat_map(BTreeMap::keys) {
                    of_row.entry(name.as_str()).or_insert(0);
                }
                for (amounts, sign) in [(is, 1), (was, -1)] {
                    for (name, amount) in amounts.into_iter().flatten() {
                        let sum = of_row.entry(name.as_str()).or_insert(0);
                        let more = amount.checked_mul(sign).and_then(|amount| sum.checked_add(amount));
                        *sum = more.ok_or_else(|| self.overflow(name, (place, row)))?;
                    }
                }
            }
        }
        let gone = gone.into_iter().map(|row| async move {
            let key = key_of(place, row)?;
            let found = self.get(&key).await?;
            Ok::<_, Error>(found.map(|found| (key.row_key, OperationKind::Delete(IfMatch::ETag(found.etag)))))
        });
        let gone: Vec<_> = requests::in_order(gone, CONCURRENCY).await?;
        operations.extend(gone.into_iter().flatten());
        let sums = differences.into_iter().map(|(row, more)| self.sum(place, row, more));
        let sums: Vec<_> = requests::in_order(sums, CONCURRENCY).await?;
        operations.extend(sums);
        self.submit(place, operations).await
    }

    /// The write of one row of sums.
    async fn sum(
        &self,
        place: &PartitionKey,
        row: &str,
        more: BTreeMap<&str, i64>,
    ) -> Result<(RowKey, OperationKind)> {
        let key = key_of(place, row)?;
        let found = self.get(&key).await?;
        let mut sums = Vec::with_capacity(more.len());
        for (name, more) in more {
            let stored = found.as_ref().map(|found| sum_in(found.row.view(), name)).transpose()?.unwrap_or(0);
            let sum = stored.checked_add(more).ok_or_else(|| self.overflow(name, (place, row)))?;
            sums.push((name, sum));
        }
        let write = sums_write::<V::Row>(&sums, found.map(|found| found.etag));
        Ok((key.row_key, write))
    }

    fn overflow(&self, name: &str, (place, row): (&PartitionKey, &str)) -> Error {
        let error = Error::of(ViewFault::Sum).with_property(name).with_key(place.as_str(), row);
        self.rows.name().map_or(error.clone(), |table| error.with_table(table.as_str()))
    }
}

/// A row of the view by its text, as a record has it.
fn key_of(place: &PartitionKey, row: &str) -> Result<EntityKey> {
    Ok(EntityKey { partition_key: place.clone(), row_key: RowKey::new(row)? })
}
