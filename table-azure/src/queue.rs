//! Queues of an account over the REST protocol (QUE rules).

mod client;
mod failure;
use table_wire::queue as lease;
mod messages;
mod store;

pub use client::AzureQueues;
