//! Errors of the engine itself. They concern its state, its threads and its clock, and requests that are rejected before they reach the committer.

use std::io;

use table_store::{Error, Fault};

/// An error for a request that the engine rejected or did not answer.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum EngineFault {
    #[error("the engine was closed; open it again")]
    #[fault(EngineClosed)]
    Closed,
    #[error(
        "the engine belongs to the process that opened it, and this process was forked from it; open the folder here after the other process has closed it"
    )]
    #[fault(EngineClosed)]
    OtherProcess,
    #[error("the engine was opened for reading only; open the folder for writing")]
    #[fault(ReadOnly)]
    ReadOnly,
    #[error(
        "writing has stopped, and writes in flight may or may not have been applied; reopen the engine and read"
    )]
    #[fault(EnginePoisoned)]
    Poisoned(#[source] Error),
    #[error(
        "the engine's writer has stopped, and writes in flight may or may not have been applied; reopen the engine"
    )]
    #[fault(EnginePoisoned)]
    WriterGone,
    #[error("the engine's writer panicked: {0}")]
    #[fault(InternalError)]
    Panicked(String),
    #[error("the checkpoint thread has stopped")]
    #[fault(InternalError)]
    CheckpointsStopped,
    #[error("the thread {name} cannot be started")]
    #[fault(Io)]
    Thread { name: String, source: io::Error },
    #[error(
        "the clock or the last Timestamp is at the end of the year 9999; nothing was written, because Timestamps and ETags are \
         never reused; set the clock"
    )]
    #[fault(InternalError, "CON-12")]
    EndOfTime,
    #[error("an engine in memory has no files to copy; read its tables instead")]
    #[fault(InvalidInput)]
    InMemory,
    #[error("a stored key does not contain the end of its partition")]
    #[fault(Corrupted)]
    StoredKey,
    #[error("the transaction has no operations; add one, or do not submit it")]
    #[fault(InvalidInput, "EGT-12")]
    NoOperations,
    #[error("$top is {top}; at most {most} are allowed; follow the continuation")]
    #[fault(InvalidInput, "TOP-2")]
    Top { top: usize, most: usize },
    #[error("busy, as configured by the options; retry with back-off")]
    #[fault(ServerBusy, "ENG-14")]
    Busy,
    #[error("the response was lost, as configured by the options; the write may have been applied")]
    #[fault(OperationTimedOut, "CON-11")]
    LostAnswer,
}
