//! Keys: the two strings of an entity, their order, and the codecs that write typed values into them.
//!
//! [`PartitionKey`] and [`RowKey`] are validated strings. A [`KeyCodec`] encodes one value as a piece of a key. [`order`] defines how strings compare
//! and how they are encoded as bytes with the same order.

pub mod codec;
mod fault;
pub mod order;
pub mod text;

pub use codec::{KeyCodec, KeyPart};
pub use text::{EntityKey, PartitionKey, RowKey};
