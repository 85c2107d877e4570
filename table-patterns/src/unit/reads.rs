//! Reads within a unit. The unit remembers the version of each row that it reads, and the commit requires that the row still has this version.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::entity::{Entity, ProjectionOf, Versioned};
use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, RowKey};
use table_core::operation::{Operation, OperationKind, RowState};
use table_core::query::{EntityRef, Select};
use table_core::row::Row;
use table_core::selection::{OwnSource, Point, PointKey, Selection};
use table_core::store::{StoredRow, TableStore};
use table_core::{Error, Result};

use crate::entities::{EntityFault, Group, GroupRead, StepRecorder};
use crate::unit::UnitOfWork;
use crate::unit::fault::UnitFault;
use crate::unit::queue::Queue;
use crate::unit::rivals::ReadRow;

/// The rows read by a unit.
#[derive(Default)]
pub(super) struct Reads {
    /// The group of earlier, still uncommitted transactions that will be committed together with this one.
    pub(super) group: Option<Arc<Group>>,
    /// The rows as first read. `None` if the row did not exist.
    rows: HashMap<RowKey, Option<StoredRow>>,
    /// `true` if a read returned an uncommitted row from the group.
    pub(super) used_group: bool,
    /// `true` if the transaction's closure must run again, regardless of its result. The closure has read a row that is unavailable until the group has been
    /// committed, or its earlier reads are stale.
    pub(super) must_restart: bool,
    /// The error for a write that contradicts an earlier read of the row, because it requires a different version.
    pub(super) outdated: Option<Error>,
}

impl Reads {
    /// Returns the version of each row that was read. The version is `None` if the row did not exist.
    pub(super) fn versions(&self) -> HashMap<RowKey, Option<ETag>> {
        let version = |found: &Option<StoredRow>| found.as_ref().map(|found| found.etag.clone());
        self.rows.iter().map(|(row_key, found)| (row_key.clone(), version(found))).collect()
    }

    /// Returns a row, provided that it was read in the given version.
    pub(super) fn row(&self, row_key: &RowKey, etag: &ETag) -> Option<Row> {
        let found = self.rows.get(row_key)?.as_ref().filter(|found| found.etag == *etag);
        found.map(|found| found.row.clone())
    }

    /// Returns the rows that existed when they were read.
    pub(super) fn stored(&self) -> impl Iterator<Item = &RowKey> {
        self.rows.iter().filter(|(_, found)| found.is_some()).map(|(row_key, _)| row_key)
    }

    /// Passes the rows that were read to a group. From these rows, the group computes the rows that later units see.
    pub(super) fn pass_to(&self, group: &Group) {
        for (row_key, found) in &self.rows {
            group.remember(row_key, found.as_ref());
        }
    }
}

