//! Blob storage for the patterns. It uses any `ObjectStore` of the `object_store` crate, and derives blob names from keys.
//!
//! The patterns take an `Arc<dyn ObjectStore>`. This module re-exports the `object_store` crate, whose features determine where blobs can be stored: in a local
//! folder, in memory, in Azure, or in another service. Without the `blobs` feature, this module contains only [`BlobRef`], the address of a blob.

#[cfg(feature = "blobs")]
mod error;
#[cfg(feature = "blobs")]
mod fault;
#[cfg(feature = "blobs")]
mod folder;
#[cfg(feature = "blobs")]
mod name;
#[cfg(feature = "blobs")]
mod orphans;
#[cfg(feature = "blobs")]
mod read;
mod reference;
#[cfg(feature = "blobs")]
mod store;
#[cfg(feature = "blobs")]
mod upload;

#[cfg(feature = "blobs")]
pub use object_store;

#[cfg(feature = "blobs")]
pub use orphans::Collected;
#[cfg(feature = "blobs")]
pub use read::LargeReader;
pub use reference::BlobRef;
#[cfg(feature = "blobs")]
pub use upload::whole;

#[cfg(feature = "blobs")]
pub(crate) use error::{InBlobs, blob_error};
#[cfg(feature = "blobs")]
pub(crate) use folder::BlobFolder;
#[cfg(feature = "blobs")]
pub(crate) use name::{begins_with, encode, hashed_beginning, is_upload};
#[cfg(feature = "blobs")]
pub(crate) use orphans::Orphans;
#[cfg(feature = "blobs")]
pub(crate) use store::{BlobKind, BlobStore, Upload};
#[cfg(feature = "blobs")]
pub(crate) use upload::{BlobWriter, PART, upload};
