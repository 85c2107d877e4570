//! Reads one entity by its key, or one page of a query (GET, QRY, SEL, PAGE rules).

use reqwest::Method;
use table_core::odata::{MetadataLevel, Sender, entity_link, read_entity, read_rows_or_skip};
use table_core::query::{Continuation, Page, Position, Query, Rows, Select};
use table_core::store::StoredRow;
use table_core::{ETag, EntityKey, Error, ErrorCode, Result, TableName};
use tokio::time::Instant;

use crate::client::AzureTables;
use crate::failure::AnswerFault;
use crate::http::{Answer, Request};
use crate::json;
use crate::operation_id;

/// The maximum number of custom properties in `$select`. Together with the three system properties, this is the service's limit (SEL-1).
const MOST_NAMES: usize = 252;
/// The maximum total length of the path, the filter and `$select` in a URL, in bytes. The service accepts URLs of about 32 KiB (FIL-8). This limit leaves room
/// for the host, a continuation token and a signature.
const MOST_BYTES: usize = 16 << 10;

impl AzureTables {
    /// Reads an entity as stored, including its write identifier. Returns `None` if the entity does not exist.
    pub(crate) async fn read_entity(
        &self,
        table: &TableName,
        key: &EntityKey,
        select: &Select,
        by: Instant,
    ) -> Result<Option<StoredRow>> {
        const OPERATION: &str = "get";
        let path = entity_link(table.as_str(), key.partition_key.as_str(), key.row_key.as_str());
        let request = Request::new(OPERATION, Method::GET, format!("/{path}"))
            .fixed("accept", MetadataLevel::Minimal.media_type())
            .fixed("dataserviceversion", "3.0");
        let (request, is_narrowed) = selected(request, select);
        let answer = match self.pipeline().send_by(&request, by).await {
            Ok(answer) => answer,
            // A 404 page from a proxy does not prove that the entity is missing.
            Err(failure) if failure.known && failure.error.code() == ErrorCode::ResourceNotFound => {
                return Ok(None);
            }
            Err(failure) => return Err(failure.into_error(true)),
        };
        let body = read_entity(json::body(OPERATION, &answer)?, Sender::Service)
            .map_err(|error| unreadable(OPERATION, key, error))?;
        // A different key means that the response belongs to another request, or does not come from the service.
        let found = (body.partition_key.as_deref(), body.row_key.as_deref());
        if found != (Some(key.partition_key.as_str()), Some(key.row_key.as_str())) {
            return Err(Error::of(AnswerFault::Key { operation: OPERATION }));
        }
        let etag = match body.etag {
            Some(etag) => etag,
            None => ETag::parse(answer.header("etag")).map_err(|error| json::malformed(OPERATION, error))?,
        };
        let row = if is_narrowed {
            body.row
        } else {
            select.project(body.row).map_err(|error| json::malformed(OPERATION, error))?
        };
        Ok(Some(StoredRow { row, etag }))
    }

    /// Reads one page of a query.
    pub(crate) async fn read_page(
        &self,
        table: &TableName,
        query: &Query,
        from: Option<&Continuation>,
    ) -> Result<Page> {
        const OPERATION: &str = "query";
        query.check(self.known_capabilities().top)?;
        let position = from.map(|from| from.service_position(table, query)).transpose()?;
        let request = Request::new(OPERATION, Method::GET, format!("/{table}()"))
            .fixed("accept", MetadataLevel::Minimal.media_type())
            .fixed("dataserviceversion", "3.0");
        let request = match query.filter_text() {
            Some(filter) => request.query("$filter", &filter),
            None => request,
        };
        let (mut request, is_narrowed) = selected(request, &query.select);
        if let Some(top) = query.top {
            request = request.query("$top", &top.to_string());
        }
        if let Some(position) = position {
            request = request.query("NextPartitionKey", &position.partition_key);
            if let Some(row_key) = &position.row_key {
                request = request.query("NextRowKey", row_key);
            }
        }
        let answer = self.pipeline().send(&request).await.map_err(|failure| failure.into_error(true))?;
        let mut skipped = 0;
        let skip = |error: Error| {
            skipped += 1;
            let error = error.with_table(table.as_str());
            tracing::warn!(target: "table_azure", %error, "an entity was skipped");
        };
        let rows = read_rows_or_skip(json::body(OPERATION, &answer)?, skip)
            .and_then(|rows| if is_narrowed { Ok(rows) } else { narrow(&rows, &query.select) })
            .and_then(|rows| if self.shows(&query.select) { Ok(rows) } else { operation_id::none_in(&rows) })
            .map_err(|error| json::malformed(OPERATION, error))?;
        // Azurite sends a continuation token even with the empty page of a query with `$top=0` (AZ-13).
        let next = next(OPERATION, &answer)?.filter(|_| query.top != Some(0));
        let continuation = next.map(|position| Continuation::of_service(table, query, position));
        tracing::debug!(
            target: "table_azure",
            operation = OPERATION,
            table = table.as_str(),
            class = %query.keys.class(),
            rows_returned = rows.len(),
            more = continuation.is_some(),
        );
        Ok(Page { rows, continuation, rows_read: None, skipped })
    }
}

