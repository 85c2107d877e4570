//! Planned requests, one per operation.

use serde_json::Value as Json;
use table_core::limits::Limits;
use table_core::row::{Row, entity_bytes, merge};
use table_core::{ETag, IfMatch, Operation, OperationKind, Result};

use crate::item::{self, Found, ItemKey};
use crate::key;
use crate::mapping::Mapping;

/// An `ETag` that matches no item. A write with this condition is rejected with 404 if the item does not exist, and with 412 if it exists.
const NEVER: &str = "\"never\"";

/// The verb of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Create,
    Replace,
    Upsert,
    Delete,
}

/// The per-operation overhead in a batch body, in bytes.
const ENVELOPE: usize = r#"{"operationType":"Replace","id":,"resourceBody":,"ifMatch":},"#.len();

/// The planned request for one operation. If the service does not support the operation, as for a merge, it becomes a read and a write.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) verb: Verb,
    pub(crate) row_key: String,
    /// The item to write, or `None` for a delete.
    pub(crate) body: Option<Json>,
    /// The `ETag` that the item must have, in the request format.
    pub(crate) if_match: Option<String>,
    /// The statuses that mean that a concurrent writer changed the entity after it was read.
    races: &'static [u16],
}

/// The context for planning the requests of a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) mapping: &'a Mapping,
    pub(crate) levels: &'a [String],
    /// The write identifier stored in the items.
    pub(crate) write: &'a str,
    /// `true` if every change must be conditional on the version read.
    pub(crate) exact: bool,
    pub(crate) limits: &'a Limits,
}

impl Context<'_> {
    /// Returns `true` if the request for an operation depends on the stored entity, which must then be read first.
    ///
    /// A merge needs the stored properties. A replace needs them if it keeps members written by other programs. If `exact` is `true`, every unconditional
    /// change is sent with the stored `ETag`, so a second delivery of the request fails.
    pub(crate) const fn reads_first(&self, kind: &OperationKind) -> bool {
        match kind {
            OperationKind::Merge(..) | OperationKind::InsertOrMerge(_) => true,
            OperationKind::Replace(_, IfMatch::ETag(_)) => !self.mapping.is_standard,
            OperationKind::Replace(_, IfMatch::Any)
            | OperationKind::Delete(IfMatch::Any)
            | OperationKind::InsertOrReplace(_) => self.exact,
            _ => false,
        }
    }
}

/// Returns `true` if an operation can create an entity.
pub(crate) const fn creates(kind: &OperationKind) -> bool {
    matches!(
        kind,
        OperationKind::Insert(_) | OperationKind::InsertOrReplace(_) | OperationKind::InsertOrMerge(_)
    )
}

