//! Errors of layout files: files that cannot be read, and layouts that differ from the program.

use std::io;
use std::path::PathBuf;

use table_store::Fault;

use crate::schema::Compatibility;

/// A request to review the differences, written at the top of each layout file and in the error for a difference.
pub(super) const HEAD: &str = "review the changes before you commit them";

/// The reason why a layout file cannot be read or written, or does not match the program.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum LayoutFileFault {
    #[error("TABLES_UPDATE is `{0}`; set it to `1` or `force`, or unset it")]
    #[fault(InvalidInput)]
    Variable(String),
    #[error("`{0}` is not a line of a layout file; restore the file, or delete it and generate it again")]
    #[fault(Corrupted)]
    Line(String),
    #[error("the sample cannot be written as JSON")]
    #[fault(OutOfRangeInput)]
    Sample(#[source] serde_json::Error),
    #[error("cannot {verb} {path}", path = .path.display())]
    #[fault(Io)]
    File { verb: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "{path} {difference}: {compatibility}\n{report}\nif this is intended, `TABLES_UPDATE={accept} cargo test` rewrites the file ({HEAD})",
        path = .path.display(),
        difference = if *.is_missing { "does not exist" } else { "differs from the program" },
        accept = if .compatibility.is_allowed() { "1" } else { "force" }
    )]
    #[fault(SchemaMismatch)]
    Difference { path: PathBuf, is_missing: bool, compatibility: Compatibility, report: String },
}
