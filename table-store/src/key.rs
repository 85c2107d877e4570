//! Keys: the two strings that identify an entity, and their order.
//!
//! [`PartitionKey`] and [`RowKey`] are validated strings. [`order`] defines how keys compare and how they are encoded as bytes in the same order.

mod fault;
pub mod order;
pub mod text;

pub use text::{EntityKey, PartitionKey, RowKey};
