//! Hierarchical partition keys in Cosmos DB for NoSQL: key hashes and the physical partitions they select.
//!
//! A container has one to three levels. The [`Epk`] of a key consists of the hashes of its levels, so keys with a common prefix form one range of hashes
//! ([`EpkRange`]). The physical partitions are ranges that cover all hashes without gaps or overlaps ([`PartitionMap`]). A [`Route`] determines which
//! partitions a query touches. A [`Load`] computes the hot partitions and the next split from the load of each key.
//!
//! This package does not connect to a service. `table-cosmos` does, and reads the ranges of a live container.
//!
//! ```
//! use table_hierarchy::{Component, Epk, EpkRange, PartitionMap};
//!
//! let key = ["Microsoft", "u1", "s1"].map(Component::text);
//! assert!(Epk::of(&key).to_string().starts_with("188C347FDB4ED0ECB72D5C45AC751981"));
//!
//! // The keys of one tenant form one range, which lies in one of four even partitions.
//! let tenant = EpkRange::of_prefix(&key[..1]);
//! let map = PartitionMap::even(4);
//! assert_eq!(map.overlaps(&tenant)?.len(), 1);
//! assert!(tenant.contains(&Epk::of(&key)));
//! # Ok::<(), table_core::Error>(())
//! ```

mod component;
mod epk;
mod hash;
mod levels;
mod load;
mod map;
mod picture;
mod range;
mod request_units;
mod route;

pub use component::Component;
pub use epk::Epk;
pub use levels::{common_levels, level_names};
pub use load::{Bounds, Cause, Heat, KeyLoad, Load, NextSplit, Order};
pub use map::{Partition, PartitionMap};
pub use picture::picture;
pub use range::EpkRange;
pub use request_units::{query_units, read_units, write_units};
pub use route::{Fixed, Route, RouteClass, Touched};
