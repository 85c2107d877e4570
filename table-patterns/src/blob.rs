//! Blobs beside tables: any `object_store`, and what a key looks like in the name of a blob.
//!
//! The patterns take an `Arc<dyn ObjectStore>` of the `object_store` crate, re-exported here: a local folder, memory, Azure,
//! and others, by that crate's features.

mod error;
mod name;
mod orphans;

pub use object_store;

pub(crate) use error::{InBlobs, blob_error};
pub(crate) use name::{decode, decode_caseless, encode, encode_caseless, is_hashed};
pub use orphans::Collected;
pub(crate) use orphans::{Naming, Orphans};
