//! Entities in the service's JSON format (OData). They are written at three metadata levels and read leniently (JSON, TYPE, PROP rules).
//!
//! Encoded rows are converted directly to and from JSON, without an intermediate map of properties.

mod fault;
mod level;
mod link;
mod members;
mod object;
mod page;
mod property;
mod quick;
mod reader;
mod size;
mod surrogates;
mod token;
mod writer;

pub use level::MetadataLevel;
pub use link::entity_link;
#[doc(hidden)]
pub use object::{deserialize_entity, serialize_entity};
pub use page::{read_page, read_rows, read_rows_or_skip};
pub use reader::{EntityBody, Sender, read_entity};
pub use writer::{Context, write_body, write_entity, write_page};

#[cfg(test)]
mod tests;
