//! Keys: the two strings of an entity, their order, and the codecs that write typed values into them.
//!
//! Model of the module: [`PartitionKey`] and [`RowKey`] are checked texts; a [`KeyCodec`] writes one value as a piece of
//! such a text; [`order`] says how texts compare and how they become bytes that sort the same.

pub mod codec;
mod fault;
pub mod order;
pub mod text;

pub use codec::{KeyCodec, KeyPart};
pub use text::{EntityKey, PartitionKey, RowKey};
