//! Serde implementations for `TableEntity`, in the service's JSON format with minimal metadata (JSON-3).

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use table_store::Result;

use crate::bag::TableEntity;
use crate::entity::FromEntity;
use crate::odata::{EntityBody, deserialize_entity, serialize_entity};
use crate::query::EntityRef;

/// Serialises the key and the properties. If the entity was read from a store, `odata.etag` and `Timestamp` are included. Returns an error for an out-of-range
/// time (TYPE-6).
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
        let (partition_key, row_key) = (self.key.partition_key.as_str(), self.key.row_key.as_str());
        let entity = EntityRef::new(partition_key, row_key, row.view());
        serialize_entity(serializer, entity, self.etag.as_ref(), self.timestamp)
    }
}

/// Deserialises the service's JSON, or the output of [`Serialize`]. The format must be self-describing, like JSON. Both keys are required.
impl<'de> Deserialize<'de> for TableEntity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(deserialize_entity(deserializer)?).map_err(D::Error::custom)
    }
}

impl TryFrom<EntityBody> for TableEntity {
    type Error = table_store::Error;

    fn try_from(body: EntityBody) -> Result<Self> {
        let key = body.key()?;
        let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), body.row.view());
        Ok(Self { etag: body.etag, ..Self::from_entity(entity)? })
    }
}
