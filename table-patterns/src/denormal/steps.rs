//! The steps that outboxes record for copies: their names, and what they carry.

use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::key::EntityKey;

use crate::denormal::fault::CopyFault;

/// The step that takes a change of a source to its holders.
pub(super) fn source_step<E: Entity>() -> String {
    format!("copies of {}", E::SCHEMA.entity)
}

/// The step that brings a holder in line with its sources, and its references with it.
pub(super) fn holder_step<H: Entity>() -> String {
    format!("copies in {}", H::SCHEMA.entity)
}

/// Sources that a holder may have left, with the names of the relations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Left(pub(super) Vec<(String, EntityKey)>);

impl Left {
    /// As the payload of a step.
    pub(super) fn to_text(&self) -> String {
        let item = |(relation, key): &(String, EntityKey)| {
            serde_json::json!([relation, key.partition_key.as_str(), key.row_key.as_str()])
        };
        serde_json::Value::Array(self.0.iter().map(item).collect()).to_string()
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let items: Vec<(String, String, String)> = serde_json::from_str(text)
            .map_err(|error| Error::of(CopyFault::Step { text: text.to_owned(), source: error }))?;
        let item = |(relation, partition_key, row_key): (String, String, String)| {
            Ok((relation, EntityKey::new(partition_key, row_key)?))
        };
        Ok(Self(items.into_iter().map(item).collect::<Result<_>>()?))
    }
}
