//! Fair scheduling of a partition's writers within one process.
//!
//! Concurrent read-modify-write transactions would conflict, so their writers queue and take turns. The writer with the turn reads the rows as earlier writers
//! left them, and adds its operations to an open [`Group`]. The last writer in the queue seals the group, which is then committed as one transaction. If a
//! member of the group has waited longer than [`TIMEOUT`], it seals the group earlier.

mod compose;
pub(crate) mod group;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_channel::oneshot;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::runtime::Runtime;

use crate::bounded_wait::{Alarm, StallDetector};
use crate::entities::turns::group::{Group, GroupOutcome, GroupTimer};

/// The longest time that one writer may hold the turn while others wait. After this time, the waiting writers write without a turn, and the members of the open
/// group seal it. The limit is needed because the future of the writer with the turn may never be polled again. It is longer than a typical request to a
/// distant store, because writing without a turn may cause conflicts.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The shortest queue in which waiters that have given up are searched and removed.
const SHORT: usize = 16;

/// The queues for the partitions and rows that a handle writes. Clones of the handle share them.
#[derive(Clone, Default)]
pub(crate) struct Turns(Arc<Shared>);

struct Shared {
    lines: Mutex<HashMap<Place, Line>>,
    /// The maximum time one writer may hold the turn while others wait.
    timeout: Duration,
    /// The timeout alarm shared by the writers in all queues. It outlives a queue, which is removed when its last writer leaves.
    alarm: Arc<Alarm>,
}

impl Default for Shared {
    fn default() -> Self {
        Self { lines: Mutex::default(), timeout: TIMEOUT, alarm: Arc::default() }
    }
}

/// The scope of a queue. Units of work queue for a partition. Single writes queue for one row: an entity or the head of a feed.
type Place = (String, PartitionKey, Option<RowKey>);

/// A queue: one writer has the turn, and the others wait in arrival order.
#[derive(Default)]
struct Line {
    waiters: VecDeque<oneshot::Sender<Turn>>,
    /// The queue length at which waiters that have given up are removed.
    limit: usize,
    stalls: Arc<StallDetector>,
    /// The open group. It contains the uncommitted operations of writers that have already had their turn.
    group: Option<Arc<Group>>,
}

/// One writer's turn. When it is dropped, the turn passes to the next writer. If no writer waits, the open group is sealed.
pub(crate) struct Turn {
    turns: Turns,
    /// The queue's scope. `None` once the next writer has the turn, or if this writer timed out while waiting.
    place: Option<Place>,
}

/// The recipient of a turn that has ended.
enum Next {
    Waiter(oneshot::Sender<Turn>),
    Group(Arc<Group>),
    Nobody,
}

impl Turns {
    /// Creates queues whose writers may hold the turn for at most the given time while others wait.
    pub(crate) fn with_timeout(timeout: Duration) -> Self {
        Self(Arc::new(Shared { timeout, ..Shared::default() }))
    }

    /// Waits until a unit of work has the turn in a partition. It queues behind the units of work that are already waiting.
    pub(crate) async fn enter(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
        pace: &Runtime,
    ) -> Turn {
        self.enter_at((table.folded().to_owned(), partition_key.clone(), None), pace).await
    }

    /// Waits until a single write has the turn at one row, which is an entity or the head of a feed. It queues behind the writes that are already waiting.
    ///
    /// Single writes and units of work do not wait for each other. Otherwise, a transaction would deadlock if its closure made a single write.
    pub(crate) async fn enter_entity(&self, table: &TableName, key: &EntityKey, pace: &Runtime) -> Turn {
        self.enter_at(entity_place(table, key), pace).await
    }

    /// Waits for the turn at an entity, but only if other writes have this turn or wait for it. Otherwise returns `None` at once.
    pub(crate) async fn enter_busy_entity(
        &self,
        table: &TableName,
        key: &EntityKey,
        pace: &Runtime,
    ) -> Option<Turn> {
        let is_busy = {
            let lines = self.lock();
            !lines.is_empty() && lines.contains_key(&entity_place(table, key))
        };
        if is_busy { Some(self.enter_entity(table, key, pace).await) } else { None }
    }

