//! Application of one entity's state to a view: idempotent, in any order.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::entity::{Entity, FromEntity};
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::operation::{Operation, OperationKind};
use table_core::query::{EntityRef, Select};
use table_core::row::{Row, RowView, RowWriter};
use table_core::store::{StoredRow, TableStore};
use table_core::transaction::Transaction;
use table_core::value::{EdmType, ValueRef};

use crate::view::View;
use crate::view::projection::{Contribution, Projection};
use crate::view::record::{self, Places, Share};
use crate::view::table::ViewTable;

/// Point queries under way at once (IMP-5).
const CONCURRENCY: usize = 16;

/// What an attempt came to.
enum Attempt {
    Done,
    /// The places are known now: begin anew.
    Again,
    /// Somebody got between.
    Lost,
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Makes the view right for one entity as it is now, or is not. Called again it does no harm.
    ///
    /// [`catch_up`](Self::catch_up) calls it for each entity that changed; a program does where another tool wrote one.
    ///
    /// # Errors
    /// Those of [`View::project`]; `OutOfRangeInput` if a sum does not fit; `InvalidInput` (EGT-2) if the entity has more in one partition of the view than
    /// a transaction takes; `UpdateConditionNotSatisfied` if others changed the same rows during all attempts. The partitions before are written then.
    pub async fn apply(&self, source: &EntityKey) -> Result<()> {
        let mut race = self.retry.race("the same rows of the view");
        loop {
            match self.attempt(source).await? {
                Attempt::Done => return Ok(()),
                Attempt::Again => {}
                Attempt::Lost => race.lost(None).await.map_err(|error| self.at(error, source))?,
            }
        }
    }

    async fn attempt(&self, source: &EntityKey) -> Result<Attempt> {
        let store = self.rows.store();
        let places_key = record::places_key(source)?;
        let found = self.get(&places_key).await?;
        let known = found.as_ref().map(|found| Places::read(found.row.view())).transpose();
        let known = known.map_err(|error| self.at(error, &places_key))?.unwrap_or_default();
        let places = known.0.iter().map(PartitionKey::new).collect::<Result<Vec<_>>>()?;
        let reads = places.into_iter().map(|place| async move {
            let share = self.get(&record::share_key(&place, source)?).await?;
            Ok::<_, Error>((place, share))
        });
        let shares: Vec<_> = stream::iter(reads).buffered(CONCURRENCY).try_collect().await?;
        // IMPORTANT: after the shares. What is written over them is then never older than what they were made of.
        let stored = store.get(self.source.name()?, source, &Select::All).await?;
        let mut projection = Projection::new();
        if let Some(stored) = &stored {
            let entity =
                EntityRef::new(source.partition_key.as_str(), source.row_key.as_str(), stored.row.view());
            let entity =
                V::Source::from_entity(entity).map_err(|error| error.with_table(V::Source::SCHEMA.table))?;
            V::project(&entity, &mut projection)?;
        }
        let mut wanted = projection.places;
        if wanted.keys().any(|place| !known.0.contains(place.as_str())) {
            // IMPORTANT: before anything is there, so that whoever takes the entity out finds it.
            let mut places = known;
            places.0.extend(wanted.keys().map(|place| place.as_str().to_owned()));
            let kind = upsert(places.write()?, found.map(|found| found.etag));
            let is_written = self.submit(&places_key.partition_key, vec![(places_key.row_key, kind)]).await?;
            return Ok(if is_written { Attempt::Again } else { Attempt::Lost });
        }
        for (place, share) in shares {
            let contribution = wanted.remove(&place).unwrap_or_default();
            if !self.write_share(source, &place, share, contribution).await? {
                return Ok(Attempt::Lost);
            }
        }
        Ok(Attempt::Done)
    }

