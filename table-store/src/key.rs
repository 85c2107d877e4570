//! Keys: the two strings that identify an entity, and their order.
//!
//! [`PartitionKey`] and [`RowKey`] are validated strings. [`order`] defines their comparison and an order-preserving byte encoding.

mod entity_key;
mod fault;
pub mod order;
pub mod text;

pub use entity_key::{EntityKey, PartitionKey, RowKey};
pub(crate) use entity_key::{check_partition_key, check_row_key};