    async fn enter_at(&self, place: Place, runtime: &Runtime) -> Turn {
        loop {
            let (turn, stalls) = {
                let mut lines = self.lock();
                match lines.get_mut(&place) {
                    None => {
                        let stalls = Arc::new(StallDetector::with(&self.0.alarm));
                        lines.insert(place.clone(), Line { stalls, ..Line::default() });
                        return Turn { turns: self.clone(), place: Some(place) };
                    }
                    Some(line) => (line.wait(), Arc::clone(&line.stalls)),
                }
            };
            match stalls.wait(turn, (runtime, self.0.timeout)).await {
                Some(Ok(turn)) => return turn,
                // The queue was removed together with the sender, so this writer queues again.
                Some(Err(_)) => {}
                None => return Turn { turns: self.clone(), place: None },
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Place, Line>> {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes the turn to the next writer.
    fn pass(&self, place: &Place) {
        loop {
            let next = {
                let mut lines = self.lock();
                let Some(line) = lines.get_mut(place) else { return };
                line.stalls.count();
                match (line.waiters.pop_front(), line.group.is_some()) {
                    (Some(waiter), _) => Next::Waiter(waiter),
                    (None, true) => line.group.take().map_or(Next::Nobody, Next::Group),
                    (None, false) => {
                        lines.remove(place);
                        Next::Nobody
                    }
                }
            };
            let turn = || Turn { turns: self.clone(), place: Some(place.clone()) };
            match next {
                Next::Nobody => return,
                // Writers that arrive during the commit wait until it ends, and form the next group.
                Next::Group(group) => return group.seal(Some(turn())),
                Next::Waiter(waiter) => match waiter.send(turn()) {
                    Ok(()) => return,
                    // The writer has stopped waiting, so the turn passes to the next one.
                    Err(mut refused) => refused.place = None,
                },
            }
        }
    }
}

impl Line {
    /// Adds a writer to the queue.
    fn wait(&mut self) -> oneshot::Receiver<Turn> {
        // If the holder of the turn is stuck, every later writer eventually gives up. Doubling the limit keeps the amortized cost per writer constant.
        if self.waiters.len() >= self.limit {
            self.waiters.retain(|waiter| !waiter.is_canceled());
            self.limit = self.waiters.len().saturating_mul(2).max(SHORT);
        }
        let (sender, receiver) = oneshot::channel();
        self.waiters.push_back(sender);
        receiver
    }

    /// Returns `true` if other writers are waiting for their turn.
    fn has_waiters(&mut self) -> bool {
        while self.waiters.front().is_some_and(oneshot::Sender::is_canceled) {
            self.waiters.pop_front();
        }
        !self.waiters.is_empty()
    }
}

fn entity_place(table: &TableName, key: &EntityKey) -> Place {
    (table.folded().to_owned(), key.partition_key.clone(), Some(key.row_key.clone()))
}

impl Turn {
    /// Returns `true` if other writers are waiting for their turn.
    pub(crate) fn has_waiters(&self) -> bool {
        self.with_line(Line::has_waiters).unwrap_or_default()
    }

    /// Returns the open group, if earlier writers have added operations to it.
    pub(crate) fn group(&self) -> Option<Arc<Group>> {
        self.with_line(|line| line.group.clone()).flatten()
    }

    /// Opens a group that subsequent units of work can join.
    pub(crate) fn open(&self, group: &Arc<Group>) {
        self.with_line(|line| line.group = Some(Arc::clone(group)));
    }

    /// Returns the alarm and the runtime for the timeout of a group's members.
    pub(crate) fn timer(&self, runtime: &Runtime) -> GroupTimer {
        (Arc::clone(&self.turns.0.alarm), runtime.clone())
    }

    /// Commits the open group while this writer keeps the turn.
    pub(crate) async fn flush(&self) -> Option<GroupOutcome> {
        let group = self.with_line(|line| line.group.take()).flatten()?;
        group.seal(None);
        Some(group.outcome().await)
    }

    /// Returns the timeout shared by the waiting writers. Returns `None` if this writer itself has timed out.
    pub(crate) fn stalls(&self) -> Option<Arc<StallDetector>> {
        self.with_line(|line| Arc::clone(&line.stalls))
    }

    fn with_line<T>(&self, look: impl FnOnce(&mut Line) -> T) -> Option<T> {
        let mut lines = self.turns.lock();
        self.place.as_ref().and_then(|place| lines.get_mut(place)).map(look)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            self.turns.pass(&place);
        }
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").field("partitions", &self.lock().len()).finish()
    }
}
