//! Reads of a transaction while other processes write to its partition. Detects their writes and waits for their reservations.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join;
use table_core::Result;
use table_core::key::EntityKey;
use table_core::query::Select;
use table_core::runtime::Runtime;
use table_core::store::{StoredRow, TableStore};

use crate::bounded_wait::StallDetector;
use crate::entities::{SeenRows, Turn};
use crate::unit::queue::Queue;
use crate::unit::reservation::{LONGEST_WAIT, MOST_EXPIRED, PAUSES, Reservation, Reservations, elapsed};

/// The most time counted for one read of the reservations. If the clock is set forward, a wait becomes shorter by at most this much.
const LONGEST_READ: Duration = Duration::from_secs(1);

/// The reservations and writes of other processes, as seen by one run of a transaction.
pub(super) struct Rivals {
    pub(super) seen: Arc<SeenRows>,
    /// This transaction's reservation, unless another process has deleted it.
    pub(super) own: Option<Reservation>,
    runtime: Runtime,
    /// The timeout shared by this process's waiting transactions. It must not expire while this transaction waits for another process.
    stalls: Option<Arc<StallDetector>>,
    has_read: bool,
    has_looked: bool,
    /// `true` if another process has written a row since this process last saw it.
    is_shared: bool,
    /// The time spent waiting for reservations.
    pub(super) waited: Duration,
}

/// A row that was read. `has_waited` is `true` if earlier reads of the unit may be stale.
pub(super) struct ReadRow {
    pub(super) found: Option<StoredRow>,
    pub(super) has_waited: bool,
}

impl Rivals {
    /// Creates the state for a run that holds a turn.
    pub(super) fn new(
        seen: &Arc<SeenRows>,
        own: Option<Reservation>,
        turn: &Turn,
        runtime: &Runtime,
    ) -> Self {
        Self {
            seen: Arc::clone(seen),
            own,
            runtime: runtime.clone(),
            stalls: turn.stalls(),
            has_read: false,
            has_looked: false,
            is_shared: false,
            waited: Duration::ZERO,
        }
    }

    /// Records that the transaction has been committed.
    pub(super) fn won(&self) {
        if self.has_read {
            self.seen.set_shared(self.is_shared);
        }
    }

    /// Waits for other processes that have reserved the partition, and then reads a row. The reservations are checked at most once per run. They are checked
    /// only if this transaction has a reservation, or if another process has recently written rows in the partition.
    pub(super) async fn read<S: TableStore>(
        &mut self,
        queue: &Queue<'_, S>,
        key: &EntityKey,
    ) -> Result<ReadRow> {
        let get = || queue.store.get(queue.table, key, &Select::All);
        let looks = !self.has_looked && (self.own.is_some() || self.seen.is_shared());
        let (mut found, mut reservations) = if looks {
            let (found, reservations) = try_join(get(), Box::pin(queue.read())).await?;
            (found, Some(reservations))
        } else {
            (get().await?, None)
        };
        let is_foreign = self.note(key, found.as_ref());
        if is_foreign && !looks && !self.has_looked {
            reservations = Some(Box::pin(queue.read()).await?);
        }
        self.has_looked |= reservations.is_some();
        let has_waited = match reservations {
            Some(reservations) => Box::pin(self.wait(queue, reservations)).await?,
            None => false,
        };
        if has_waited {
            found = get().await?;
            self.note(key, found.as_ref());
            self.is_shared = true;
        }
        Ok(ReadRow { found, has_waited })
    }

    /// Records the version of a row. Returns `true` if another process has written the row.
    fn note(&mut self, key: &EntityKey, found: Option<&StoredRow>) -> bool {
        let is_foreign = self.seen.is_foreign(&key.row_key, found.map(|found| &found.etag));
        self.has_read = true;
        self.is_shared |= is_foreign;
        is_foreign
    }

    /// Waits until this transaction's reservation is the first in the queue, or no other reservation exists. Returns `true` if the transaction had to wait.
    async fn wait<S: TableStore>(&mut self, queue: &Queue<'_, S>, mut found: Reservations) -> Result<bool> {
        // The first reservation and its hold time; the time since it was first seen at the head of the queue; the duration of the last read.
        let (mut first, mut waited, mut read) = (None::<(Reservation, Duration)>, Duration::ZERO, PAUSES.0);
        let (mut has_waited, before) = (false, self.waited);
        loop {
            self.own = self.own.take().filter(|own| found.may_contain(own));
            if self.waited.saturating_sub(before) >= LONGEST_WAIT {
                self.seen.expire(MOST_EXPIRED);
            }
            if queue.has_stopped_waiting() {
                queue.discard(&found, self.own.as_ref()).await?;
                // This makes the process's next transactions read the queue until no reservation is left.
                self.is_shared = true;
            }
            let Some(ahead) = queue.ahead(&found, self.own.as_ref()) else { return Ok(has_waited) };
            has_waited = true;
            if first.as_ref().is_none_or(|(first, _)| *first != ahead.reservation) {
                // If a reservation disappears after half of its hold time or later, another process has probably deleted it, because the owner would have done
                // so sooner. It counts as expired.
                if first.is_some_and(|(_, hold)| waited >= hold / 2) {
                    self.seen.expire(1);
                }
                (first, waited) = (Some((ahead.reservation.clone(), ahead.hold)), Duration::ZERO);
            }
            let (began, mut pause) = (self.runtime.now(), Duration::ZERO);
            if waited >= ahead.hold {
                queue.pass(&found, ahead).await?;
                first = None;
            } else {
                // The pause is a small fraction of the time already waited, so it extends the wait only a little.
                pause = (waited / 16).clamp(read, PAUSES.1);
                self.runtime.sleep(pause).await;
            }
            if let Some(stalls) = &self.stalls {
                stalls.count();
            }
            found = queue.read().await?;
            // The clock may have been changed in the meantime, so the measured time is limited.
            let spent = elapsed(began, &self.runtime).clamp(pause, pause + LONGEST_READ);
            read = spent.saturating_sub(pause).clamp(PAUSES.0, PAUSES.1);
            (waited, self.waited) = (waited + spent, self.waited + spent);
        }
    }
}
