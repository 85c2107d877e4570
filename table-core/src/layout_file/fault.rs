//! Errors from checking layout files. Either a file cannot be read, or its layouts differ from the program.

use std::io;
use std::path::PathBuf;

use table_store::{ErrorCode, Fault, quoted};

use crate::schema::Compatibility;

/// The reminder to review changes. It appears at the top of each layout file, and in the error for a file that differs.
pub(super) const HEAD: &str = "review the changes before you commit them";

/// The maximum number of characters in a difference report.
const REPORT: usize = 100_000;

/// An error from reading, checking or writing a layout file.
#[derive(Debug, thiserror::Error)]
pub(super) enum LayoutFileFault {
    #[error("TABLES_UPDATE is `{}`; set it to `1` or `force`, or unset it", quoted(.0))]
    Variable(String),
    #[error("`{}` is not a line of a layout file; restore the file", quoted(.0))]
    Line(String),
    #[error(
        "the layout file contains a merge conflict; take the file of one branch, for example with `git checkout --ours`; then \
         `TABLES_UPDATE=1 cargo test` adds the changes of the other branch"
    )]
    Conflict,
    #[error("the sample cannot be written as JSON")]
    Sample(#[source] serde_json::Error),
    #[error("cannot {verb} {path}", path = .path.display())]
    File { verb: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "{path} {difference}: {compatibility}\n{report}\nif this is intended, `TABLES_UPDATE={accept} cargo test` rewrites the file ({HEAD})",
        path = .path.display(),
        difference = if *.is_missing { "does not exist" } else { "differs from the program" },
        accept = if .compatibility.is_allowed() { "1" } else { "force" }
    )]
    Difference { path: PathBuf, is_missing: bool, compatibility: Compatibility, report: String },
}

impl Fault for LayoutFileFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let code = match self {
            Self::Variable(_) => ErrorCode::InvalidInput,
            Self::Line(_) | Self::Conflict => ErrorCode::Corrupted,
            Self::Sample(_) => ErrorCode::OutOfRangeInput,
            Self::File { .. } => ErrorCode::Io,
            Self::Difference { .. } => ErrorCode::SchemaMismatch,
        };
        (code, None)
    }

    /// Returns the maximum length of the message. The limit is larger for a difference, because its message lists every differing line.
    fn longest_message(&self) -> usize {
        if matches!(self, Self::Difference { .. }) { REPORT } else { 1_000 }
    }
}
