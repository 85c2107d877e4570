//! Turns at the heads of feeds within one process: one writer of a partition at a time, with the head that the previous one left.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, Shared, select};
use futures_util::lock::{Mutex as Lock, OwnedMutexGuard};
use table_core::etag::ETag;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::runtime::Runtime;

use crate::feed::Head;

/// The maximum number of remembered heads.
const REMEMBERED: usize = 100_000;

/// The longest wait for a turn during which no other writer gets one. The writer that holds the turn may no longer be polled. The others then
/// continue without it, and may have a conflict.
const PATIENCE: Duration = Duration::from_millis(200);

type Known = Option<(Head, ETag)>;

/// The heads that this process remembers, by table and partition.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<(String, String), Arc<Line>>>);

/// The writers of one partition.
#[derive(Debug, Default)]
struct Line {
    head: Arc<Lock<Known>>,
    /// The number of turns given so far.
    given: AtomicU64,
    /// The common time-out of all waiting writers, and the number of turns given before.
    alarm: Mutex<Option<(Shared<BoxFuture<'static, ()>>, u64)>>,
}

/// The turn of one writer; without a guard after a time-out.
#[derive(Debug)]
pub(super) struct Turn(Option<OwnedMutexGuard<Known>>);

impl Turns {
    /// Waits for the next turn at the head of a partition.
    pub(super) async fn next(&self, table: &TableName, partition_key: &PartitionKey, pace: &Runtime) -> Turn {
        let line = self.line(table, partition_key);
        loop {
            let guard = if let Some(guard) = line.head.try_lock_owned() {
                guard
            } else {
                let (alarm, before) = line.alarm(pace);
                match select(Arc::clone(&line.head).lock_owned(), alarm).await {
                    Either::Left((guard, _)) => guard,
                    Either::Right(_) if line.given.load(Ordering::Relaxed) == before => {
                        return Turn(None);
                    }
                    Either::Right(_) => continue,
                }
            };
            line.given.fetch_add(1, Ordering::Relaxed);
            return Turn(Some(guard));
        }
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

impl Line {
    /// Returns the common time-out of all waiting writers. A single one is used because the default sleep function needs a thread.
    fn alarm(&self, pace: &Runtime) -> (Shared<BoxFuture<'static, ()>>, u64) {
        let mut alarm = self.alarm.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = alarm.as_ref().filter(|(alarm, _)| alarm.peek().is_none()) {
            return set.clone();
        }
        let pace = pace.clone();
        let sleep = async move { pace.sleep(PATIENCE).await };
        let set = (sleep.boxed().shared(), self.given.load(Ordering::Relaxed));
        *alarm = Some(set.clone());
        set
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
