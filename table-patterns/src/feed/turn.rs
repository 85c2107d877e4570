//! Turns for the writers in one process. Only one writer at a time commits to a partition's feed; it starts from the head left by the previous writer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::lock::{Mutex as Lock, OwnedMutexGuard};
use table_core::etag::ETag;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::runtime::Runtime;

use crate::bounded_wait::Patience;
use crate::feed::Head;

/// The maximum number of partitions whose heads are remembered.
const REMEMBERED: usize = 100_000;

/// The longest time that a writer may keep its turn while others wait.
/// After this time, the waiting writers continue without a turn, because the writer with the turn may never be polled again. Their commits may then
/// conflict.
const PATIENCE: Duration = Duration::from_millis(200);

type Known = Option<(Head, ETag)>;

/// The turns of the writers of each partition, and a cache of the feeds' heads.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<(String, String), Arc<Line>>>);

/// The queue of writers for one partition, with the head of its feed.
#[derive(Debug, Default)]
struct Line {
    head: Arc<Lock<Known>>,
    patience: Patience,
}

/// The turn of one writer, with access to the remembered head; `None` if the writer continues without a turn after a time-out.
#[derive(Debug)]
pub(super) struct Turn(Option<OwnedMutexGuard<Known>>);

impl Turns {
    /// Waits for a writer's turn in a partition.
    pub(super) async fn next(&self, table: &TableName, partition_key: &PartitionKey, pace: &Runtime) -> Turn {
        let line = self.line(table, partition_key);
        let guard = match line.head.try_lock_owned() {
            Some(guard) => Some(guard),
            None => line.patience.wait(Arc::clone(&line.head).lock_owned(), (pace, PATIENCE)).await,
        };
        if guard.is_some() {
            line.patience.count();
        }
        Turn(guard)
    }

    fn line(&self, table: &TableName, partition_key: &PartitionKey) -> Arc<Line> {
        let id = (table.folded().to_owned(), partition_key.as_str().to_owned());
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= REMEMBERED && !lines.contains_key(&id) {
            lines.clear();
        }
        Arc::clone(lines.entry(id).or_default())
    }
}

impl Turn {
    /// Takes the remembered head out of the cache. If the writer is dropped before it calls [`leave`](Self::leave), the next writer reads the head.
    pub(super) fn take(&mut self) -> Known {
        self.0.as_mut().and_then(|known| known.take())
    }

    /// Ends the turn, and leaves the given head for the next writer.
    pub(super) fn leave(mut self, head: Known) {
        if let Some(known) = self.0.as_mut() {
            **known = head;
        }
    }
}
