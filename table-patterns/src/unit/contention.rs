//! A transaction's contention with other processes: its lost attempts and its reservation.

use std::sync::Arc;
use std::time::Duration;

use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::runtime::Runtime;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::entities::{SeenRows, StepRecorder, Turn};
use crate::unit::UnitOfWork;
use crate::unit::queue::Queue;
use crate::unit::reservation::{self, LOSSES, Reservation, elapsed, is_refusal};
use crate::unit::rivals::Rivals;

/// The number of a transaction's lost attempts, and the reservation that makes other processes wait for the transaction.
pub(super) struct Contention {
    seen: Arc<SeenRows>,
    losses: usize,
    pub(super) own: Option<Reservation>,
    hold: Duration,
    /// `true` if writing the reservation has changed row versions since the last attempt.
    has_touched: bool,
}

impl Contention {
    /// Creates the state of a transaction before its first attempt.
    pub(super) const fn new(seen: Arc<SeenRows>) -> Self {
        Self { seen, losses: 0, own: None, hold: Duration::ZERO, has_touched: false }
    }

    /// Creates the state for an attempt that holds a turn.
    pub(super) fn rivals(&self, turn: &Turn, runtime: &Runtime) -> Rivals {
        Rivals::new(&self.seen, self.own.clone(), turn, runtime)
    }

    /// Records an attempt that failed because of another process.
    pub(super) fn lost(&mut self) {
        self.losses += 1;
        self.seen.set_shared(true);
    }

    /// Records that the transaction was committed. `deleted` is the reservation that the commit deleted, if any.
    pub(super) fn won(&mut self, rivals: Option<&Rivals>, deleted: Option<&Reservation>) {
        if deleted.is_some() {
            self.own = None;
        }
        if let Some(rivals) = rivals {
            rivals.won();
        }
    }

    /// Gives up the reservation after a failed attempt to delete it. Other processes delete it when its hold time ends.
    pub(super) fn give_up(&mut self, error: Error) {
        self.own = None;
        if is_refusal(error.code()) {
            self.seen.refuse(error);
        }
    }

    /// Adds a note to the last attempt's error if the credential did not permit the transaction to reserve the partition.
    pub(super) fn explained(&self, error: Error) -> Error {
        match self.seen.refusal() {
            Some(refusal) => error.with_context(&format!("no reservation by this credential ({refusal})")),
            None => error,
        }
    }

    /// Deletes the transaction's reservation if the commit has not deleted it.
    pub(super) async fn end<S: TableStore>(
        &self,
        store: &S,
        table: &TableName,
        partition_key: &PartitionKey,
    ) {
        if let Some(own) = &self.own {
            let queue = Queue { store, table, partition_key, seen: &self.seen };
            Box::pin(queue.release(own)).await;
        }
    }
}

impl<S: TableStore + Clone + 'static, O: StepRecorder> UnitOfWork<S, O> {
    /// Adds an operation that deletes the transaction's reservation. Adds nothing if the unit is full or contains incomplete writes; the reservation is then
    /// deleted after the commit.
    pub(super) fn delete_reservation(&mut self) -> Option<Reservation> {
        let own = self.rivals.as_ref().and_then(|rivals| rivals.own.clone());
        let own = own.filter(|_| !self.draft.is_pending())?;
        let has_room = self.add_rows("the reservation", [own.delete()]).is_ok();
        Some(own).filter(|_| has_room)
    }

    /// Records a lost attempt. After several lost attempts, reserves the partition. If another process writes despite the reservation, reserves it again.
    ///
    /// # Errors
    /// Any error from reading or writing the reservation.
    pub(super) async fn lost(
        &self,
        contention: &mut Contention,
        began: u64,
        is_race: bool,
        error: &Error,
    ) -> Result<()> {
        contention.lost();
        let Some(rivals) = &self.rivals else { return Ok(()) };
        contention.own.clone_from(&rivals.own);
        // A touch changes row versions. New versions found directly after a touch therefore do not prove that another process has written, and the reservation
        // is not renewed. If the next attempt reads the same versions as this one, the transaction itself causes the error.
        let is_disturbed = is_race && !std::mem::take(&mut contention.has_touched);
        if contention.losses < LOSSES || (contention.own.is_some() && !is_disturbed) {
            return Ok(());
        }
        let runtime = self.retry.runtime();
        let spent = elapsed(began, runtime).saturating_sub(rivals.waited);
        contention.hold = reservation::hold(spent, contention.hold);
        let (table, partition_key) = (&self.table, self.draft.planned().partition_key());
        let queue = Queue { store: &self.store, table, partition_key, seen: &contention.seen };
        let rows = self.contended(error);
        // IMPORTANT: if this request fails, the transaction keeps its earlier reservation and deletes it at the end.
        let own = contention.own.clone();
        contention.own = queue.reserve(own, contention.hold, rows, || runtime.random()).await?;
        contention.has_touched = true;
        Ok(())
    }

    /// Returns the existing rows on which the attempt depended. The row that caused the conflict comes first, followed by the rows that were read.
    fn contended(&self, error: &Error) -> Vec<RowKey> {
        let conflict = error.key().filter(|_| error.is_precondition_failed());
        let mut rows: Vec<RowKey> = conflict.and_then(|(_, row)| RowKey::new(row).ok()).into_iter().collect();
        let read = self.reads.stored().filter(|row_key| rows.first() != Some(*row_key));
        let read: Vec<RowKey> = read.cloned().collect();
        rows.extend(read);
        rows
    }
}
