//! Keys: the two strings of an entity and their order.
//!
//! [`PartitionKey`] and [`RowKey`] are validated strings. [`order`] defines how strings compare and how they are encoded as bytes with the same order.

mod fault;
pub mod order;
pub mod text;

pub use text::{EntityKey, PartitionKey, RowKey};
