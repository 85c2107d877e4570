//! Selection errors: keys that cannot be read.

use table_store::Fault;

/// An error caused by a selection whose keys cannot be read.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum SelectionFault {
    #[error("the query reads no keys")]
    #[fault(InvalidInput, "PAGE-9")]
    NoKeys,
    #[error("the range starts after its end, so it contains nothing; swap its ends")]
    #[fault(InvalidInput)]
    Reversed,
    #[error("a limit of 0 entities reads nothing; give a greater one, or leave the limit out")]
    #[fault(InvalidInput, "TOP-2")]
    NoEntities,
    #[error("a page size of 0 entities reads nothing; give a greater one, or leave the page size out")]
    #[fault(InvalidInput, "TOP-3")]
    EmptyPages,
}
