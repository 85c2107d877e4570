//! Failures of a command, with their message, next step, and exit code.

use std::error::Error as _;
use std::{fmt, io};

use table_inspect::record::FileError;

/// The exit code of a command. Exit codes are stable, so scripts can branch on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command succeeded. A query found at least one entity.
    Done = 0,
    /// A query, a count or a comparison found nothing.
    Nothing = 1,
    /// The command line is invalid or contradictory.
    Usage = 2,
    /// The command refused to run, or the store rejected a condition or an invalid value. The message reports all changes made, if any.
    Refused = 3,
    /// The store, the network or the disk failed.
    Store = 4,
    /// The command finished, but a store omitted rows that it cannot represent as entities. The result lacks these rows.
    Omitted = 5,
}

impl Exit {
    /// Returns `Omitted` if a store omitted rows. Returns this exit code otherwise.
    #[must_use]
    pub const fn after_omitting(self, rows: u64) -> Self {
        if rows == 0 { self } else { Self::Omitted }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The reason why a command ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line is invalid or contradictory.
    #[error("{0}")]
    Usage(String),
    /// The command refused to run. The message contains the fact and the next step.
    #[error("{0}")]
    Refused(String),
    /// An error from the store, with its code, key, rule and cause.
    #[error("{}", WithCause(.0))]
    Store(#[from] table_core::Error),
    /// A file could not be accessed.
    #[error("{path}: {source}")]
    File {
        /// The path of the file, or `-` for standard input or output.
        path: String,
        /// The cause.
        source: io::Error,
    },
}

/// Formats an error from a store, followed by the cause that the operating system reported, if any. A store names the file or the request that failed, but not
/// the cause, such as a missing permission.
pub(crate) struct WithCause<'a>(pub(crate) &'a table_core::Error);

impl fmt::Display for WithCause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        f.write_str(&text)?;
        let causes = std::iter::successors(self.0.source(), |&cause| cause.source());
        let reported = causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).last();
        match reported.map(ToString::to_string).filter(|cause| !text.contains(cause)) {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl From<table_inspect::Error> for Failure {
    fn from(error: table_inspect::Error) -> Self {
        match error {
            table_inspect::Error::Condition(text) => Self::Usage(text),
            table_inspect::Error::Derived(text) => Self::Refused(text),
            table_inspect::Error::Store(error) => Self::Store(error),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Refused(text) => Self::Refused(text),
            FileError::Io(error) => Self::file("-")(error),
        }
    }
}

impl Failure {
    /// Returns a function that converts an I/O error to a `File` failure for `path`.
    pub fn file(path: impl fmt::Display) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_string();
        move |source| Self::File { path, source }
    }

    /// Returns the exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Refused(_) => Exit::Refused,
            // The store is working, and the same command would fail again.
            Self::Store(error)
                if error.is_precondition_failed()
                    || error.is_already_exists()
                    || error.is_invalid_input() =>
            {
                Exit::Refused
            }
            Self::Store(_) | Self::File { .. } => Exit::Store,
        }
    }

    /// Returns a hint about the usual cause of a store error. The error's own message cannot mention this program's options.
    #[must_use]
    pub fn next_step(&self) -> Option<&'static str> {
        use table_core::ErrorCode as Code;
        let Self::Store(error) = self else { return None };
        Some(match error.code() {
            Code::TableNotFound => "`tables ls` lists the tables of the store",
            Code::FolderLocked => {
                "another process has the folder open for writing; commands that only read still work"
            }
            Code::AuthenticationFailed => {
                "check the key, and that the signature has not expired; `tables doctor` tests a connection step by step"
            }
            Code::AuthorizationFailure | Code::AuthorizationPermissionMismatch => {
                "the signature lacks a permission for this command; `tables doctor` lists what it allows"
            }
            Code::ServerBusy => "the store throttles; run the command again later, or with a lower `--rate`",
            _ if error.is_ambiguous() => {
                "the last write may have been applied; run the command again to complete it"
            }
            _ => return None,
        })
    }
}

/// The result of a command.
pub type Result<T, E = Failure> = std::result::Result<T, E>;
