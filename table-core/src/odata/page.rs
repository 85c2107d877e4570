//! Reads the pages of a service's answers (JSON-7).

use serde::Deserialize;

use crate::error::Result;
use crate::odata::members::Members;
use crate::odata::quick;
use crate::odata::reader::{EntityBody, Sender, from_json};
use crate::query::Rows;

/// Reads a page of a service's answer to a query (JSON-7).
///
/// # Errors
/// As [`read_entity`](crate::odata::read_entity).
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
    let page: Envelope<Members<'_>> = from_json(json)?;
    page.value.into_iter().map(|members| members.read(Sender::Service)).collect()
}

/// Reads a page, each of whose entities has a key, into the form that a store answers with.
///
/// A page as the service and Azurite write it costs a few allocations, not some for each entity; any other is read as
/// [`read_page`] reads it.
///
/// # Errors
/// As [`read_entity`](crate::odata::read_entity), and those of [`EntityBody::key`].
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

/// The way of any page, which says what is wrong with one.
pub(super) fn slow_rows(json: &[u8]) -> Result<Rows> {
    let mut rows = Rows::default();
    for mut body in read_page(json)? {
        let key = body.take_key()?;
        // Most are the Timestamp again (ETAG-2), and need no place of their own.
        let etag = body.etag.filter(|etag| *etag != body.row.view().etag());
        rows.push(key.partition_key.as_str(), key.row_key.as_str(), body.row.view(), etag);
    }
    Ok(rows)
}
