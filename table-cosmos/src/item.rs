//! The JSON format of items.
//!
//! In the default format, the levels used for routing have fixed names. The properties are nested in a separate object, so no property collides with `id` or
//! `_etag`.
//!
//! ```json
//! {"id": "RowKey", "l1": "contoso", "l2": "ada", "p": {"Age": 34, "Total": 12}, "t": {"Total": "Int64"}, "o": "…"}
//! ```
//!
//! The `p` member contains the properties. The `t` member contains the types that JSON lacks. The `o` member contains the identifier of the last write
//! (CON-11). A [`Mapping`] uses other paths.

mod document;
mod fault;
mod raw;
mod value;

use serde_json::Value as Json;
use table_core::row::Row;
use table_core::{ETag, Error, ErrorCode, Result};

use crate::key;
use crate::mapping::Mapping;
pub(crate) use document::{ItemKey, read, write};
use fault::{Foreign, ForeignItem};
pub(crate) use raw::{RawItem, incarnation, incarnation_of, parse_raw, raw_id};
pub(crate) use value::{DATE_TIME, GUID, INT64, SPECIAL, write_value};

/// An item that contains an entity.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) levels: Vec<String>,
    pub(crate) partition_key: String,
    pub(crate) row_key: String,
    pub(crate) row: Row,
    pub(crate) etag: ETag,
}

/// A stored document and its `ETag`. Another program may have written the document.
#[derive(Debug)]
pub(crate) struct Found {
    json: Json,
    pub(crate) etag: ETag,
}

impl Found {
    /// Creates a document from its JSON.
    ///
    /// # Errors
    /// `Corrupted` if the document has no `ETag`.
    pub(crate) fn new(json: Json) -> Result<Self> {
        let tag = json.get("_etag").and_then(Json::as_str).and_then(|tag| etag(tag).ok());
        let id = || json.get("id").and_then(Json::as_str).unwrap_or_default().to_owned();
        let etag = tag.ok_or_else(|| Error::of(ForeignItem { id: id(), what: Foreign::System }))?;
        Ok(Self { json, etag })
    }

    /// Returns the RowKey of the document.
    pub(crate) fn row_key(&self) -> &str {
        self.json.get("id").and_then(Json::as_str).map(key::row_key).unwrap_or_default()
    }

    /// Returns the JSON of the document.
    pub(crate) fn json(&self) -> &Json {
        &self.json
    }

    /// Returns the entity in the document.
    ///
    /// # Errors
    /// - `Corrupted` if the document is not an entity of the mapping.
    /// - `InternalError` if the document's key differs from the requested key (RT-5).
    pub(crate) fn read(&self, mapping: &Mapping, key: ItemKey<'_>) -> Result<Item> {
        let item = read(&self.json, mapping)?;
        if item.levels != key.levels || item.row_key != key.row_key {
            return Err(item.unexpected());
        }
        Ok(item)
    }

    /// Returns `true` if the write with the given identifier stored exactly this document.
    ///
    /// The document must also equal the one that was sent, because another program may replace the item and keep the identifier.
    pub(crate) fn is_written_by(&self, mapping: &Mapping, write: &str, body: &Json) -> bool {
        self.descends_from(mapping, write) && document::is_version_of(&self.json, body)
    }

    /// Returns `true` if the write with the given identifier stored this document or an earlier version of it.
    pub(crate) fn descends_from(&self, mapping: &Mapping, write: &str) -> bool {
        written_by(&self.json, mapping) == Some(write)
    }

    /// Returns the `ETag` in the request format.
    pub(crate) fn sent_etag(&self) -> String {
        sent_etag(&self.etag)
    }
}

impl Item {
    /// Returns the error for an item whose key differs from the requested key. Such an item is never part of a result (RT-5, RT-6).
    pub(crate) fn unexpected(&self) -> Error {
        let message = "the service returned an item of another partition key; the response was discarded";
        Error::new(ErrorCode::InternalError, message)
            .with_rule("RT-5")
            .with_key(self.partition_key.as_str(), self.row_key.as_str())
    }
}

/// Returns an item's write identifier, or `None` if another program wrote the item.
pub(crate) fn written_by<'a>(json: &'a Json, mapping: &Mapping) -> Option<&'a str> {
    mapping.own.write.find(json).ok().flatten().and_then(Json::as_str)
}

/// The number of hexadecimal digits in a write identifier.
const WRITE_DIGITS: usize = 32;

/// Returns `true` if this library wrote an item.
///
/// An item written by another program may have a member with the same name, but its value does not have the format of a write identifier.
pub(crate) fn is_own(json: &Json, mapping: &Mapping) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    written_by(json, mapping).is_some_and(|text| text.len() == WRITE_DIGITS && text.bytes().all(is_digit))
}

/// Converts a service `ETag`, such as `"x"`, to the weak `ETag` of a table entity.
pub(crate) fn etag(text: &str) -> Result<ETag> {
    ETag::parse(&format!("W/{text}"))
}

/// Converts an `ETag` to the service's format. An `ETag` from another kind of store is sent unchanged, and matches no item.
pub(crate) fn sent_etag(etag: &ETag) -> String {
    let text = etag.to_string();
    text.strip_prefix("W/").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests;
