//! The faults of the engine as a whole: its state, its threads, its clock, and requests refused before they reach the writer.

use std::io;

use crate::error::{Error, ErrorCode, Fault};

/// A request that the engine refuses or did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineFault {
    #[error("the engine was closed; open it again")]
    Closed,
    #[error("the engine was opened for reading only; open the folder for writing")]
    ReadOnly,
    #[error(
        "writing has stopped, and running writes may or may not have been applied; open the engine again and read"
    )]
    Poisoned(#[source] Error),
    #[error(
        "the engine's writer has stopped, and running writes may or may not have been applied; open it again"
    )]
    WriterGone,
    #[error("the engine's writer panicked: {0}")]
    Panicked(String),
    #[error("the checkpoint thread has stopped")]
    CheckpointsStopped,
    #[error("the thread {name} cannot be started")]
    Thread { name: String, source: io::Error },
    #[error(
        "the clock or the last Timestamp is at the end of the year 9999; nothing was written, because Timestamps and ETags are \
         never reused; set the clock"
    )]
    EndOfTime,
    #[error("an engine in memory has no files to copy; read its tables instead")]
    InMemory,
    #[error("a stored key does not contain the end of its partition")]
    StoredKey,
    #[error("the transaction has no operations; add one, or do not submit it")]
    NoOperations,
    #[error("$top is {top}; at most {most} are allowed; follow the continuation")]
    Top { top: usize, most: usize },
    #[error("busy, as configured by the options; retry with back-off")]
    Busy,
    #[error("the response was lost, as configured by the options; the write may have been applied")]
    LostAnswer,
}

impl Fault for EngineFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Closed => (ErrorCode::EngineClosed, None),
            Self::ReadOnly => (ErrorCode::ReadOnly, None),
            Self::Poisoned(_) | Self::WriterGone => (ErrorCode::EnginePoisoned, None),
            Self::Panicked(_) | Self::CheckpointsStopped => (ErrorCode::InternalError, None),
            Self::Thread { .. } => (ErrorCode::Io, None),
            Self::EndOfTime => (ErrorCode::InternalError, Some("CON-12")),
            Self::InMemory => (ErrorCode::InvalidInput, None),
            Self::StoredKey => (ErrorCode::Corrupted, None),
            Self::NoOperations => (ErrorCode::InvalidInput, Some("EGT-12")),
            Self::Top { .. } => (ErrorCode::InvalidInput, Some("TOP-2")),
            Self::Busy => (ErrorCode::ServerBusy, Some("ENG-14")),
            Self::LostAnswer => (ErrorCode::OperationTimedOut, Some("CON-11")),
        }
    }
}
