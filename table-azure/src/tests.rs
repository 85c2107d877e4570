//! Tests of the client against a scripted server: the requests it sends, and its reaction to each response.

#[cfg(feature = "blobs")]
mod blobs;
mod bounds;
mod credentials;
mod deviations;
mod doubts;
#[cfg(feature = "identity")]
mod identity;
mod leases;
mod pages;
mod queues;
mod recorded;
mod retries;
mod runtimes;
mod secondary;
mod server;
mod strange;
mod time;
mod wire;

pub(crate) use time::under_way;
