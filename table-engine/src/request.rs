//! Requests to the committer, and its responses.

use futures_channel::oneshot::Sender;
use table_store::name::TableName;
use table_store::operation::OperationKind;
use table_store::store::Committed;
use table_store::{Error, Result};

use crate::apply::Writes;
use crate::decision::Decision;

/// A request to the committer.
#[derive(Debug)]
pub(crate) enum Request {
    /// Change tables or their rows.
    Write(Write),
    /// Write the memtable's rows into the base, and compact the base if `compact` is `true`.
    Checkpoint { compact: bool, answer: Sender<Result<()>> },
    /// Make all writes durable and stop.
    Close { answer: Sender<Result<()>> },
    /// Wake the committer. Either the checkpoint thread has finished a job, or a gap was reported.
    Wake,
}

/// A write. It becomes durable together with all other writes in its group.
#[derive(Debug)]
pub(crate) enum Write {
    /// Apply a transaction to a table.
    Submit { table: TableName, writes: Writes, answer: Sender<Result<Committed>> },
    /// Run a decision on the latest state.
    Decide { table: TableName, decision: Box<dyn Decision> },
    /// Replace a table with an empty one.
    Renew { table: TableName, answer: Sender<Result<()>> },
    /// Create a table.
    Create { table: TableName, answer: Sender<Result<()>> },
    /// Drop a table.
    Drop { table: TableName, answer: Sender<Result<()>> },
}

impl Write {
    /// Returns `true` if the write adds no data. A write that only deletes and checks eventually frees space.
    ///
    /// The result is `true` for every decision, because a decision that adds data declares this in its [`Ground`](crate::decision::Ground).
    pub(crate) fn frees(&self) -> bool {
        match self {
            Self::Submit { writes, .. } => writes.operations.iter().all(|(_, operation)| {
                matches!(operation.kind, OperationKind::Delete(_) | OperationKind::Check(_))
            }),
            Self::Decide { .. } | Self::Renew { .. } | Self::Drop { .. } => true,
            Self::Create { .. } => false,
        }
    }

    /// Returns the response to a refused write.
    pub(crate) fn refuse(self, error: Error) -> Answer {
        match self {
            Self::Submit { table, answer, .. } => {
                Answer::Committed(answer, Err(error.with_table(table.as_str())))
            }
            Self::Decide { mut decision, .. } => {
                decision.refuse(error);
                Answer::Decided(decision)
            }
            Self::Renew { answer, .. } | Self::Create { answer, .. } | Self::Drop { answer, .. } => {
                Answer::Done(answer, Err(error))
            }
        }
    }
}

/// A response to a write. It is sent when the group is durable. This also applies to a rejection, because it may depend on other writes in the group.
#[derive(Debug)]
pub(crate) enum Answer {
    Committed(Sender<Result<Committed>>, Result<Committed>),
    Done(Sender<Result<()>>, Result<()>),
    Decided(Box<dyn Decision>),
}

impl Answer {
    /// Returns `true` if this is the response to a decision that has added data.
    pub(crate) fn grows(&self) -> bool {
        matches!(self, Self::Decided(decision) if decision.grows())
    }

    /// Sends the response. If the group failed, `failure` is sent instead. If the caller is no longer waiting, the response is discarded.
    pub(crate) fn send(self, failure: Option<&Error>) {
        match self {
            Self::Committed(to, outcome) => {
                let _ = to.send(failure.map_or(outcome, |error| Err(error.clone())));
            }
            Self::Decided(decision) => decision.answer(failure),
            Self::Done(to, outcome) => {
                let _ = to.send(failure.map_or(outcome, |error| Err(error.clone())));
            }
        }
    }
}
