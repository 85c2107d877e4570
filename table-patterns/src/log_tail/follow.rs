//! Log followers. A follower returns each event once, oldest first, starting after a stored stamp.

use std::fmt;
use std::time::Duration;

use table_core::Result;
use table_core::entity::{Entity, Versioned};
use table_core::selection::Selection;
use table_core::store::TableStore;

use crate::entities::{NoOutbox, StepRecorder};
use crate::log_tail::{LogStamp, LogTail, WholePartitions};

/// The number of ticks per microsecond.
const PER_MICROSECOND: u128 = 10;

/// Follows a log, and remembers the stamp up to which it has returned all events. Created by [`LogTail::follow`]. Holds no open resources.
///
/// The [`position`](Self::position) is a stamp. Store it after processing the returned events, and pass it to [`LogTail::follow`] in the next process.
///
/// An append generates the stamp before it stores the event. If two events are appended concurrently, the later one may become visible first. A follower
/// therefore does not return events that are younger than its settling time. It may miss an event if storing the event takes longer than the settling time, or
/// if the writer's clock is behind by more than this time.
///
/// The position never passes the newest event that was stored when the follower read the log. A follower whose clock jumps ahead and is then corrected
/// therefore still returns the next event.
///
/// ```
/// # use std::time::Duration;
/// use table_patterns::log_tail::{LogFollower, LogStamp, LogTail};
/// # use table_patterns::{Entity, TableStoreExt, embedded::Engine};
/// # #[derive(Entity)]
/// # #[partition_key(employee)]
/// # #[row_key(stamp)]
/// # struct Expense { #[digits(6)] employee: u32, stamp: LogStamp, cents: i64 }
/// # pollster::block_on(async {
/// # let expenses = LogTail::new(Engine::in_memory().table::<Expense>().create_if_missing().await?);
/// expenses.append(|stamp| Expense { employee: 123, stamp, cents: 1 }).await?;
/// let mut follow: LogFollower<Expense, _, _> = expenses.follow(Expense::partition(123), LogStamp::FIRST, Duration::ZERO);
/// assert_eq!(follow.next_batch(100).await?.len(), 1);
/// let position = follow.position().to_string(); // to be stored
///
/// expenses.append(|stamp| Expense { employee: 123, stamp, cents: 2 }).await?;
/// let mut later = expenses.follow(Expense::partition(123), position.parse()?, Duration::ZERO);
/// assert_eq!(later.next_batch(100).await?.first().map(|expense| expense.cents), Some(2));
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
pub struct LogFollower<E, S, C, O = NoOutbox> {
    log: LogTail<E, S, O>,
    partitions: Selection<E, C>,
    position: LogStamp,
    settle: Duration,
    /// The stamp up to which the log was read completely.
    horizon: Option<LogStamp>,
    /// Ranges that start at the follower's position and contain too many events for one batch. Each range is part of the one before it.
    ahead: Vec<Ahead>,
}

/// A range of the log that starts at the follower's position and contains too many events for one batch.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    upto: LogStamp,
    /// The stamp of an event in the range, other than the oldest event.
    inside: LogStamp,
    /// `true` if events of the range may have been returned since it was added. The remaining events may then fit into one batch.
    begun: bool,
}

impl<E: Entity, S: TableStore + Clone, O: StepRecorder> LogTail<E, S, O> {
    /// Creates a follower that starts after the stamp `from`. Pass [`LogStamp::FIRST`] to start at the beginning of the log, or the stored
    /// [`position`](LogFollower::position) of an earlier follower to continue there.
    #[must_use]
    pub fn follow<C: WholePartitions>(
        &self,
        log: Selection<E, C>,
        from: LogStamp,
        settle: Duration,
    ) -> LogFollower<E, S, C, O> {
        LogFollower {
            log: self.clone(),
            partitions: log,
            position: from,
            settle,
            horizon: None,
            ahead: Vec::new(),
        }
    }
}

impl<E: Entity, S: TableStore, C: WholePartitions, O: StepRecorder> LogFollower<E, S, C, O> {
    /// Returns the next events after the follower's position, oldest first, at most `most`. Returns an empty list if all newer events are younger than the
    /// settling time.
    ///
    /// Events with equal stamps are returned together, even if this exceeds `most`. An import can create such events in several partitions.
    ///
    /// The table returns the newest events first. If more than `most` events are pending, the follower halves their time span until the oldest part fits into
    /// one batch, and remembers the ranges in between. A follower that is behind therefore needs a few requests per call. The first call of a follower that
    /// starts at the beginning of the log needs about twenty more, because its range begins in the year 1.
    ///
    /// # Errors
    /// Any error from [`LogTail::newest`]. A later call returns the events that this call has missed.
    pub async fn next_batch(&mut self, most: usize) -> Result<Vec<Versioned<E>>> {
        let most = most.max(1);
        let horizon = self.horizon();
        loop {
            let (upto, most) = match self.ahead.last_mut() {
                None if horizon <= self.position || self.horizon == Some(horizon) => return Ok(Vec::new()),
                None => (horizon, most),
                Some(ahead) if ahead.begun => {
                    let upto = ahead.upto;
                    self.ahead.pop();
                    if upto <= self.position {
                        continue;
                    }
                    (upto, most)
                }
                Some(ahead) => LogStamp::between(self.position, ahead.inside).map_or_else(
                    || {
                        // No stamp lies between the position and `inside`. The remaining events therefore have the same stamp and are in several partitions.
                        ahead.begun = true;
                        (ahead.inside, usize::MAX)
                    },
                    |middle| (middle, most),
                ),
            };
            let given = self.give(upto, most).await?;
            if !given.is_empty() {
                return Ok(given);
            }
        }
    }

    /// Returns the events from the follower's position to a stamp, and advances the position. If the range contains more than `most` events, remembers it and
    /// returns no events.
    async fn give(&mut self, upto: LogStamp, most: usize) -> Result<Vec<Versioned<E>>> {
        let slice = match self.log.slice(&self.partitions, Some(self.position), upto, most).await {
            Ok(slice) => slice,
            Err(error) => {
                // The failed range is no longer in `ahead`. Once the list is empty, the next poll rereads the range.
                self.ahead.clear();
                return Err(error);
            }
        };
        if let Some(inside) = slice.resume_before {
            self.ahead.push(Ahead { upto, inside, begun: false });
            return Ok(Vec::new());
        }
        if self.ahead.is_empty() {
            // This read has found no later event. The end of the range depends on this follower's clock, which may be wrong. Therefore, the position moves only
            // to an event.
            let newest = slice.items.first().map(|event| LogTail::<E, S, O>::stamp_in(event)).transpose()?;
            self.position = newest.unwrap_or(self.position);
            self.horizon = Some(upto);
        } else {
            self.position = upto;
        }
        for ahead in &mut self.ahead {
            ahead.begun |= !slice.items.is_empty();
        }
        Ok(slice.items.into_iter().rev().collect())
    }

    /// Returns the follower's position. All events up to and including this stamp have been returned. The position never passes the newest stored event.
    #[must_use]
    pub const fn position(&self) -> LogStamp {
        self.position
    }

    fn horizon(&self) -> LogStamp {
        let settle = u64::try_from(self.settle.as_micros() * PER_MICROSECOND).unwrap_or(u64::MAX);
        LogStamp::from_ticks(self.log.writer.clock().now().saturating_sub(settle), u64::MAX)
    }
}

debug_fields!([E, S: fmt::Debug, C, O: fmt::Debug] LogFollower[E, S, C, O] { log, position, settle, .. });
