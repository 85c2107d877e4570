//! Writes the rows, sums and records of several entities in one partition of a view, in one transaction.

use std::collections::{BTreeMap, BTreeSet};

use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::operation::OperationKind;
use table_core::row::Row;
use table_core::store::{StoredRow, TableStore};
use table_core::{Error, Result};

use crate::converge::upsert;
use crate::requests;
use crate::view::View;
use crate::view::fault::ViewFault;
use crate::view::operations::{SumRow, sums_write};
use crate::view::projection::Contribution;
use crate::view::record::{self, Amounts, Cut, Share};
use crate::view::table::ViewTable;

/// The maximum number of concurrent reads for one transaction.
const CONCURRENCY: usize = 8;

/// One entity's stored and desired contributions to one partition of the view.
pub(crate) struct Change {
    source: EntityKey,
    etag: Option<ETag>,
    before: Share,
    after: Share,
    rows: BTreeMap<RowKey, Row>,
}

/// The differences to add to sums, by row and property. They are wider than an `Int64`, because the difference between two `Int64` sums may overflow.
type Differences<'a> = BTreeMap<&'a str, BTreeMap<&'a str, i128>>;

/// The stored rows of sums, by `RowKey`; `None` for a row that does not exist.
type Sums<'a> = BTreeMap<&'a str, Option<StoredRow>>;

impl Change {
    /// Returns the keys of the rows whose sums the change affects.
    pub(super) fn sums(&self) -> impl Iterator<Item = &String> {
        let (before, after) = (&self.before.sums, &self.after.sums);
        let new = after.keys().filter(|row| !before.contains_key(*row));
        before.iter().filter(|(row, sums)| after.get(*row) != Some(sums)).map(|(row, _)| row).chain(new)
    }

    /// Returns the keys of the stored rows that the entity no longer contributes.
    fn gone(&self) -> impl Iterator<Item = &String> {
        self.before.rows.difference(&self.after.rows)
    }

    /// Returns the number of operations for this entity, excluding the operations on sums.
    pub(super) fn operations(&self) -> usize {
        1 + self.rows.len() + self.gone().count()
    }

