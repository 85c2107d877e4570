//! Serde for the bag: the service's JSON of one entity with minimal metadata (JSON-3).

use serde::de::Error as _;
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bag::TableEntity;
use crate::entity::FromEntity;
use crate::error::Result;
use crate::odata::{Annotate, EntityBody, Members, Sender, Text, Ticks, serialize_properties};
use crate::query::EntityRef;

/// Includes `odata.etag` and `Timestamp` if the entity was read. An instant out of range is an error (TYPE-6).
///
/// ```
/// use table_core::TableEntity;
///
/// let ada = TableEntity::new("Sales", "1")?.with("Age", 34).with("Badge", 7_i64);
/// let json = serde_json::to_string(&ada)?;
/// assert_eq!(json, r#"{"PartitionKey":"Sales","RowKey":"1","Age":34,"Badge@odata.type":"Edm.Int64","Badge":"7"}"#);
/// assert_eq!(serde_json::from_str::<TableEntity>(&json)?, ada);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Serialize for TableEntity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = self.to_row().map_err(S::Error::custom)?;
        let mut map = serializer.serialize_map(None)?;
        if let Some(etag) = &self.etag {
            map.serialize_entry("odata.etag", &Text(etag))?;
        }
        map.serialize_entry("PartitionKey", self.key.partition_key.as_str())?;
        map.serialize_entry("RowKey", self.key.row_key.as_str())?;
        if let Some(timestamp) = self.timestamp {
            map.serialize_entry("Timestamp", &Ticks(timestamp))?;
        }
        serialize_properties(&mut map, row.view(), Annotate::Ambiguous, |_| true)?;
        map.end()
    }
}

/// Reads the service's JSON, or the output of [`Serialize`], from a self-describing format such as JSON. Both keys are required.
impl<'de> Deserialize<'de> for TableEntity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let body = Members::deserialize(deserializer)?.read(Sender::Service).map_err(D::Error::custom)?;
        Self::try_from(body).map_err(D::Error::custom)
    }
}

impl TryFrom<EntityBody> for TableEntity {
    type Error = crate::error::Error;

    fn try_from(body: EntityBody) -> Result<Self> {
        let key = body.key()?;
        let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), body.row.view());
        Ok(Self { etag: body.etag, ..Self::from_entity(entity)? })
    }
}
