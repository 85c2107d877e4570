//! An entity as one object of any serde format, for types that hold an entity of unknown properties.

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serializer};

use crate::etag::ETag;
use crate::odata::members::Members;
use crate::odata::property::{Annotate, Text, Ticks, serialize_properties};
use crate::odata::{EntityBody, Sender};
use crate::query::EntityRef;

/// Serializes an entity with the annotations of minimal metadata (JSON-3). `etag` and `timestamp` are those of a read entity.
///
/// # Errors
/// Any error from the serializer, and an error for a `timestamp` after the year 9999 or for invalid bytes of a row.
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

/// Deserializes an entity as a service sends it, from a self-describing format.
///
/// # Errors
/// Any error from the deserializer, and an error for members that are not an entity.
pub fn deserialize_entity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<EntityBody, D::Error> {
    Members::deserialize(deserializer)?.read(Sender::Service).map_err(D::Error::custom)
}
