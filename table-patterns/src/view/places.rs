//! For each source entity, the list of the view's partitions that contain it. `docs/models/places.rs` checks the protocol.

use std::collections::BTreeMap;

use table_core::Result;
use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};
use table_core::query::{EntityRef, Select};
use table_core::store::TableStore;

use crate::converge::{self, Wanted, upsert};
use crate::failure::Failure;
use crate::read_many;
use crate::requests::{self, CONCURRENCY};
use crate::view::View;
use crate::view::applied::{Applied, Known, Recorded, Write};
use crate::view::record::{self, Places};
use crate::view::table::ViewTable;

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Reads, for each given source entity, the list of the view's partitions that contain it.
    pub(super) async fn known(
        &self,
        items: &[Applied],
        wanted: &mut Wanted<Applied, Write>,
    ) -> Result<Vec<Known>> {
        let (mut keys, mut keyed) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        for (item, applied) in items.iter().enumerate() {
            match record::places_key(&applied.source) {
                Ok(key) => {
                    keys.push(key);
                    keyed.push((item, applied));
                }
                Err(error) => wanted.failed.push((item, error)),
            }
        }
        let places = |row: EntityRef<'_>| match Places::read(row.row) {
            Ok(places) => Ok(Ok((places, row.etag()))),
            Err(error) => Ok(Err(self.at(error, &EntityKey::new(row.partition_key, row.row_key)?))),
        };
        let of = (self.rows.store(), self.rows.name()?);
        let found = read_many::rows_or(of, &keys, &Select::All, places, |error| Ok(Err(error))).await?;
        let mut known = Vec::with_capacity(items.len());
        for ((item, Applied { source, places: named }), found) in keyed.into_iter().zip(found) {
            let (places, etag) = match found.transpose() {
                Ok(found) => found.unzip(),
                Err(error) => {
                    wanted.failed.push((item, error));
                    continue;
                }
            };
            let (source, named) = (source.clone(), named.clone());
            let places = places.unwrap_or_default();
            known.push(Known { item, source, places, etag, is_current: true, named });
        }
        Ok(known)
    }

    /// Adds partitions to the lists of entities, and writes these lists. Returns the entities whose lists were written. For each of the other entities, another
    /// writer committed first, or the write failed.
    pub(super) async fn place(
        &self,
        gaining: Vec<Recorded>,
        together: usize,
        wanted: &mut Wanted<Applied, Write>,
    ) -> Vec<Recorded> {
        let mut by_partition: BTreeMap<PartitionKey, Vec<Recorded>> = BTreeMap::new();
        for mut recorded in gaining {
            let Recorded { known, .. } = &mut recorded;
            known.places.0.extend(known.named.iter().cloned());
            by_partition.entry(known.source.partition_key.clone()).or_default().push(recorded);
        }
        let most = self.rows.store().capabilities().limits.operations.min(together).max(1);
        let mut chunks = Vec::new();
        for (partition_key, mut recorded) in by_partition {
            while !recorded.is_empty() {
                let rest = recorded.split_off(recorded.len().min(most));
                chunks.push((partition_key.clone(), std::mem::replace(&mut recorded, rest)));
            }
        }
        let writes = chunks.into_iter().map(|(partition_key, chunk)| async move {
            let is_written = self.write_lists(&partition_key, chunk).await;
            let (Err(error), chunk) = &is_written else { return vec![is_written] };
            if Failure::of(error) != Failure::Lasting || chunk.len() == 1 {
                return vec![is_written];
            }
            // One of the lists is too long, because its entity would be in too many partitions. The lists are retried in separate transactions, because the
            // others can still be written.
            let mut written = Vec::with_capacity(chunk.len());
            for one in is_written.1 {
                written.push(self.write_lists(&partition_key, vec![one]).await);
            }
            written
        });
        let written: Vec<_> = requests::all(writes, CONCURRENCY).await;
        let mut placed = Vec::new();
        for (is_written, chunk) in written.into_iter().flatten() {
            let items = chunk.iter().map(|recorded| recorded.known.item);
            match is_written {
                Ok(true) => placed.extend(chunk),
                Ok(false) => wanted.lost.extend(items),
                Err(error) => wanted.failed.extend(items.map(|item| (item, error.clone()))),
            }
        }
        placed
    }

    /// Writes the lists of several entities in one transaction. Records the new versions of the lists in `chunk`.
    async fn write_lists(
        &self,
        partition_key: &PartitionKey,
        mut chunk: Vec<Recorded>,
    ) -> (Result<bool>, Vec<Recorded>) {
        let known: Vec<_> = chunk.iter().map(|recorded| &recorded.known).collect();
        let etags = match self.write_places(partition_key, &known).await {
            Ok(Some(etags)) => etags,
            Ok(None) => return (Ok(false), chunk),
            Err(error) => return (Err(error), chunk),
        };
        for (recorded, etag) in chunk.iter_mut().zip(etags) {
            recorded.known.is_current = etag.is_some();
            recorded.known.etag = etag;
        }
        (Ok(true), chunk)
    }

    /// Writes lists, conditional on the versions that were read. Returns the new versions, or `None` if another writer committed first.
    pub(super) async fn write_places(
        &self,
        partition_key: &PartitionKey,
        known: &[&Known],
    ) -> Result<Option<Vec<Option<ETag>>>> {
        let mut operations = Vec::with_capacity(known.len());
        for one in known {
            let row_key = record::places_key(&one.source)?.row_key;
            operations.push((row_key, upsert(one.places.write()?, one.etag.clone())));
        }
        let (store, table) = (self.rows.store(), self.rows.name()?);
        let mut etags = match converge::submit(store, table, partition_key, operations).await {
            Ok(etags) => etags,
            Err(error) if error.is_conflict() => return Ok(None),
            Err(error) => return Err(error),
        };
        for (one, etag) in known.iter().zip(&mut etags) {
            if etag.is_none() {
                // The store has not returned the list's new version, so the list is reread. If the stored content differs, another process has since written
                // the list.
                let stored = store.get(table, &record::places_key(&one.source)?, &Select::All).await?;
                let is_same =
                    |row: &table_core::row::Row| Places::read(row.view()).is_ok_and(|of| of == one.places);
                *etag = stored.filter(|stored| is_same(&stored.row)).map(|stored| stored.etag);
            }
        }
        Ok(Some(etags))
    }
}
