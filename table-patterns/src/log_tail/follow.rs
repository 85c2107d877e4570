//! Following a log: what is newer than a position, the oldest first, each event once.

use std::fmt;
use std::time::Duration;

use table_core::entity::{Entity, Versioned};
use table_core::error::Result;
use table_core::selection::Selection;
use table_core::store::TableStore;

use crate::entities::{NoOutbox, StepRecorder};
use crate::log_tail::{LogStamp, LogTail, WholePartitions};

/// Ticks of a microsecond.
const PER_MICROSECOND: u128 = 10;

/// A reader of a log that remembers how far it has read. Made by [`LogTail::follow`]; holds nothing open.
///
/// The [`position`](Self::position) is a stamp, to be stored when what was polled has been dealt with, and given to
/// [`LogTail::follow`] by the next process.
///
/// An append has its stamp before it is in the table, so that of two events under way the later may be seen first. A
/// follower therefore leaves out what is younger than its time to settle. An event that needs longer to arrive, or comes from
/// a clock that is further behind, is in the log but not in what a follower reads.
///
/// ```
/// # use std::time::Duration;
/// use table_patterns::log_tail::{Follow, LogStamp, LogTail};
/// # use table_patterns::{Entity, TableStoreExt, embedded::Engine};
/// # #[derive(Entity)]
/// # #[partition_key(employee)]
/// # #[row_key(stamp)]
/// # struct Expense { #[digits(6)] employee: u32, stamp: LogStamp, cents: i64 }
/// # pollster::block_on(async {
/// # let expenses = LogTail::new(Engine::in_memory().table::<Expense>().create_if_missing().await?);
/// expenses.append(|stamp| Expense { employee: 123, stamp, cents: 1 }).await?;
/// let mut follow: Follow<Expense, _, _> = expenses.follow(Expense::partition(123), LogStamp::FIRST, Duration::ZERO);
/// assert_eq!(follow.poll(100).await?.len(), 1);
/// let position = follow.position().to_string(); // to be stored
///
/// expenses.append(|stamp| Expense { employee: 123, stamp, cents: 2 }).await?;
/// let mut later = expenses.follow(Expense::partition(123), position.parse()?, Duration::ZERO);
/// assert_eq!(later.poll(100).await?.first().map(|expense| expense.cents), Some(2));
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
pub struct Follow<E, S, C, O = NoOutbox> {
    log: LogTail<E, S, O>,
    partitions: Selection<E, C>,
    position: LogStamp,
    settle: Duration,
    /// Ranges after the position that did not fit a poll, each inside the one before.
    ahead: Vec<Ahead>,
}

/// A range of the log, from the position up to a stamp, that holds more than a poll gives.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    upto: LogStamp,
    /// One of its events, with others before it.
    inside: LogStamp,
    /// Whether something of it may have been given since it was found, so that the rest may fit.
    begun: bool,
}

impl<E: Entity, S: TableStore + Clone, O: StepRecorder> LogTail<E, S, O> {
    /// Follows a log from a position: [`LogStamp::FIRST`] for all of it, or one that was stored.
    #[must_use]
    pub fn follow<C: WholePartitions>(
        &self,
        log: Selection<E, C>,
        from: LogStamp,
        settle: Duration,
    ) -> Follow<E, S, C, O> {
        Follow { log: self.clone(), partitions: log, position: from, settle, ahead: Vec::new() }
    }
}

impl<E: Entity, S: TableStore, C: WholePartitions, O: StepRecorder> Follow<E, S, C, O> {
    /// The next events after the position, the oldest first, at most `most`; none if nothing newer has settled.
    ///
    /// The table gives the newest first. While what is missing is more than `most`, the time that it spans is halved until the
    /// oldest part fits; what was found on the way is remembered. So a follower that is behind takes a few requests a poll, and
    /// some twenty more at the very first, which begins in the year 1.
    ///
    /// # Errors
    /// Those of [`LogTail::newest`]. What was not given will be.
    pub async fn poll(&mut self, most: usize) -> Result<Vec<Versioned<E>>> {
        let most = most.max(1);
        let horizon = self.horizon();
        loop {
            let (upto, most) = match self.ahead.last_mut() {
                None if horizon <= self.position => return Ok(Vec::new()),
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
                        // No stamp between: what is left there are events of one stamp in several partitions.
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

    /// Gives what lies between the position and a stamp and moves there, or remembers that it is more than `most`.
    async fn give(&mut self, upto: LogStamp, most: usize) -> Result<Vec<Versioned<E>>> {
        let slice = match self.log.slice(&self.partitions, Some(self.position), upto, most).await {
            Ok(slice) => slice,
            Err(error) => {
                // The range was taken from the list to be read: the next poll reads it anew.
                self.ahead.clear();
                return Err(error);
            }
        };
        if let Some(inside) = slice.cut_at {
            self.ahead.push(Ahead { upto, inside, begun: false });
            return Ok(Vec::new());
        }
        self.position = upto;
        for ahead in &mut self.ahead {
            ahead.begun |= !slice.items.is_empty();
        }
        Ok(slice.items.into_iter().rev().collect())
    }

    /// How far the follower has read: up to and with this stamp.
    #[must_use]
    pub const fn position(&self) -> LogStamp {
        self.position
    }

    fn horizon(&self) -> LogStamp {
        let settle = u64::try_from(self.settle.as_micros() * PER_MICROSECOND).unwrap_or(u64::MAX);
        LogStamp::from_ticks(self.log.writer.clock().now().saturating_sub(settle), u64::MAX)
    }
}

impl<E, S: fmt::Debug, C, O: fmt::Debug> fmt::Debug for Follow<E, S, C, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follow")
            .field("log", &self.log)
            .field("position", &self.position)
            .field("settle", &self.settle)
            .finish_non_exhaustive()
    }
}
