//! Reads pages from a service's responses (JSON-7).

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::key::EntityKey;
use crate::odata::fault::ODataFault;
use crate::odata::members::Members;
use crate::odata::quick;
use crate::odata::reader::{EntityBody, from_json, read_halves};
use crate::odata::surrogates::MARK;
use crate::query::Rows;

/// Reads a page from a service's response to a query (JSON-7). Half a surrogate pair in a property is read as U+FFFD. In a key, it is read as U+0000, which no
/// key can contain, so [`EntityBody::key`] fails.
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

/// Reads a page. Returns an error for each entity that cannot be read, with its key if the stored data is the cause (see [`Members::read_of_service`]).
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

/// Reads a page of entities. Every entity must have a key. Returns [`Rows`], as stores do.
///
/// A page in the format of the service or Azurite needs only a few allocations in total, instead of several for each entity. Pages in other formats
/// are also read, but more slowly. Half a surrogate pair in a property is read as U+FFFD. [`read_rows_or_skip`] skips entities that cannot be represented.
///
/// # Errors
/// Any error from [`read_entity`](crate::odata::read_entity) or [`EntityBody::key`]. `OutOfRangeInput` if a key contains half a surrogate pair (KEY-3).
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

/// Reads a page of entities as [`read_rows`] does, but skips the entities that cannot be represented, and passes the error of each, with its key, to `skip`.
///
/// Azurite and Cosmos DB for Table store entities that the service refuses, such as a date-time before 1601 or a key of more than 1,024 characters. A client whose
/// strings are UTF-16 can store half a surrogate pair in a key, which no Rust string represents.
///
/// # Errors
/// `InvalidInput` if the document is not a page, or if the `ETag` or the Timestamp of an entity is invalid. `PropertiesNeedValue` if an entity has no key. A service
/// of tables sends no such page.
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

/// Reads a page in any format and reports its errors. This is the slow path of [`read_rows`]. An entity that cannot be represented is skipped if `skip` returns
/// `Ok`.
pub(super) fn slow_rows(json: &[u8], mut skip: impl FnMut(Error) -> Result<()>) -> Result<Rows> {
    let mut rows = Rows::default();
    for body in read_each(json)? {
        match body.and_then(|body| Ok((key(&body)?, body))) {
            Ok((key, body)) => {
                // Most `ETag`s are derived from the Timestamp (ETAG-2), so they are not stored separately.
                let etag = body.etag.filter(|etag| *etag != body.row.view().etag());
                rows.push(key.partition_key.as_str(), key.row_key.as_str(), body.row.view(), etag);
            }
            Err(error) if error.key().is_some() => skip(error)?,
            Err(error) => return Err(error),
        }
    }
    Ok(rows)
}

/// Returns the key of an entity. The error of a key that is not valid contains the key.
fn key(body: &EntityBody) -> Result<EntityKey> {
    let (Some(partition_key), Some(row_key)) = (&body.partition_key, &body.row_key) else {
        return body.key();
    };
    let is_half = partition_key.contains(MARK) || row_key.contains(MARK);
    let key = if is_half { Err(Error::of(ODataFault::HalfKey)) } else { body.key() };
    let shown = |key: &str| key.replace(MARK, "\u{FFFD}");
    key.map_err(|error| error.with_key(shown(partition_key), shown(row_key)))
}
