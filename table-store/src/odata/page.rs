//! Parsing of pages in service responses (JSON-7).

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::key::EntityKey;
use crate::odata::fault::ODataFault;
use crate::odata::members::Members;
use crate::odata::quick;
use crate::odata::reader::{EntityBody, from_json, read_halves};
use crate::odata::surrogates::MARK;
use crate::query::Rows;

/// Reads a page from a service's query response (JSON-7). An unpaired surrogate is read as U+FFFD in a property. In a key, it is read as U+0000, which no key
/// can contain, so [`EntityBody::key`] fails.
///
/// # Errors
/// Any error from [`read_entity`](crate::odata::read_entity).
///
/// ```
/// let json = br#"{"odata.metadata":"x","value":[{"RowKey":"00001"},{"RowKey":"00002"}]}"#;
/// let page = table_core::odata::read_page(json)?;
/// assert_eq!(page.len(), 2);
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn read_page(json: &[u8]) -> Result<Vec<EntityBody>> {
    read_each(json)?.into_iter().collect()
}

/// Reads a page into one result per entity. If an error is caused by the stored data, it contains the entity's key (see [`Members::read_of_service`]).
fn read_each(json: &[u8]) -> Result<Vec<Result<EntityBody>>> {
    #[derive(Deserialize)]
    struct Envelope<T> {
        value: Vec<T>,
    }
    read_halves(json, |json| {
        let page: Envelope<Members<'_>> = from_json(json)?;
        Ok(page.value.iter().map(Members::read_of_service).collect::<Vec<_>>())
    })
}

/// Reads a page into [`Rows`], the form in which stores return pages. Every entity must have a key.
///
/// A page from the service or Azurite requires only a few allocations in total, instead of several per entity. Pages in other formats are read more slowly. An
/// unpaired surrogate in a property is read as U+FFFD. Use [`read_rows_or_skip`] to skip entities that cannot be represented.
///
/// # Errors
/// Any error from [`read_entity`](crate::odata::read_entity) or [`EntityBody::key`]. `OutOfRangeInput` if a key contains an unpaired surrogate (KEY-3).
///
/// ```
/// let json = br#"{"value":[{"PartitionKey":"Sales","RowKey":"00001","Age":34}]}"#;
/// let rows = table_core::odata::read_rows(json)?;
/// assert_eq!(rows.get(0).map(|entity| (entity.row_key, entity.row.len())), Some(("00001", 1)));
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn read_rows(json: &[u8]) -> Result<Rows> {
    quick::rows(json).map_or_else(|| slow_rows(json, Err), Ok)
}

/// Reads a page like [`read_rows`], but skips entities that cannot be represented. For each skipped entity, `skip` is called with the error, which contains the
/// entity's key.
///
/// Azurite and Cosmos DB for Table accept entities that the service rejects, such as an entity with a date-time before 1601 or a key of more than 1,024
/// characters. A client with UTF-16 strings can also store a key with an unpaired surrogate, which a Rust string cannot represent.
///
/// # Errors
/// `InvalidInput` if the document is not a page, or if the `ETag` or the Timestamp of an entity is invalid. `PropertiesNeedValue` if an entity has no key. A
/// table service never sends such a page.
///
/// ```
/// let json = br#"{"value":[{"PartitionKey":"p","RowKey":"a\ud83d"},{"PartitionKey":"p","RowKey":"b"}]}"#;
/// let mut skipped = Vec::new();
/// let rows = table_core::odata::read_rows_or_skip(json, |error| skipped.push(error))?;
/// assert_eq!(rows.iter().map(|entity| entity.row_key).collect::<Vec<_>>(), ["b"]);
/// assert_eq!(skipped[0].rule(), Some("KEY-3"));
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn read_rows_or_skip(json: &[u8], mut skip: impl FnMut(Error)) -> Result<Rows> {
    let skip = |error| {
        skip(error);
        Ok(())
    };
    quick::rows(json).map_or_else(|| slow_rows(json, skip), Ok)
}

/// The slow path of [`read_rows`]: reads a page in any format and reports errors. If an entity cannot be represented, `skip` is called with the error. If
/// `skip` returns `Ok`, the entity is skipped.
pub(super) fn slow_rows(json: &[u8], mut skip: impl FnMut(Error) -> Result<()>) -> Result<Rows> {
    let mut rows = Rows::default();
    for body in read_each(json)? {
        match body.and_then(|body| Ok((key(&body)?, body))) {
            Ok((key, body)) => {
                // Most `ETag`s can be derived from the Timestamp (ETAG-2). Such an `ETag` is not stored separately.
                let etag = body.etag.filter(|etag| *etag != body.row.view().etag());
                rows.push(key.partition_key.as_str(), key.row_key.as_str(), body.row.view(), etag);
            }
            Err(error) if error.key().is_some() => skip(error)?,
            Err(error) => return Err(error),
        }
    }
    Ok(rows)
}

/// Returns an entity's key. The error for an invalid key contains the key.
fn key(body: &EntityBody) -> Result<EntityKey> {
    let (Some(partition_key), Some(row_key)) = (&body.partition_key, &body.row_key) else {
        return body.key();
    };
    let is_half = partition_key.contains(MARK) || row_key.contains(MARK);
    let key = if is_half { Err(Error::of(ODataFault::HalfKey)) } else { body.key() };
    let shown = |key: &str| key.replace(MARK, "\u{FFFD}");
    key.map_err(|error| error.with_key(shown(partition_key), shown(row_key)))
}
