//! Errors from maintaining copies: changed keys, dangling references, and unknown relations.

use table_core::Fault;
use table_core::key::EntityKey;
use table_core::name::TableName;

/// An error from maintaining the copies of an entity.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum CopyFault {
    #[error("a relation changed the key of its holder; it may set copied properties only")]
    #[fault(InvalidInput, "UPD-6")]
    CopiedKey,
    #[error("an entity cannot be its own source; refer to another entity")]
    #[fault(InvalidInput, "PAT-DEN-2")]
    OwnSource,
    #[error(
        "the entity refers to a source that does not exist; insert the source first or remove the reference"
    )]
    #[fault(ResourceNotFound, "PAT-DEN-2")]
    NoSource,
    #[error(
        "{holder} in table `{table}` refers to this entity by relation `{relation}`; change or remove that reference first"
    )]
    #[fault(InvalidInput, "PAT-DEN-2")]
    Referred { holder: EntityKey, table: TableName, relation: &'static str },
    #[error("`clear` of relation `{0}` did not remove the reference; remove it, too")]
    #[fault(InvalidInput, "PAT-DEN-2")]
    Cleared(&'static str),
    #[error(
        "a holder has copies by relation `{0}`, which this handle does not know; open the table with `create_if_missing`, or declare the relation on the \
         source by `copied_by`"
    )]
    #[fault(Unsupported, "PAT-DEN-2")]
    UnknownRelation(String),
    #[error("copies form a circle in which each change causes another one: {0}; remove a reference")]
    #[fault(InvalidInput, "PAT-DEN-2")]
    Circle(String),
    #[error("the RowKey of a source has at most {0} UTF-16 code units; shorten it or remove the relation")]
    #[fault(PropertyValueTooLarge, "KEY-8")]
    LongSource(usize),
}
