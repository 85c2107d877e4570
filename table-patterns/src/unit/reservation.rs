//! Reservations: a transaction that lost several attempts to other processes asks them to wait.
//!
//! Within a process, transactions take turns. Between processes, the one nearest to the store wins every race, so a process with a distant store
//! could lose all of its attempts. After [`LOSSES`] lost attempts, a transaction therefore inserts a reservation into the partition:
//!
//! | row | properties |
//! |---|---|
//! | `U+FFFC reservation_` and 10 digits: its place in the queue | `Id`: Int64, random; `HoldMillis`: Int64, the time that others wait for it |
//!
//! If no other reservation exists, the same transaction touches the rows that were read, which changes their versions. Attempts of other processes on
//! these rows then have a conflict, and attempts that begin later find a version that their process does not know ([`SeenRows`]). In both cases
//! they look for reservations, and wait until the first of the queue is their own or none exists. The commit deletes the reservation.
//!
//! A process that waits measures the hold of a reservation by its own clock, from the moment at which it first saw this reservation as the first of
//! the queue. It then deletes the reservation, because its owner may have ended. Clocks of several processes are never compared.
//!
//! A reservation is advice: correctness depends only on the versions of the rows. `docs/models/fairness.rs` is the model of this protocol.

use std::time::Duration;

use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{EntityRef, KeyRange, Query, TextRange};
use table_core::row::{Row, RowWriter};
use table_core::runtime::Runtime;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::value::ValueRef;

use crate::entities::{SeenRows, touch};

/// The prefix of the `RowKey`s of reservations. The place in the queue follows it.
pub(crate) const PREFIX: &str = "\u{FFFC}reservation_";
const ID: &str = "Id";
const HOLD: &str = "HoldMillis";

/// The number of lost attempts after which a transaction reserves its partition.
pub(super) const LOSSES: usize = 3;
/// The shortest and the longest hold.
const HOLDS: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// The shortest and the longest pause between two reads of the queue.
pub(super) const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(32));
/// The largest distance to the next place that is tried if another transaction has taken a place.
const LEAP: u64 = 8;

/// A reservation of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reservation {
    /// The place in the queue.
    place: u64,
    /// Distinguishes it from earlier reservations with this place.
    id: i64,
}

/// A stored reservation.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) reservation: Reservation,
    pub(super) hold: Duration,
    etag: ETag,
}

/// The outcome of the insert of a reservation.
enum Inserted {
    Done,
    /// Another transaction has the place.
    PlaceTaken,
    /// A row to be touched no longer exists.
    RowGone(usize),
}

impl Reservation {
    /// Returns the key of its row.
    pub(super) fn row_key(self) -> Result<RowKey> {
        RowKey::new(format!("{PREFIX}{:010}", self.place))
    }

    /// Returns `true` if an error says that the reservation does not exist.
    pub(super) fn is_at(self, error: &Error) -> bool {
        let row_key = self.row_key().ok();
        error.is_not_found()
            && error.key().map(|(_, row_key)| row_key) == row_key.as_ref().map(RowKey::as_str)
    }

    /// Returns the operation by which its transaction deletes it.
    pub(super) fn delete(self) -> Result<Operation> {
        Ok(Operation { row_key: self.row_key()?, kind: OperationKind::Delete(IfMatch::Any) })
    }
}

impl Stored {
    /// Reads a row of the queue; `None` for a row of a newer release.
    fn read(entity: EntityRef<'_>) -> Result<Option<Self>> {
        let number = |name| match entity.row.find(name, &mut 0)? {
            Some(ValueRef::Int64(number)) => Ok::<_, Error>(Some(number)),
            _ => Ok(None),
        };
        let place = entity.row_key.strip_prefix(PREFIX).and_then(|place| place.parse().ok());
        let (Some(place), Some(id), Some(hold)) = (place, number(ID)?, number(HOLD)?) else {
            return Ok(None);
        };
        let hold = Duration::from_millis(u64::try_from(hold).unwrap_or_default()).min(HOLDS.1);
        Ok(Some(Self { reservation: Reservation { place, id }, hold, etag: entity.etag() }))
    }
}

/// Returns the hold for a transaction whose last attempt took a time, after an earlier hold that was too short.
pub(super) fn hold(attempt: Duration, earlier: Duration) -> Duration {
    let wanted = attempt.saturating_mul(4).saturating_add(PAUSES.1.saturating_mul(4));
    wanted.max(earlier.saturating_mul(2)).clamp(HOLDS.0, HOLDS.1)
}

/// Returns the time since an instant by the clock of this process.
pub(super) fn elapsed(began: u64, runtime: &Runtime) -> Duration {
    Duration::from_nanos(runtime.now().saturating_sub(began).saturating_mul(100))
}

/// Returns `true` if the credentials do not cover the rows of reservations, as with a shared access signature for a range of `RowKey`s.
pub(super) const fn is_refusal(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::AuthorizationFailure | ErrorCode::AuthorizationPermissionMismatch)
}

/// The reservations of one partition.
pub(super) struct Queue<'a, S> {
    pub(super) store: &'a S,
    pub(super) table: &'a TableName,
    pub(super) partition_key: &'a PartitionKey,
    pub(super) seen: &'a SeenRows,
}

