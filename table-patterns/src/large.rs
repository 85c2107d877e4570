//! Large entities: the value is a blob, the entity holds its address (PAT-LARGE).
//!
//! # Context
//! A value that would take an entity over 1 MiB, or that most readers do not want: an employee's photo (PAT-LARGE-1).
//!
//! # Key layout
//! | where | name | content |
//! |---|---|---|
//! | table | `Sales` / `000223` | the entity, with the address, length and checksum of the blob in one property |
//! | blobs | `photos/blobs/Employees/Sales/000223/0635338512000000000_5f0c…` | the value |
//! | blobs | `photos/orphans/Employees/Sales/000223/0635338512000000000_5f0c…/0635347152000000000` | a mark: nobody names the blob, first seen then |
//!
//! Each upload has a name of its own, with the instant it began and a random number; a blob never changes.
//!
//! # Guarantee
//! - No entity names a blob that is not there (PAT-LARGE-2, BLB-12): the blob is whole before the entity is written, and it is
//!   removed a [grace period](LargeTable::grace) after nobody named it any more.
//! - A reader sees the old value or the new one, whole: the address in the entity changes in one write. A reader that holds an
//!   entity from before a change has the grace period to open its blob; afterwards it is told `BlobNotFound`.
//! - A value that is not what was written, by length or checksum (CRC-32C), is an error (`Corrupted`).
//! - What a crash leaves is a blob that nobody names. [`collect_orphans`](LargeTable::collect_orphans) removes it, beside live
//!   writers: a blob is judged only when it is older than the grace period, and a writer whose upload has taken more than half
//!   of that gives up. What is left to trust: that a single write of an entity arrives within the other half.
//!
//! # Cost
//! A write is the upload and one write of the entity. The entity alone is one request; with its value two, the second only when
//! [`open`](LargeTable::open) is called (PAT-LARGE-3), streamed both ways. A collection lists the blobs and looks up the entity
//! of each that is older than the grace period.
//!
//! # Bounds
//! Memory: one part of the upload, 8 MiB. Names: a store's own limit, 1,024 characters at Azure, 255 a segment in most file
//! systems; keys that are longer are refused by it.
//!
//! # When not to
//! For values of some KiB that are always read: they belong in the entity. For many small values: [a series](crate::series).
//!
//! ```
//! use std::sync::Arc;
//! use table_patterns::blob::object_store::memory::InMemory;
//! use table_patterns::large::{BlobRef, Large, LargeTable, whole};
//! use table_patterns::{Entity, TableStoreExt, embedded::Engine};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Employees")]
//! #[partition_key(department)]
//! #[row_key(id)]
//! struct Employee { department: String, #[digits(6)] id: u32, photo: Option<BlobRef> }
//!
//! impl Large for Employee {
//!     fn blob(&self) -> Option<&BlobRef> { self.photo.as_ref() }
//!     fn set_blob(&mut self, blob: BlobRef) { self.photo = Some(blob); }
//! }
//!
//! # pollster::block_on(async {
//! let table = Engine::in_memory().table::<Employee>().create_if_missing().await?;
//! let employees = LargeTable::new(table, Arc::new(InMemory::new()), "photos");
//! let ada = Employee { department: "Sales".into(), id: 223, photo: None };
//! employees.insert(ada, whole(vec![7; 2_000_000])).await?;
//!
//! let ada = employees.table().get(Employee::key("Sales", 223)).await?.expect("just inserted");
//! let photo = employees.open(&ada).await?.expect("she has one");
//! assert_eq!(photo.len(), 2_000_000);
//! assert_eq!(photo.bytes().await?, vec![7; 2_000_000]);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod orphans;
mod read;
mod reference;
mod table;
#[cfg(test)]
mod tests;
mod upload;

use table_core::entity::PlainEntity;

pub use crate::blob::Collected;
pub use read::LargeReader;
pub use reference::BlobRef;
pub use table::LargeTable;
pub(crate) use upload::upload;
pub use upload::whole;

/// An entity that holds the address of a blob.
pub trait Large: PlainEntity {
    /// The address; `None` if it has no value yet.
    fn blob(&self) -> Option<&BlobRef>;

    /// Puts a new address in its place.
    fn set_blob(&mut self, blob: BlobRef);
}
