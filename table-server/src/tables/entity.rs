//! Single-entity writes: the request and its response (INS, UPD, MRG, UPS, DEL, IFM rules).

use http::header::{IF_MATCH, IF_NONE_MATCH};
use table_core::etag::IfMatch;
use table_core::limits::{Limits, TransactionMeasure};
use table_core::odata::{Context, MetadataLevel, Sender, entity_link, read_entity, write_entity};
use table_core::operation::{Operation, OperationKind};
use table_core::query::{EntityRef, Select};
use table_core::store::TableStore;
use table_core::{ETag, EntityKey, Row, TableName, Transaction};

use crate::account::Account;
use crate::answer::{Answer, etag_text, json};
use crate::cost::Cost;
use crate::exchange::Exchange;
use crate::refusal::Refusal;
use crate::tables::path::check_characters;
use crate::tables::preference::Preference;

/// The write-related data of a request, which is either a complete HTTP request or a part of a batch.
#[derive(Debug)]
pub(super) struct Sent<'a> {
    pub(super) verb: &'a str,
    pub(super) if_match: Option<&'a str>,
    /// `true` if the request has `If-None-Match`.
    pub(super) has_none_match: bool,
    pub(super) preference: Option<Preference>,
    pub(super) body: &'a [u8],
}

/// The write described by a request.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) table: TableName,
    pub(super) key: EntityKey,
    pub(super) kind: OperationKind,
    preference: Option<Preference>,
}

impl Call {
    pub(super) fn of(
        exchange: &Exchange,
        verb: &str,
        (table, key): (TableName, Option<EntityKey>),
    ) -> Result<Self, Refusal> {
        let sent = Sent {
            verb,
            if_match: exchange.single(&IF_MATCH)?,
            has_none_match: exchange.headers.contains_key(IF_NONE_MATCH),
            preference: Preference::of(exchange),
            body: &exchange.body,
        };
        Self::new(&sent, table, key)
    }

    pub(super) fn new(sent: &Sent<'_>, table: TableName, key: Option<EntityKey>) -> Result<Self, Refusal> {
        let condition = sent.if_match.map(condition).transpose()?;
        let preference = sent.preference;
        let Some(key) = key else {
            let mut body = read_entity(sent.body, Sender::Client)?;
            for (name, text) in [("PartitionKey", &body.partition_key), ("RowKey", &body.row_key)] {
                check_characters(name, text.as_deref().unwrap_or_default())?;
            }
            let key = body.take_key()?;
            return Ok(Self { table, key, kind: OperationKind::Insert(body.row), preference });
        };
        if sent.has_none_match {
            // If the condition were ignored, an entity could be overwritten or deleted contrary to the client's intention (IFM-2).
            return Err(Refusal::input(none_match(sent)));
        }
        if sent.verb == "DELETE" {
            let condition = condition.ok_or_else(|| {
                Refusal::new(400, "MissingRequiredHeader", "a delete needs If-Match: an ETag, or `*`")
            })?;
            return Ok(Self { table, key, kind: OperationKind::Delete(condition), preference });
        }
        let body = read_entity(sent.body, Sender::Client)?;
        let names_other =
            |found: &Option<String>, key: &str| found.as_ref().is_some_and(|found| found != key);
        if names_other(&body.partition_key, key.partition_key.as_str())
            || names_other(&body.row_key, key.row_key.as_str())
        {
            return Err(Refusal::input(
                "the body has another PartitionKey or RowKey than the URL; send equal keys, or only those of the URL",
            ));
        }
        let row = body.row;
        let kind = match (sent.verb, condition) {
            ("PUT", Some(condition)) => OperationKind::Replace(row, condition),
            ("PUT", None) => OperationKind::InsertOrReplace(row),
            (_, Some(condition)) => OperationKind::Merge(row, condition),
            (_, None) => OperationKind::InsertOrMerge(row),
        };
        Ok(Self { table, key, kind, preference })
    }

    /// Returns the row for an insert response. Returns `None` for other writes, or if the client prefers not to receive the entity.
    pub(super) fn echo(&self) -> Option<Row> {
        match &self.kind {
            OperationKind::Insert(row) if self.preference != Some(Preference::NoContent) => Some(row.clone()),
            _ => None,
        }
    }