impl<S: TableStore> Queue<'_, S> {
    /// Returns the reservations in their order; none if the credentials do not cover them.
    ///
    /// # Errors
    /// Any error of a query.
    pub(super) async fn read(&self) -> Result<Vec<Stored>> {
        if self.seen.refusal().is_some() {
            return Ok(Vec::new());
        }
        let query = Query::new(KeyRange::rows(self.partition_key.as_str(), TextRange::prefix(PREFIX)));
        let (mut queue, mut from) = (Vec::new(), None);
        loop {
            let page = match self.store.query(self.table, &query, from.as_ref()).await {
                Err(error) if is_refusal(error.code()) => {
                    self.seen.refuse(error);
                    return Ok(Vec::new());
                }
                page => page?,
            };
            for entity in page.rows.iter() {
                queue.extend(Stored::read(entity)?);
            }
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
        queue.sort_unstable_by_key(|stored| stored.reservation.place);
        self.seen.keep_passed(|id| queue.iter().any(|stored| stored.reservation.id == id));
        Ok(queue)
    }

    /// Returns the reservation that a transaction waits for, if any.
    pub(super) fn ahead<'q>(&self, queue: &'q [Stored], own: Option<Reservation>) -> Option<&'q Stored> {
        let first = queue.iter().find(|stored| !self.seen.is_passed(stored.reservation.id));
        first.filter(|first| own != Some(first.reservation))
    }

    /// Reserves the partition or renews the reservation. The first transaction of the queue touches rows. Returns `None` if the
    /// credential does not cover reservations.
    ///
    /// # Errors
    /// Any error of a query or a transaction, except a lost response: the reservation is then treated as inserted.
    pub(super) async fn reserve(
        &self,
        own: Option<Reservation>,
        hold: Duration,
        mut rows: Vec<RowKey>,
        random: impl Fn() -> u64,
    ) -> Result<Option<Reservation>> {
        let queue = self.read().await?;
        if self.seen.refusal().is_some() {
            return Ok(None);
        }
        let own = own.filter(|own| queue.iter().any(|stored| stored.reservation == *own));
        if self.ahead(&queue, own).is_some() {
            rows.clear();
        }
        rows.truncate(self.store.capabilities().limits.operations.saturating_sub(1));
        let last = queue.last().map_or(0, |stored| stored.reservation.place);
        let mut next =
            own.unwrap_or(Reservation { place: last.saturating_add(1), id: random().cast_signed() });
        loop {
            match self.insert(next, own.is_some(), hold, &rows).await {
                Ok(Inserted::Done) => return Ok(Some(next)),
                Ok(Inserted::PlaceTaken) => next.place = next.place.saturating_add(1 + random() % LEAP),
                Ok(Inserted::RowGone(at)) => drop(rows.remove(at)),
                Err(error) if error.is_ambiguous() => return Ok(Some(next)),
                Err(error) if is_refusal(error.code()) => {
                    self.seen.refuse(error);
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn insert(
        &self,
        reservation: Reservation,
        is_known: bool,
        hold: Duration,
        rows: &[RowKey],
    ) -> Result<Inserted> {
        let row = row(reservation.id, hold);
        let kind = if is_known { OperationKind::InsertOrReplace(row) } else { OperationKind::Insert(row) };
        let mut operations = vec![Operation { row_key: reservation.row_key()?, kind }];
        let touched =
            rows.iter().map(|row_key| Operation { row_key: row_key.clone(), kind: touch(IfMatch::Any) });
        operations.extend(touched);
        let Err(error) = self.submit(operations).await else { return Ok(Inserted::Done) };
        match error.operation().or(rows.is_empty().then_some(0)) {
            Some(0) if error.is_already_exists() => Ok(Inserted::PlaceTaken),
            Some(at @ 1..) if error.is_not_found() && at <= rows.len() => Ok(Inserted::RowGone(at - 1)),
            _ => Err(error),
        }
    }

    /// Deletes a reservation whose hold has ended, unless it has been renewed.
    ///
    /// # Errors
    /// Any error of a transaction, except that the reservation was deleted or renewed.
    pub(super) async fn pass(&self, stored: &Stored) -> Result<()> {
        self.seen.pass(stored.reservation.id);
        let kind = OperationKind::Delete(IfMatch::ETag(stored.etag.clone()));
        match self.submit(vec![Operation { row_key: stored.reservation.row_key()?, kind }]).await {
            Err(error) if !error.is_conflict() && !error.is_ambiguous() && !is_refusal(error.code()) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Deletes the reservation of a transaction that has ended. Errors are ignored: the outcome of the transaction is known, and the others
    /// delete the reservation after its hold.
    pub(super) async fn release(&self, own: Reservation) {
        if let Ok(delete) = own.delete() {
            let _expires_otherwise = self.submit(vec![delete]).await;
        }
    }

    async fn submit(&self, operations: Vec<Operation>) -> Result<()> {
        let limits = self.store.capabilities().limits;
        let mut transaction = Transaction::new(self.partition_key.clone(), limits)?;
        operations.into_iter().try_for_each(|operation| transaction.push(operation))?;
        self.store.submit(self.table, transaction).await.map(drop)
    }
}

/// Creates the row of a reservation.
fn row(id: i64, hold: Duration) -> Row {
    let mut row = RowWriter::with_capacity(2);
    row.property(HOLD, ValueRef::Int64(i64::try_from(hold.as_millis()).unwrap_or(i64::MAX)));
    row.property(ID, ValueRef::Int64(id));
    row.finish()
}
