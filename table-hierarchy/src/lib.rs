//! Hierarchical partition keys of Cosmos DB for NoSQL: the hash that places a key, and the physical partitions that keys fall into.
//!
//! A container has one to three levels. The [`Epk`] of a key is the hash of each level, one after the other, so that the keys below a
//! prefix are one range of hashes ([`EpkRange`]). Physical partitions are ranges that tile the space ([`PartitionMap`]). From both
//! follows which partitions a question touches ([`Route`]); with the load of each key, which of them is hot and which splits next
//! ([`Load`]). Nothing here speaks to a service: the package `table-cosmos` does, and gives the ranges of a live container.
//!
//! ```
//! use table_hierarchy::{Component, Epk, EpkRange, PartitionMap};
//!
//! let key = ["Microsoft", "u1", "s1"].map(Component::text);
//! assert!(Epk::of(&key).to_string().starts_with("188C347FDB4ED0ECB72D5C45AC751981"));
//!
//! // The keys of one tenant are one range, and one of four even partitions holds it.
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
mod price;
mod range;
mod route;

pub use component::Component;
pub use epk::Epk;
pub use levels::{common_levels, level_names};
pub use load::{Bounds, Cause, Heat, KeyLoad, Load, NextSplit, Order};
pub use map::{Partition, PartitionMap};
pub use picture::picture;
pub use price::{query_units, read_units, write_units};
pub use range::EpkRange;
pub use route::{Fixed, Route, RouteClass, Touched};