    /// Adds the change's effect on each sum to `differences`.
    fn add_differences<'a>(&'a self, differences: &mut Differences<'a>) {
        for row in self.sums() {
            let of_row = differences.entry(row.as_str()).or_default();
            for (amounts, sign) in [(self.after.sums.get(row), 1), (self.before.sums.get(row), -1)] {
                for (name, amount) in amounts.into_iter().flatten() {
                    *of_row.entry(name.as_str()).or_default() += sign * i128::from(*amount);
                }
            }
        }
    }

    /// Returns the record to write. During a recount, the record also contains the contributions at the start of the recount.
    fn record(&self, sums: &Sums<'_>) -> Result<Share> {
        let mark = |row: &str| match sums.get(row) {
            Some(Some(sum)) => record::recount_of(sum.row.view()),
            _ => Ok(None),
        };
        let mut cuts = BTreeMap::new();
        for (row, cut) in &self.before.cuts {
            // Contributions saved for a recount are dropped once the row no longer has that recount's mark. No later recount needs them, because each recount
            // has a unique identifier.
            if mark(row)?.as_ref() == Some(&cut.id) {
                cuts.insert(row.clone(), cut.clone());
            }
        }
        for row in self.sums() {
            let Some(id) = mark(row)? else { continue };
            let amounts = || self.before.sums.get(row).cloned().unwrap_or_default();
            cuts.entry(row.clone()).or_insert_with(|| Cut { id, amounts: amounts() });
        }
        Ok(Share { cuts, ..self.after.clone() })
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
        // IMPORTANT: zeros are omitted, so the record's size depends only on the entity's current state, not on its history.
        let sums = |amounts: BTreeMap<&'static str, i64>| -> Amounts {
            let amounts = amounts.into_iter().filter(|(_, amount)| *amount != 0);
            amounts.map(|(name, amount)| (name.to_owned(), amount)).collect()
        };
        let summed = wanted.sums.into_iter().map(|(row, amounts)| (row.into_string(), sums(amounts)));
        let after = Share {
            rows: wanted.rows.keys().map(|row| row.as_str().to_owned()).collect(),
            sums: summed.filter(|(_, amounts)| !amounts.is_empty()).collect(),
            cuts: BTreeMap::new(),
        };
        let etag = stored.map(|stored| stored.etag);
        Ok(Change { source: source.clone(), etag, before, after, rows: wanted.rows })
    }

    /// Writes the rows, sums and records of several entities in one transaction. Returns `false` if another writer committed first.
    pub(super) async fn write_changes(&self, place: &PartitionKey, changes: &[&Change]) -> Result<bool> {
        let mut differences = Differences::new();
        for change in changes {
            change.add_differences(&mut differences);
        }
        let cut = changes.iter().flat_map(|change| change.before.cuts.keys()).map(String::as_str);
        let rows: BTreeSet<_> = differences.keys().copied().chain(cut).collect();
        let rows = rows.into_iter().map(|row| async move {
            let found = self.stored(&record::row_key(place, row)?).await?;
            Ok::<_, Error>((row, found))
        });
        let sums: Vec<_> = requests::in_order(rows, CONCURRENCY).await?;
        let sums: Sums<'_> = sums.into_iter().collect();
        let mut operations = Vec::new();
        for change in changes {
            // The record is written even if its content stays the same. This changes its version, so a process that has read an older state of the entity fails
            // to write the record.
            let own = upsert(change.record(&sums)?.write(&change.source)?, change.etag.clone());
            operations.push((record::share_key(place, &change.source)?.row_key, own));
            let put = |(row_key, row): (&RowKey, &Row)| {
                (row_key.clone(), OperationKind::InsertOrReplace(row.clone()))
            };
            operations.extend(change.rows.iter().map(put));
        }
        // A changed projection may turn a put row into a row of sums, or the reverse. Each row is written only once: as a put row if one of the entities puts
        // it, and otherwise with its sums.
        let put: BTreeSet<_> =
            changes.iter().flat_map(|change| change.rows.keys()).map(RowKey::as_str).collect();
        differences.retain(|row, _| !put.contains(row));
        let gone: BTreeSet<_> = changes.iter().flat_map(|change| change.gone()).map(String::as_str).collect();
        let deleted = gone.iter().copied().filter(|row| !put.contains(row) && !differences.contains_key(row));
        let deleted = deleted.map(|row| async move {
            let key = record::row_key(place, row)?;
            let found = self.stored(&key).await?;
            Ok::<_, Error>(found.map(|found| (key.row_key, OperationKind::Delete(IfMatch::ETag(found.etag)))))
        });
        let deleted: Vec<_> = requests::in_order(deleted, CONCURRENCY).await?;
        operations.extend(deleted.into_iter().flatten());
        for (row, more) in differences {
            let stored = match sums.get(row).and_then(Option::as_ref) {
                Some(found) if gone.contains(row) => SumRow::Other(found.etag.clone()),
                Some(found) => SumRow::Sums(found),
                None => SumRow::Absent,
            };
            operations.push(self.sum((place, row), &stored, more)?);
        }
        self.submit(place, operations).await
    }

    /// Returns the operation that adds to the sums in one row.
    fn sum(
        &self,
        (place, row): (&PartitionKey, &str),
        stored: &SumRow<'_>,
        more: BTreeMap<&str, i128>,
    ) -> Result<(RowKey, OperationKind)> {
        let mut sums = Vec::with_capacity(more.len());
        for (name, more) in more {
            let sum = i64::try_from(i128::from(stored.sum(name)?) + more);
            sums.push((name, sum.map_err(|_| self.overflow(name, (place, row)))?));
        }
        Ok((RowKey::new(row)?, sums_write::<V::Row>(&sums, stored)))
    }

    fn overflow(&self, name: &str, (place, row): (&PartitionKey, &str)) -> Error {
        let error = Error::of(ViewFault::Sum).with_property(name).with_key(place.as_str(), row);
        self.rows.name().map_or(error.clone(), |table| error.with_table(table.as_str()))
    }
}
