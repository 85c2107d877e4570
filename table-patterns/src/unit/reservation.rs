//! Reservations. A transaction that has lost several attempts to other processes writes a reservation, which makes those processes wait.
//!
//! Within a process, transactions take turns. Between processes, the one closest to the store wins every race, so a distant process could lose all of its
//! attempts. To prevent this, a transaction inserts a reservation into the partition after [`LOSSES`] lost attempts:
//!
//! | row | properties |
//! |---|---|
//! | `U+FFFC reservation_`, 10 digits: its position in the queue, `_`, and 16 hexadecimal digits: its random number | `HoldMillis`: Int64, the time for which other processes wait for it |
//!
//! If no other reservation exists, the transaction that inserts the reservation also touches the rows that were read, which changes their versions. Attempts by
//! other processes to write these rows then conflict. Attempts that begin later find a version that their process has not seen
//! ([`SeenRows`](crate::entities::SeenRows)). A process that only records changes in the partition's feed finds a feed head that it has not seen. In all these
//! cases, the other process reads the reservations. It waits until the first reservation in the queue is its own, or no reservation exists. The commit deletes
//! the reservation.
//!
//! A waiting process measures the hold time with its own clock, starting when it first sees the reservation at the head of the queue. When the hold time ends,
//! the process deletes the reservation, because the owner may have died. If the owner renews the reservation, the process waits again. Clocks of different
//! processes are never compared.
//!
//! If [`MOST_EXPIRED`] consecutive reservations expire while a process waits for them, the process stops waiting and deletes reservations until none is left.
//! Rows that another program has left in the partition therefore delay the process's transactions by at most twenty seconds, regardless of their number.
//!
//! Every row whose key has the prefix is treated as a reservation, no matter who wrote it. The queue order is the key order. A row in any other format has a
//! hold time of zero and is deleted when it is found, so it cannot hide the reservations behind it.
//!
//! Reservations are advisory: correctness depends only on the row versions. `docs/models/fairness.rs` models this protocol.

use std::time::Duration;

use table_core::etag::{ETag, IfMatch};
use table_core::key::RowKey;
use table_core::operation::{Operation, OperationKind};
use table_core::query::EntityRef;
use table_core::runtime::Runtime;
use table_core::{Error, ErrorCode, Result, ValueRef};

/// The prefix of the `RowKey`s of reservations. The position in the queue follows the prefix.
pub(crate) const PREFIX: &str = "\u{FFFC}reservation_";
pub(super) const HOLD: &str = "HoldMillis";

/// The number of lost attempts after which a transaction reserves its partition.
pub(super) const LOSSES: usize = 3;
/// The minimum and the maximum hold time of a reservation.
const HOLDS: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// The minimum and the maximum pause between two reads of the queue.
pub(super) const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(32));

/// The number of consecutive expired reservations after which a process stops waiting.
pub(super) const MOST_EXPIRED: usize = 4;
/// The maximum wait in one attempt. After this time, the process stops waiting, as after `MOST_EXPIRED` expired reservations.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// The last position in the queue. Reservations that share it are ordered by their random numbers.
const LAST_PLACE: u64 = 9_999_999_999;

/// A reservation, identified by the key of its row. Reservations sort in queue order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Reservation(RowKey);

/// A stored reservation, with its hold time.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) reservation: Reservation,
    pub(super) hold: Duration,
    pub(super) etag: ETag,
}

impl Reservation {
    /// Creates a reservation behind the last one in a queue. The random number distinguishes it from all other reservations with the same position, including
    /// deleted ones.
    pub(super) fn behind(last: Option<&Self>, random: u64) -> Result<Self> {
        let place = last.map_or(0, Self::place).saturating_add(1).min(LAST_PLACE);
        RowKey::new(format!("{PREFIX}{place:010}_{random:016x}")).map(Self)
    }

    /// Returns the position in the queue. Keys in any other format sort after all positions.
    fn place(&self) -> u64 {
        let digits = self.0.as_str().get(PREFIX.len()..).and_then(|parts| parts.get(..10));
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(LAST_PLACE)
    }

    /// Returns `true` if the key has the format written by this release.
    fn has_form(&self) -> bool {
        let parts = self.0.as_str().get(PREFIX.len()..).unwrap_or_default().bytes();
        parts.len() == 27
            && parts.enumerate().all(|(at, byte)| match at {
                0..10 => byte.is_ascii_digit(),
                10 => byte == b'_',
                _ => byte.is_ascii_hexdigit(),
            })
    }

    /// Returns the `RowKey` of the reservation's row.
    pub(super) const fn row_key(&self) -> &RowKey {
        &self.0
    }

    /// Returns `true` if an error means that the reservation does not exist.
    pub(super) fn is_at(&self, error: &Error) -> bool {
        error.is_not_found() && error.key().is_some_and(|(_, row_key)| row_key == self.0.as_str())
    }

    /// Returns the operation that deletes the reservation when its transaction commits.
    pub(super) fn delete(&self) -> Operation {
        Operation { row_key: self.0.clone(), kind: OperationKind::Delete(IfMatch::Any) }
    }
}

/// The first reservations in a queue, in order.
#[derive(Debug, Default)]
pub(super) struct Reservations {
    pub(super) first: Vec<Stored>,
    /// `true` if the queue contains no further reservations.
    pub(super) is_whole: bool,
}

impl Reservations {
    /// Returns `true` if the queue contains a reservation, or if it may be among the rows that were not read.
    pub(super) fn may_contain(&self, own: &Reservation) -> bool {
        !self.is_whole || self.first.iter().any(|stored| stored.reservation == *own)
    }
}

impl Stored {
    /// Reads a reservation from a row of the queue. Returns `None` if the row's key is not valid in writes: reservations always have valid keys.
    pub(super) fn read(entity: EntityRef<'_>) -> Option<Self> {
        let reservation = Reservation(RowKey::new(entity.row_key).ok()?);
        let hold = match entity.row.find(HOLD, &mut 0) {
            Ok(Some(ValueRef::Int64(hold))) if reservation.has_form() => {
                Duration::from_millis(u64::try_from(hold).unwrap_or_default())
            }
            _ => Duration::ZERO,
        };
        Some(Self { reservation, hold: hold.min(HOLDS.1), etag: entity.etag() })
    }
}

/// Returns the hold time of a reservation. It depends on the duration of the last attempt, and on an earlier hold time that was too short.
pub(super) fn hold(attempt: Duration, earlier: Duration) -> Duration {
    let wanted = attempt.saturating_mul(4).saturating_add(PAUSES.1.saturating_mul(4));
    wanted.max(earlier.saturating_mul(2)).clamp(HOLDS.0, HOLDS.1)
}

/// Returns the time since `began`, measured with this process's clock.
pub(super) fn elapsed(began: u64, runtime: &Runtime) -> Duration {
    Duration::from_nanos(runtime.now().saturating_sub(began).saturating_mul(100))
}

/// Returns `true` if an error code means that the credential does not permit access to a row. For example, a SAS may cover only one table or a range of
/// `RowKey`s.
pub(crate) const fn is_refusal(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::AuthorizationFailure | ErrorCode::AuthorizationPermissionMismatch)
}
