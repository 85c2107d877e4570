//! The queue client, over the REST protocol (QUE rules).

mod client;
mod failure;
mod messages;
mod store;

pub use client::AzureQueues;