impl<S: TableStore + Clone + 'static, O: StepRecorder> UnitOfWork<S, O> {
    /// Reads an entity in the partition. Returns its state before this unit's writes. The commit requires that the entity still has the version that was read.
    /// If the entity has changed, a [`transaction`](crate::Entities::transaction) runs again, and [`commit`](Self::commit) fails.
    ///
    /// In a transaction, the entity may come from an earlier transaction of the same handle that has not been committed yet. In this case, its `ETag` and
    /// Timestamp are provisional: the `ETag` is valid only for writes through this unit, and the Timestamp is the current time. To make a conditional write
    /// after the commit, read the entity again.
    ///
    /// An entity that is read but not written costs one operation, which checks that the entity has not changed or is still absent. The protocol of the Table
    /// service has no checks. On a store without [checks](table_core::store::Capabilities::checks), the operation is an empty merge, which changes the `ETag`.
    /// If an entity was absent and the unit does not insert it, the commit fails with `Unsupported` on such a store. To read without a condition, use the
    /// handle's `get`.
    ///
    /// # Errors
    /// - `CommandsInBatchActOnDifferentPartitions` if the entity is in another partition (EGT-5).
    /// - `InvalidInput` if the entity is in another table (EGT-1).
    /// - `EntityMismatch` if the row does not contain an `E`.
    /// - Any error from the store.
    pub fn get<E: Entity>(
        &mut self,
        key: impl PointKey<E, From: OwnSource<E>>,
    ) -> BoxFuture<'_, Result<Option<Versioned<E>>>> {
        // The future is boxed, and the function is not `async`, because rustc would otherwise report a wrong key three times.
        self.read_point::<E, E>(OwnSource::into_own(key.into_point())).boxed()
    }

    /// Reads an entity in the partition as a projection, like [`get`](Self::get).
    ///
    /// # Errors
    /// Any error from [`get`](Self::get).
    pub fn get_as<'a, P: ProjectionOf<E> + 'a, E: Entity>(
        &'a mut self,
        key: impl PointKey<E, From: OwnSource<E>>,
    ) -> BoxFuture<'a, Result<Option<Versioned<P>>>> {
        self.read_point::<P, E>(OwnSource::into_own(key.into_point())).boxed()
    }

    async fn read_point<P: ProjectionOf<E>, E: Entity>(
        &mut self,
        key: Selection<E, Point>,
    ) -> Result<Option<Versioned<P>>> {
        let key = key.into_key()?;
        self.check_place::<E>(&key)?;
        let Some(StoredRow { row, etag }) = self.read_row(&key.row_key).await? else { return Ok(None) };
        let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
        let read = P::from_entity(entity.with_etag(&etag)).map_err(|error| self.here(error, &key))?;
        Ok(Some(Versioned::new(read, etag, row.view().timestamp())))
    }

    /// Adds the key of the row with the given `RowKey` to an error.
    pub(crate) fn at_row(&self, error: Error, row_key: &RowKey) -> Error {
        error.with_key(self.draft.planned().partition_key().as_str(), row_key.as_str())
    }

    /// Reads a row in the partition. Later reads return the same row without a request.
    ///
    /// # Errors
    /// `UpdateConditionNotSatisfied` if the closure must run again, which the unit remembers; any error from the store.
    pub(crate) async fn read_row(&mut self, row_key: &RowKey) -> Result<Option<StoredRow>> {
        if let ControlFlow::Continue(found) = self.look_up(row_key).await? {
            return Ok(found);
        }
        self.reads.must_restart = true;
        Err(self.at_row(Error::of(EntityFault::Changed).with_table(self.table.as_str()), row_key))
    }

    /// Reads a row like [`read_row`](Self::read_row). Returns `Break` if the unit must reread its rows.
    pub(super) async fn look_up(&mut self, row_key: &RowKey) -> Result<ControlFlow<(), Option<StoredRow>>> {
        if let Some(found) = self.reads.rows.get(row_key) {
            return Ok(ControlFlow::Continue(found.clone()));
        }
        let known = self.reads.group.as_ref().map_or(GroupRead::Stored, |group| group.read(row_key));
        let found = match known {
            GroupRead::Found(known) => {
                self.reads.used_group = true;
                known
            }
            GroupRead::Unknown => return Ok(ControlFlow::Break(())),
            GroupRead::Stored => match self.read_stored(row_key).await? {
                ControlFlow::Continue(found) => found,
                restart @ ControlFlow::Break(()) => return Ok(restart),
            },
        };
        self.reads.rows.insert(row_key.clone(), found.clone());
        Ok(ControlFlow::Continue(found))
    }

    /// Reads a row from the store. In a transaction, first waits for other processes that have reserved the partition. Returns `Break` if the unit's earlier
    /// reads may be stale after this wait.
    async fn read_stored(&mut self, row_key: &RowKey) -> Result<ControlFlow<(), Option<StoredRow>>> {
        let partition_key = self.draft.planned().partition_key().clone();
        let key = EntityKey { partition_key, row_key: row_key.clone() };
        let Some(rivals) = &mut self.rivals else {
            return self.store.get(&self.table, &key, &Select::All).await.map(ControlFlow::Continue);
        };
        let (store, table, seen) = (&self.store, &self.table, Arc::clone(&rivals.seen));
        let queue = Queue { store, table, partition_key: &key.partition_key, seen: &seen };
        let ReadRow { found, has_waited } = rivals.read(&queue, &key).await?;
        let is_outdated = has_waited && (self.reads.used_group || !self.reads.rows.is_empty());
        Ok(if is_outdated { ControlFlow::Break(()) } else { ControlFlow::Continue(found) })
    }

    /// Requires that all rows still have the versions that were read. The conditions are added to the rows' writes, or become operations of their own. If a
    /// write contradicts a read of its row, stores the error in `outdated`.
    pub(super) fn require_reads(&mut self) -> Result<()> {
        for (row_key, version) in self.reads.versions() {
            match self.require_read(&row_key, version) {
                Err(error) if error.is_conflict() => {
                    let mut entities = self.draft.planned().entities().iter();
                    let at = entities.position(|operation| operation.row_key == row_key);
                    self.reads.outdated = Some(at.into_iter().fold(error, Error::with_operation));
                }
                required => required?,
            }
        }
        Ok(())
    }

    fn require_read(&mut self, row_key: &RowKey, version: Option<ETag>) -> Result<()> {
        let planned = self.draft.planned();
        // A derived row needs no condition. The commit rereads it and computes the operation from the result.
        if planned.derives(row_key) {
            return Ok(());
        }
        let here = |error: Error| self.at_row(error.with_table(self.table.as_str()), row_key);
        let state = match version {
            Some(_) if matches!(planned.kind_of(row_key), Some(OperationKind::Insert(_))) => {
                return Err(here(Error::of(UnitFault::Exists)));
            }
            Some(version) => RowState::Present(IfMatch::ETag(version)),
            None if planned.writes(row_key) || self.store.capabilities().checks => RowState::Absent,
            None => {
                let error = RowState::Absent.unsupported();
                return Err(here(error.with_context("a `get` of the unit that found nothing")));
            }
        };
        let condition = Operation { row_key: row_key.clone(), kind: OperationKind::Check(state) };
        self.add_rows("reads", [condition]).map(drop)
    }
}