/// The verb, the body and the condition of a request. The last field contains the statuses that mean that a concurrent writer changed the entity.
type Parts = (Verb, Option<Json>, Option<String>, &'static [u16]);

impl Planned {
    /// Returns the request for an operation. `stored` is the stored item, if it was read.
    pub(crate) fn new(context: Context<'_>, operation: &Operation, stored: Option<&Found>) -> Result<Self> {
        let Context { mapping, levels, write, exact, limits } = context;
        let row_key = operation.row_key.as_str();
        let item_key = ItemKey { levels, row_key };
        // An item that does not match the table's mapping belongs to another program, and must not be changed.
        if let Some(stored) = stored.filter(|_| !mapping.is_standard) {
            stored.read(mapping, item_key)?;
        }
        let document = |row: &Row, stored: Option<&Found>| {
            item::write(mapping, item_key, row.view(), write, stored.map(Found::json)).map(Some)
        };
        // The size limits apply to the result of a merge (SIZE-6).
        let merged = |stored: &Found, row: &Row| -> Result<Option<Json>> {
            let entity = stored.read(mapping, item_key)?;
            let row = merge(entity.row.view(), row.view())?;
            limits.check_row(row.view())?;
            limits.check_entity_bytes(entity_bytes(&key::join(levels), row_key, Some(&row)))?;
            document(&row, Some(stored))
        };
        let (verb, body, if_match, races): Parts = match &operation.kind {
            OperationKind::Insert(row) => (Verb::Create, document(row, None)?, None, &[]),
            OperationKind::InsertOrReplace(row) if !exact => (Verb::Upsert, document(row, None)?, None, &[]),
            OperationKind::InsertOrReplace(row) | OperationKind::InsertOrMerge(row) => match stored {
                None => (Verb::Create, document(row, None)?, None, &[409]),
                Some(stored) => {
                    let is_merge = matches!(operation.kind, OperationKind::InsertOrMerge(_));
                    let body = if is_merge { merged(stored, row)? } else { document(row, Some(stored))? };
                    (Verb::Replace, body, Some(stored.sent_etag()), &[404, 412])
                }
            },
            OperationKind::Check(state) => return Err(state.unsupported()),
            OperationKind::Delete(condition) => {
                let (if_match, races) = conditioned(condition, stored, exact);
                (Verb::Delete, None, if_match, races)
            }
            OperationKind::Replace(row, condition) if !context.reads_first(&operation.kind) => {
                let (if_match, races) = conditioned(condition, stored, exact);
                (Verb::Replace, document(row, None)?, if_match, races)
            }
            OperationKind::Replace(row, condition) | OperationKind::Merge(row, condition) => match stored {
                Some(stored) if condition.accepts(&stored.etag) => {
                    let (if_match, races) = conditioned(condition, Some(stored), true);
                    let is_merge = matches!(operation.kind, OperationKind::Merge(..));
                    let body = if is_merge { merged(stored, row)? } else { document(row, Some(stored))? };
                    (Verb::Replace, body, if_match, races)
                }
                // The replace has an `ETag` that never matches, so the service rejects the operation and reports its index (EGT-10). The caller's condition is
                // not sent. If the read was stale, the service might accept that condition, and the members that were not read would be lost.
                _ => {
                    let races: &[u16] = if matches!(condition, IfMatch::Any) { &[412] } else { &[] };
                    (Verb::Replace, document(row, None)?, Some(NEVER.to_owned()), races)
                }
            },
        };
        Ok(Self { verb, row_key: row_key.to_owned(), body, if_match, races })
    }

    /// Returns the size of the operation in a request body, in bytes. In a batch, an operation also contains the id and the condition.
    pub(crate) fn sent_bytes(&self, in_batch: bool) -> usize {
        let text = |text: &str| Json::from(text).to_string().len();
        let body = self.body.as_ref().map_or(0, |body| body.to_string().len());
        if in_batch {
            body + ENVELOPE + text(&key::id(&self.row_key)) + self.if_match.as_deref().map_or(0, text)
        } else {
            body
        }
    }

    /// Returns `true` if the request inserts an item, and is rejected if the key exists.
    pub(crate) fn is_creation(&self) -> bool {
        self.verb == Verb::Create
    }

    /// Returns `true` if the status of a rejection means that the entity was changed after it was read. A concurrent writer then committed first.
    pub(crate) fn lost_a_race(&self, status: u16) -> bool {
        self.races.contains(&status)
    }

    /// Returns `true` if a second delivery of the request is rejected, whatever is written between the two deliveries.
    pub(crate) const fn is_guarded(&self) -> bool {
        self.if_match.is_some()
    }

    /// Returns `true` if the stored item still satisfies the condition of the request. Also returns `true` if no item can satisfy the condition.
    pub(crate) fn condition_holds(&self, stored: Option<&ETag>) -> bool {
        match self.if_match.as_deref() {
            None => false,
            Some(NEVER) => true,
            Some(condition) => stored.is_some_and(|etag| item::sent_etag(etag) == condition),
        }
    }
}

/// Returns the condition for changing an existing entity, and the statuses that mean that a concurrent writer committed first.
fn conditioned(condition: &IfMatch, stored: Option<&Found>, exact: bool) -> (Option<String>, &'static [u16]) {
    match (condition, stored) {
        (IfMatch::ETag(etag), _) => (Some(item::sent_etag(etag)), &[]),
        (IfMatch::Any, _) if !exact => (None, &[]),
        (IfMatch::Any, Some(stored)) => (Some(stored.sent_etag()), &[412]),
        (IfMatch::Any, None) => (Some(NEVER.to_owned()), &[412]),
    }
}
