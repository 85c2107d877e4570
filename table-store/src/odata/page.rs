//! Reads pages from a service's responses (JSON-7).

use serde::Deserialize;

use crate::error::Result;
use crate::odata::members::Members;
use crate::odata::quick;
use crate::odata::reader::{EntityBody, Sender, from_json};
use crate::odata::surrogates::replace_halves;
use crate::query::Rows;

/// Reads a page from a service's response to a query (JSON-7). Half a surrogate pair in a string is read as U+FFFD.
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
    let json = replace_halves(json);
    let page: Envelope<Members<'_>> = from_json(&json)?;
    page.value.into_iter().map(|members| members.read(Sender::Service)).collect()
}

/// Reads a page of entities. Every entity must have a key. Returns [`Rows`], as stores do.
///
/// A page in the format of the service or Azurite needs only a few allocations in total, instead of several for each entity. Pages in other formats
/// are also read, but more slowly. Half a surrogate pair in a string is read as U+FFFD.
///
/// # Errors
/// Any error from [`read_entity`](crate::odata::read_entity) or [`EntityBody::key`].
///
/// ```
/// let json = br#"{"value":[{"PartitionKey":"Sales","RowKey":"00001","Age":34}]}"#;
/// let rows = table_core::odata::read_rows(json)?;
/// assert_eq!(rows.get(0).map(|entity| (entity.row_key, entity.row.len())), Some(("00001", 1)));
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn read_rows(json: &[u8]) -> Result<Rows> {
    quick::rows(json).map_or_else(|| slow_rows(json), Ok)
}

/// Reads a page in any format and reports its errors. This is the slow path of [`read_rows`].
pub(super) fn slow_rows(json: &[u8]) -> Result<Rows> {
    let mut rows = Rows::default();
    for mut body in read_page(json)? {
        let key = body.take_key()?;
        // Most `ETag`s are derived from the Timestamp (ETAG-2), so they are not stored separately.
        let etag = body.etag.filter(|etag| *etag != body.row.view().etag());
        rows.push(key.partition_key.as_str(), key.row_key.as_str(), body.row.view(), etag);
    }
    Ok(rows)
}
