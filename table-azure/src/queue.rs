//! Access to the queues of an account over the REST protocol (QUE rules).

mod client;
mod failure;
mod messages;
mod store;

pub use client::AzureQueues;
