//! One operation as what is sent for it.

use serde_json::Value as Json;
use table_core::limits::Limits;
use table_core::row::{Row, entity_bytes, merge};
use table_core::{IfMatch, Operation, OperationKind, Result};

use crate::item::{self, Item};
use crate::key;

/// A tag that no item has: what is replaced under it is refused, as missing or as another version.
const NEVER: &str = "\"never\"";

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Create,
    Replace,
    Upsert,
    Delete,
}

/// One operation, composed where the service has none such.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) verb: Verb,
    pub(crate) row_key: String,
    /// The item; `None` for a delete.
    pub(crate) body: Option<Json>,
    pub(crate) if_match: Option<String>,
    /// Refusals with these statuses say that another writer was faster than the read before.
    races: &'static [u16],
}

/// Whether it needs the entity as it is.
pub(crate) const fn reads_first(kind: &OperationKind) -> bool {
    matches!(kind, OperationKind::Merge(..) | OperationKind::InsertOrMerge(_))
}

/// Whether it stores an entity where none is.
pub(crate) const fn creates(kind: &OperationKind) -> bool {
    matches!(
        kind,
        OperationKind::Insert(_) | OperationKind::InsertOrReplace(_) | OperationKind::InsertOrMerge(_)
    )
}

impl Planned {
    /// The request for an operation, with the item that was read for it.
    pub(crate) fn new(
        levels: &[String],
        operation: &Operation,
        stored: Option<Item>,
        write: &str,
        limits: &Limits,
    ) -> Result<Self> {
        let row_key = operation.row_key.as_str();
        let item = |row: &Row| item::write(levels, row_key, row.view(), write).map(Some);
        let tag = |if_match: &IfMatch| match if_match {
            IfMatch::Any => None,
            IfMatch::ETag(etag) => Some(item::sent_etag(etag)),
        };
        // The limits of a merge are those of its result (SIZE-6).
        let merged = |stored: &Item, row: &Row| -> Result<Option<Json>> {
            let row = merge(stored.row.view(), row.view())?;
            limits.check_row(row.view())?;
            limits.check_entity_bytes(entity_bytes(&key::join(levels), row_key, Some(&row)))?;
            item(&row)
        };
        let (verb, body, if_match, races): (_, _, _, &'static [u16]) = match (&operation.kind, stored) {
            (OperationKind::Insert(row), _) => (Verb::Create, item(row)?, None, &[]),
            (OperationKind::Replace(row, if_match), _) => (Verb::Replace, item(row)?, tag(if_match), &[]),
            (OperationKind::InsertOrReplace(row), _) => (Verb::Upsert, item(row)?, None, &[]),
            (OperationKind::Delete(if_match), _) => (Verb::Delete, None, tag(if_match), &[]),
            (OperationKind::Merge(row, IfMatch::Any), Some(stored)) => {
                (Verb::Replace, merged(&stored, row)?, Some(item::sent_etag(&stored.etag)), &[412])
            }
            // Of another version: refused by the service, in its place among the operations (EGT-10).
            (OperationKind::Merge(row, if_match), Some(stored)) if !if_match.accepts(&stored.etag) => {
                (Verb::Replace, item(row)?, tag(if_match), &[])
            }
            (OperationKind::Merge(row, if_match), Some(stored)) => {
                (Verb::Replace, merged(&stored, row)?, tag(if_match), &[])
            }
            (OperationKind::Merge(row, if_match), None) => {
                let never = matches!(if_match, IfMatch::Any);
                let races: &[u16] = if never { &[412] } else { &[] };
                (Verb::Replace, item(row)?, tag(if_match).or_else(|| Some(NEVER.to_owned())), races)
            }
            (OperationKind::InsertOrMerge(row), Some(stored)) => {
                (Verb::Replace, merged(&stored, row)?, Some(item::sent_etag(&stored.etag)), &[404, 412])
            }
            (OperationKind::InsertOrMerge(row), None) => (Verb::Create, item(row)?, None, &[409]),
        };
        Ok(Self { verb, row_key: row_key.to_owned(), body, if_match, races })
    }

    /// Whether a refusal says that another writer was faster than the read before, so that it is made again.
    pub(crate) fn lost_a_race(&self, status: u16) -> bool {
        self.races.contains(&status)
    }
}
