//! Keys: the two strings of an entity, their order, and the codecs that write typed values into them.
//!
//! [`PartitionKey`] and [`RowKey`] are validated strings. A [`KeyCodec`] writes one value as a piece of such a string. [`order`] defines how strings
//! compare and how they become bytes with the same order.

pub mod codec;
mod fault;
pub mod order;
pub mod text;

pub use codec::{KeyCodec, KeyPart};
pub use text::{EntityKey, PartitionKey, RowKey};
