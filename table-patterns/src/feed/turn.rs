//! Turns for the writers within one process: one writer per partition at a time, each with the head of the feed that the previous writer left.

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

/// The maximum number of remembered heads.
const REMEMBERED: usize = 100_000;

/// The longest time for which one writer may hold the turn while others wait.
/// After that, the waiting writers continue without a turn, because the holder may no longer be polled. This may cause
/// conflicts.
const PATIENCE: Duration = Duration::from_millis(200);

type Known = Option<(Head, ETag)>;

/// Assigns turns to the writers of each partition, and remembers the heads of the feeds.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<(String, String), Arc<Line>>>);

/// The queue of the writers of one partition, with the remembered head.
#[derive(Debug, Default)]
struct Line {
    head: Arc<Lock<Known>>,
    patience: Patience,
}

/// The turn of one writer, with the remembered head; `None` after a time-out.
#[derive(Debug)]
pub(super) struct Turn(Option<OwnedMutexGuard<Known>>);

impl Turns {
    /// Waits for the next turn at the head of a partition.
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
    /// Takes the remembered head. If a writer is dropped before [`leave`](Self::leave), the next writer reads the head.
    pub(super) fn take(&mut self) -> Known {
        self.0.as_mut().and_then(|known| known.take())
    }

    /// Leaves the head for the next writer.
    pub(super) fn leave(mut self, head: Known) {
        if let Some(known) = self.0.as_mut() {
            **known = head;
        }
    }
}
