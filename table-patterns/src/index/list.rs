//! Index lists. A list contains the keys of all entities with the same value. It is stored in an index entity, or in a blob to which the index entity refers
//! (PAT-IX-4).

#[cfg(feature = "blobs")]
mod blobs;
#[cfg(not(feature = "blobs"))]
#[path = "list/no_blobs.rs"]
mod blobs;
mod change;
pub(crate) mod content;
pub(crate) mod fault;
mod form;
mod keeper;
mod members;
mod write;

#[cfg(feature = "blobs")]
pub use blobs::ListBlobs;
#[cfg(not(feature = "blobs"))]
pub(crate) use blobs::ListBlobs;
pub(crate) use blobs::Upload;
pub(crate) use change::ListChange;
pub(crate) use form::{ListForm, Member, StoredMembers};
pub(crate) use keeper::{ListWrite, Lists, is_unreadable};
pub(crate) use members::Members;
