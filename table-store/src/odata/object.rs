//! Serde support for types that contain an entity with unknown properties. Works with any serde format.

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serializer};

use crate::etag::ETag;
use crate::odata::members::Members;
use crate::odata::property::{Annotate, Text, Ticks, serialize_properties};
use crate::odata::{EntityBody, Sender};
use crate::query::EntityRef;

/// Serializes an entity with minimal-metadata annotations (JSON-3). Pass `etag` and `timestamp` for an entity read from a store.
///
/// # Errors
/// Returns an error if the serializer fails, `timestamp` is after the year 9999, or the bytes are not a row.
pub fn serialize_entity<S: Serializer>(
    serializer: S,
    entity: EntityRef<'_>,
    etag: Option<&ETag>,
    timestamp: Option<u64>,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    if let Some(etag) = etag {
        map.serialize_entry("odata.etag", &Text(etag))?;
    }
    map.serialize_entry("PartitionKey", entity.partition_key)?;
    map.serialize_entry("RowKey", entity.row_key)?;
    if let Some(timestamp) = timestamp {
        map.serialize_entry("Timestamp", &Ticks(timestamp))?;
    }
    serialize_properties(&mut map, entity.row, Annotate::Ambiguous, |_| true)?;
    map.end()
}

/// Deserializes an entity in the format of a service response. The serde format must be self-describing.
///
/// # Errors
/// Returns an error if the deserializer fails or the data is not a valid entity.
pub fn deserialize_entity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<EntityBody, D::Error> {
    Members::deserialize(deserializer)?.read(Sender::Service).map_err(D::Error::custom)
}