    /// Writes what an entity has in one partition; `false` if somebody got between.
    async fn write_share(
        &self,
        source: &EntityKey,
        place: &PartitionKey,
        stored: Option<StoredRow>,
        wanted: Contribution,
    ) -> Result<bool> {
        let share_key = record::share_key(place, source)?;
        let before = stored.as_ref().map(|stored| Share::read(stored.row.view())).transpose();
        let before = before.map_err(|error| self.at(error, &share_key))?.unwrap_or_default();
        // IMPORTANT: no zeros. A record grows with what the entity has, not with all that it ever had.
        let sums = |amounts: BTreeMap<&'static str, i64>| -> BTreeMap<String, i64> {
            let amounts = amounts.into_iter().filter(|(_, amount)| *amount != 0);
            amounts.map(|(name, amount)| (name.to_owned(), amount)).collect()
        };
        let after = Share {
            rows: wanted.rows.keys().map(|row| row.as_str().to_owned()).collect(),
            sums: wanted
                .sums
                .into_iter()
                .map(|(row, amounts)| (row.as_str().to_owned(), sums(amounts)))
                .filter(|(_, amounts)| !amounts.is_empty())
                .collect(),
        };
        let gone: BTreeSet<_> = before.rows.difference(&after.rows).collect();
        // Also where nothing changes: whoever has an older entity in mind then fails.
        let own = upsert(after.write(source)?, stored.map(|stored| stored.etag));
        let mut operations = vec![(share_key.row_key, own)];
        let put = |(row_key, row)| (row_key, OperationKind::InsertOrReplace(row));
        operations.extend(wanted.rows.into_iter().map(put));
        for row_key in gone {
            let key = EntityKey { partition_key: place.clone(), row_key: RowKey::new(row_key.as_str())? };
            if let Some(found) = self.get(&key).await? {
                operations.push((key.row_key, OperationKind::Delete(IfMatch::ETag(found.etag))));
            }
        }
        operations.extend(self.sums(place, &before, &after).await?);
        self.submit(place, operations).await
    }

    /// The writes of the sums that change.
    async fn sums(
        &self,
        place: &PartitionKey,
        before: &Share,
        after: &Share,
    ) -> Result<Vec<(RowKey, OperationKind)>> {
        let mut writes = Vec::new();
        let nothing = BTreeMap::new();
        let rows: BTreeSet<_> = before.sums.keys().chain(after.sums.keys()).collect();
        for row in rows {
            let was = before.sums.get(row).unwrap_or(&nothing);
            let is = after.sums.get(row).unwrap_or(&nothing);
            if was == is {
                continue;
            }
            let key = EntityKey { partition_key: place.clone(), row_key: RowKey::new(row.as_str())? };
            let found = self.get(&key).await?;
            let names: BTreeSet<_> = was.keys().chain(is.keys()).map(String::as_str).collect();
            let mut sums = Vec::with_capacity(names.len());
            for name in names {
                let stored = found.as_ref().map(|found| stored_sum(found, name)).transpose()?.unwrap_or(0);
                let [was, is] = [was, is].map(|amounts| amounts.get(name).copied().unwrap_or(0));
                let sum = is.checked_sub(was).and_then(|more| stored.checked_add(more));
                let sum = sum.ok_or_else(|| {
                    let message = "the sum does not fit an Int64: nothing was added; add less";
                    self.at(Error::new(ErrorCode::OutOfRangeInput, message).with_property(name), &key)
                })?;
                sums.push((name, sum));
            }
            writes.push((key.row_key, sums_write::<V::Row>(&sums, found.map(|found| found.etag))));
        }
        Ok(writes)
    }

    pub(super) async fn get(&self, key: &EntityKey) -> Result<Option<StoredRow>> {
        self.rows.store().get(self.rows.name()?, key, &Select::All).await
    }

    /// Writes in one transaction; `false` if somebody got between.
    pub(super) async fn submit(
        &self,
        partition_key: &PartitionKey,
        operations: Vec<(RowKey, OperationKind)>,
    ) -> Result<bool> {
        let (store, table) = (self.rows.store(), self.rows.name()?);
        let in_table = |error: Error| error.with_table(table.as_str());
        let limits = store.capabilities().limits;
        let mut transaction = Transaction::new(partition_key.clone(), limits).map_err(in_table)?;
        for (row_key, kind) in operations {
            transaction.push(Operation { row_key, kind }).map_err(in_table)?;
        }
        match store.submit(table, transaction).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_conflict() => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) fn at(&self, error: Error, key: &EntityKey) -> Error {
        let error = error.with_key(key.partition_key.as_str(), key.row_key.as_str());
        match self.rows.name() {
            Ok(name) => error.with_table(name.as_str()),
            Err(_) => error,
        }
    }
}

/// A write of what was read at this version, or was not there.
pub(super) fn upsert(row: Row, etag: Option<ETag>) -> OperationKind {
    match etag {
        Some(etag) => OperationKind::Replace(row, IfMatch::ETag(etag)),
        None => OperationKind::Insert(row),
    }
}

/// A number of a stored row; 0 if it is not there.
fn stored_sum(stored: &StoredRow, name: &str) -> Result<i64> {
    sum_in(stored.row.view(), name)
}

/// A number of a row; 0 if it is not there.
pub(super) fn sum_in(row: RowView<'_>, name: &str) -> Result<i64> {
    Ok(match row.find(name, &mut 0)? {
        Some(ValueRef::Int64(sum)) => sum,
        _ => 0,
    })
}

/// The write of a row's sums, of the version it was read at. A new row has a number in all its columns.
pub(super) fn sums_write<R: Entity>(sums: &[(&str, i64)], etag: Option<ETag>) -> OperationKind {
    let mut writer = RowWriter::with_capacity(sums.len());
    for (name, sum) in sums {
        writer.property(name, ValueRef::Int64(*sum));
    }
    if etag.is_none() {
        let is_new = |name: &str| sums.iter().all(|(known, _)| *known != name);
        for property in R::SCHEMA.properties {
            if property.edm == EdmType::Int64 && !property.optional && is_new(property.name) {
                writer.property(property.name, ValueRef::Int64(0));
            }
        }
    }
    match etag {
        Some(etag) => OperationKind::Merge(writer.finish(), IfMatch::ETag(etag)),
        None => OperationKind::Insert(writer.finish()),
    }
}
