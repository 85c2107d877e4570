//! Keys are the two strings that identify an entity. This module defines their order, and the codecs that encode typed values in them.
//!
//! [`PartitionKey`] and [`RowKey`] are validated strings. A [`KeyCodec`](codec::KeyCodec) encodes one value as a piece of a key. [`order`] defines how strings
//! are compared, and encodes them as bytes that sort in the same order.

pub mod codec;

#[doc(inline)]
pub use table_store::key::{EntityKey, PartitionKey, RowKey, order, text};
