//! Errors in the text of a stored schema.

use table_store::{Fault, quoted};

/// An error in the text of a schema.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum SchemaFault {
    #[error("the schema has format version {}; use the program that wrote it", quoted(.0))]
    #[fault(FormatTooNew)]
    TooNew(String),
    #[error("the text is not a schema, its first line is not `schema 1`; restore it, or generate it again")]
    #[fault(Corrupted)]
    Start,
    #[error("the text is not a schema, because of the line `{}`; restore it, or generate it again", quoted(.0))]
    #[fault(Corrupted)]
    Line(String),
    #[error("the text is not a schema, it names no entity or table; restore it, or generate it again")]
    #[fault(Corrupted)]
    Nameless,
}