    /// Returns the response to the applied write.
    pub(super) fn done(&self, written: &Written<'_>, etag: Option<ETag>) -> Result<Answer, Refusal> {
        let Some(etag) = etag else { return Ok(Answer::new(204)) };
        let mut answer = Answer::new(204).header("ETag", etag_text(&etag));
        if !written.insert {
            return Ok(answer);
        }
        let link =
            entity_link(self.table.as_str(), self.key.partition_key.as_str(), self.key.row_key.as_str());
        let location = [written.base, "/", &link].concat();
        if let Some(preference) = self.preference {
            answer = answer.header("Preference-Applied", preference.name());
        }
        answer = answer.header("Location", location.clone());
        let Some(row) = written.echo.clone() else { return Ok(answer.header("DataServiceId", location)) };
        let row = row.with_timestamp(etag.ticks().unwrap_or_default());
        let entity = EntityRef::new(self.key.partition_key.as_str(), self.key.row_key.as_str(), row.view());
        let context = Context {
            base: written.base,
            account: written.account,
            table: self.table.as_str(),
            select: &Select::All,
        };
        answer.status = 201;
        Ok(answer.body(json(written.level), write_entity(entity, written.level, &context)?))
    }
}

/// Parses the value of an `If-Match` header.
///
/// # Errors
/// `InvalidInput`, with the service's message, if the value is neither `*` nor a single ETag (IFM-1, IFM-3).
fn condition(text: &str) -> Result<IfMatch, Refusal> {
    IfMatch::parse(text).map_err(|error| {
        let sentence = format!(
            "The etag value '{text}' specified in one of the request headers is not valid. Please make sure only one etag value is specified and is \
             valid."
        );
        Refusal { message: sentence.into(), ..error.into() }
    })
}

/// Returns the service's error message for a write with `If-None-Match`.
const fn none_match(sent: &Sent<'_>) -> &'static str {
    if sent.if_match.is_some() {
        return "Both If-Match and If-None-Match HTTP headers cannot be specified at the same time. Please specify either one of the headers or none \
                of them.";
    }
    match sent.verb.as_bytes() {
        b"DELETE" => "If-None-Match HTTP header cannot be specified for DELETE operations.",
        _ => "If-None-Match HTTP header cannot be specified for PUT operations.",
    }
}

/// The response data known before a write is applied.
#[derive(Debug)]
pub(super) struct Written<'a> {
    pub(super) base: &'a str,
    pub(super) account: &'a str,
    pub(super) level: MetadataLevel,
    pub(super) insert: bool,
    pub(super) echo: Option<Row>,
}

/// Applies a single write, as a transaction with one operation.
pub(super) async fn write<S: TableStore>(
    store: &S,
    account: &Account,
    mut call: Call,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let insert = matches!(call.kind, OperationKind::Insert(_));
    let level = if insert { exchange.level()? } else { MetadataLevel::Minimal };
    account.traffic.entities(call.table.folded(), call.key.partition_key.as_str(), 1)?;
    let echo = call.echo();
    let written = Written { base: &exchange.base, account: account.name(), level, insert, echo };
    let mut transaction = Transaction::new(call.key.partition_key.clone(), limits(store)).map_err(alone)?;
    let kind = std::mem::replace(&mut call.kind, OperationKind::Delete(IfMatch::Any));
    transaction.push(Operation { row_key: call.key.row_key.clone(), kind }).map_err(alone)?;
    let etags = store.submit(&call.table, transaction).await.map_err(alone)?;
    Ok(call.done(&written, etags.into_iter().next().flatten())?.cost(Cost::write(1)))
}

/// Returns the transaction limits. The server limits the request body size (EGT-3) rather than the total UTF-16 size of the entities, which may be twice as
/// large.
pub(super) fn limits<S: TableStore>(store: &S) -> Limits {
    let mut limits = store.capabilities().limits;
    limits.measure = TransactionMeasure::Unmeasured;
    limits
}

/// Converts an error to a rejection without an operation index, because the operation was not part of a batch.
fn alone(error: table_core::Error) -> Refusal {
    Refusal { index: None, ..error.into() }
}
