//! Reads pages from a service's responses (JSON-7).

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::odata::fault::ODataFault;
use crate::odata::members::Members;
use crate::odata::quick;
use crate::odata::reader::{EntityBody, Sender, from_json, read_halves};
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
    #[derive(Deserialize)]
    struct Envelope<T> {
        value: Vec<T>,
    }
    read_halves(json, |json| {
        let page: Envelope<Members<'_>> = from_json(json)?;
        page.value.into_iter().map(|members| members.read(Sender::Service)).collect::<Result<Vec<_>>>()
    })
}

/// Reads a page of entities. Every entity must have a key. Returns [`Rows`], as stores do.
///
/// A page in the format of the service or Azurite needs only a few allocations in total, instead of several for each entity. Pages in other formats
/// are also read, but more slowly. Half a surrogate pair in a property is read as U+FFFD. [`read_rows_or_skip`] skips entities with half a pair in their key.
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

/// Reads a page of entities as [`read_rows`] does, but skips the entities whose key contains half a surrogate pair, and passes the error of each to
/// `skip`. A client whose strings are UTF-16 can store such keys, but no Rust string represents them.
///
/// # Errors
/// Any error from [`read_entity`](crate::odata::read_entity) or [`EntityBody::key`] for another entity.
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

/// Reads a page in any format and reports its errors. This is the slow path of [`read_rows`]. An entity whose key contains half a surrogate pair is skipped if
/// `skip` returns `Ok`.
pub(super) fn slow_rows(json: &[u8], mut skip: impl FnMut(Error) -> Result<()>) -> Result<Rows> {
    let mut rows = Rows::default();
    for mut body in read_page(json)? {
        if let Some(half) = half(&body) {
            skip(half)?;
            continue;
        }
        let key = body.take_key()?;
        // Most `ETag`s are derived from the Timestamp (ETAG-2), so they are not stored separately.
        let etag = body.etag.filter(|etag| *etag != body.row.view().etag());
        rows.push(key.partition_key.as_str(), key.row_key.as_str(), body.row.view(), etag);
    }
    Ok(rows)
}

/// Returns the error of an entity whose key contains half a surrogate pair.
fn half(body: &EntityBody) -> Option<Error> {
    let [partition_key, row_key] =
        [&body.partition_key, &body.row_key].map(|key| key.as_deref().unwrap_or_default());
    let is_half = partition_key.contains(MARK) || row_key.contains(MARK);
    let shown = |key: &str| key.replace(MARK, "\u{FFFD}");
    is_half.then(|| Error::of(ODataFault::HalfKey(shown(partition_key), shown(row_key))))
}