impl AzureTables {
    /// Reads an entity, and removes the write identifier from the result.
    pub(crate) async fn read_for_users(
        &self,
        table: &TableName,
        key: &EntityKey,
        select: &Select,
    ) -> Result<Option<StoredRow>> {
        let found = self.read_entity(table, key, select, self.pipeline().deadline()).await?;
        let Some(StoredRow { row, etag }) = found else { return Ok(None) };
        let row = if self.shows(select) { row } else { operation_id::without(row)? };
        Ok(Some(StoredRow { row, etag }))
    }

    /// Returns `true` if rows can be returned as they were read. This is the case if write identifiers are disabled, or if the selection does not include their
    /// property.
    pub(crate) fn shows(&self, select: &Select) -> bool {
        !self.identifies() || !select.contains(operation_id::PROPERTY)
    }
}

/// Creates the error for a response without a readable entity. If the response contains the requested key, the stored data is invalid, and a retry would also
/// fail.
fn unreadable(operation: &'static str, key: &EntityKey, source: Error) -> Error {
    if source.key() == Some((key.partition_key.as_str(), key.row_key.as_str())) {
        Error::of(AnswerFault::Stored { operation, source })
    } else {
        json::malformed(operation, source)
    }
}

/// Returns the selected property names without the system properties, or `None` if all properties are selected.
fn custom(select: &Select) -> Option<impl Iterator<Item = &str>> {
    let Select::Names(names) = select else { return None };
    let own = |name: &&str| !matches!(*name, "PartitionKey" | "RowKey" | "Timestamp");
    Some(names.iter().map(AsRef::as_ref).filter(own))
}

/// Adds `$select` to a request. The keys and the Timestamp are always selected, because the result needs them (SEL-2).
///
/// If the names are too many or too long for a URL, returns the unchanged request and `false`. The client then reads all properties, and removes the unselected
/// ones.
fn selected(request: Request, select: &Select) -> (Request, bool) {
    let Some(names) = custom(select) else { return (request, true) };
    let (mut text, mut count) = (String::from("PartitionKey,RowKey,Timestamp"), 0);
    for name in names {
        text.push(',');
        text.push_str(name);
        count += 1;
    }
    let narrowed = request.clone().query("$select", &text);
    if count <= MOST_NAMES && narrowed.path.len() + narrowed.query.len() <= MOST_BYTES {
        (narrowed, true)
    } else {
        (request, false)
    }
}

fn narrow(rows: &Rows, select: &Select) -> Result<Rows> {
    let mut narrowed = Rows::default();
    for entity in rows.iter() {
        narrowed.push_selected(entity, select)?;
    }
    Ok(narrowed)
}

/// Returns the continuation token in the response headers (PAGE-2).
///
/// The RowKey in the token may be missing or empty. The PartitionKey may also be missing, because some servers omit an empty key (AZ-12).
fn next(operation: &str, answer: &Answer) -> Result<Option<Position>> {
    let partition_key = answer.position(operation, "x-ms-continuation-nextpartitionkey")?;
    let row_key = answer.position(operation, "x-ms-continuation-nextrowkey")?;
    if partition_key.is_none() && row_key.is_none() {
        return Ok(None);
    }
    Ok(Some(Position { partition_key: partition_key.unwrap_or_default(), row_key }))
}
