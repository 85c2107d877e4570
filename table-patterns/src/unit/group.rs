//! Group commit: several transactions of one process are committed as one.

use std::sync::Arc;

use futures_util::FutureExt;
use table_core::Result;
use table_core::key::RowKey;
use table_core::operation::Operation;
use table_core::store::TableStore;
use table_core::transaction::Transaction;

use crate::entities::{ChangeRecord, Group, Joined, Recorded, Recorder, SeenRows, StepRecorder, Turn, sent};
use crate::unit::UnitOfWork;
use crate::unit::transaction::{Attempts, Finished};

impl<S: TableStore + Clone + 'static, O: StepRecorder> UnitOfWork<S, O> {
    /// Adds the unit to the turn's open group, or opens a new group. Returns `None` if the group refuses the unit.
    pub(super) fn join(
        &self,
        turn: &Turn,
        open: Option<&Arc<Group>>,
        operations: &[Operation],
    ) -> Option<(Arc<Group>, Joined)> {
        let group = open.map_or_else(|| Arc::new(self.new_group(turn)), Arc::clone);
        self.reads.pass_to(&group);
        let planned = self.draft.planned();
        let admission = (Arc::new(self.admissions.clone()) as _, planned.is_whole());
        let joined = group.join(operations, planned.records(), admission)?;
        if open.is_none() {
            turn.open(&group);
        }
        Some((group, joined))
    }

    /// Waits until the unit's group has been committed, and returns the unit's outcome.
    pub(super) async fn finish_in(
        &self,
        group: &Arc<Group>,
        joined: Joined,
        recorded: usize,
        attempts: &mut Attempts<'_>,
    ) -> Result<Finished> {
        match group.outcome().await {
            Ok(versions) => {
                attempts.contention.won(self.rivals.as_ref(), None);
                if recorded > 0 {
                    self.outbox.recorded(&self.table, self.draft.planned().partition_key()).await;
                }
                let version = |(row_key, writer): (RowKey, u64)| {
                    let known = versions.get(&row_key).filter(|(last, _)| *last == writer);
                    (row_key, known.and_then(|(_, etag)| etag.clone()))
                };
                let entities = self.draft.planned().entities().len();
                Ok(Finished::Committed(self.written(joined.into_iter().take(entities).map(version))))
            }
            Err(error) if error.is_ambiguous() => Err(error),
            Err(error) => {
                if error.is_conflict() {
                    attempts.contention.lost();
                }
                attempts.is_alone = true;
                Ok(Finished::Again(None))
            }
        }
    }

    /// Opens a group for units in the partition.
    fn new_group(&self, turn: &Turn) -> Group {
        let (store, table, limits) =
            (self.store.clone(), self.table.clone(), self.store.capabilities().limits);
        let partition_key = self.draft.planned().partition_key().clone();
        let of_partition = partition_key.clone();
        let seen = self.seen.clone();
        let commit = move |operations: Vec<Operation>, records: Vec<ChangeRecord>, recorder: Recorder| {
            async move {
                let mut transaction = Transaction::new(of_partition, limits)?;
                for Operation { row_key, kind } in operations {
                    transaction.push(Operation { row_key, kind: sent(kind, store.capabilities())? })?;
                }
                let rows = SeenRows::rows(transaction.operations());
                let partition = transaction.partition_key().clone();
                let committed = match recorder.filter(|_| !records.is_empty()) {
                    // A lost race is treated like any other conflict: the members then run alone, and count their lost attempts.
                    Some(recorder) => match recorder.commit(&table, transaction, &records).await? {
                        Recorded::Committed { committed, is_shared } => {
                            seen.recorded((&table, &partition), is_shared);
                            committed
                        }
                        Recorded::Lost(error) => return Err(error),
                    },
                    None => store.submit(&table, transaction).await?,
                };
                seen.committed((&table, &partition), &rows, &committed);
                Ok(committed)
            }
            .boxed()
        };
        Group::new(partition_key, limits, turn.timer(self.retry.runtime()), Box::new(commit))
    }
}
