//! Large entities: values are blobs, and the entity holds their addresses (PAT-LARGE).
//!
//! # Context
//! Values that would take an entity over 1 MiB, or that most readers do not want: an employee's photo (PAT-LARGE-1). Each is a
//! `#[blob]` field of a struct that derives [`Large`](derive@Large).
//!
//! # Key layout
//! | where | name | content |
//! |---|---|---|
//! | table | `Sales` / `000223` | the entity, with the address, length and checksum of each blob in one property |
//! | blobs | `staff/blobs/Employees/Sales/000223/0635338512000000000_5f0c…` | the value |
//! | blobs | `staff/orphans/Employees/Sales/000223/0635338512000000000_5f0c…/0635347152000000000` | a mark: no entity names the blob, first seen then |
//!
//! Each upload has a name of its own, with the instant it began and a random number; a blob never changes. The name does not say
//! which field holds it: fields can be renamed, and whichever property names a blob spares it from the collector.
//!
//! # Guarantee
//! - No entity names a blob that is not there (PAT-LARGE-2, BLB-12): the blob is whole before the entity is written, and it is
//!   removed a [grace period](LargeTable::grace) after the last entity that named it changed.
//! - A reader sees the old value or the new one, whole: the address in the entity changes in one write, and so do those of several
//!   blobs that one call gives content. A reader that holds an entity from before a change has the grace period to open its blob;
//!   afterwards it receives `BlobNotFound`.
//! - An address that may be stale is not written again: an entity that was read long ago keeps its other blobs only under its `ETag`.
//! - A value that is not what was written, by length or checksum (CRC-32C), is an error (`Corrupted`).
//! - What a crash leaves is a blob that no entity names. [`collect_orphans`](LargeTable::collect_orphans) removes it, beside live
//!   writers: a blob is judged only when it is older than the grace period, and a writer whose upload has taken more than half
//!   of that gives up. What is left to trust: that a single write of an entity arrives within the other half.
//!
//! # Cost
//! A write is the uploads and one write of the entity; [`set`](LargeTable::set) reads nothing. The entity alone is one request; each
//! of its blobs is another, only when [`open`](LargeTable::open) is called (PAT-LARGE-3), streamed both ways. A collection lists
//! the blobs and looks up the entity of each that is older than the grace period.
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
//! #[derive(Entity, Large, Clone, Debug, PartialEq)]
//! #[entity(table = "Employees")]
//! #[partition_key(department)]
//! #[row_key(id)]
//! struct Employee {
//!     department: String,
//!     #[digits(6)]
//!     id: u32,
//!     #[blob]
//!     photo: Option<BlobRef>,
//!     #[blob]
//!     cv: Option<BlobRef>,
//! }
//!
//! # pollster::block_on(async {
//! let table = Engine::in_memory().table::<Employee>().create_if_missing().await?;
//! let employees = LargeTable::new(table, Arc::new(InMemory::new()), "staff");
//! let ada = Employee { department: "Sales".into(), id: 223, photo: None, cv: None };
//! employees.insert(ada, [Employee::PHOTO_BLOB.content(whole(vec![7; 2_000_000]))]).await?;
//! employees.set(Employee::key("Sales", 223), [Employee::CV_BLOB.content(whole("Born in 1815."))]).await?;
//!
//! let ada = employees.table().get(Employee::key("Sales", 223)).await?.expect("just inserted");
//! let photo = employees.open(&ada, Employee::PHOTO_BLOB).await?.expect("she has one");
//! assert_eq!(photo.len(), 2_000_000);
//! assert_eq!(photo.bytes().await?, vec![7; 2_000_000]);
//! let cv = employees.open(&ada, Employee::CV_BLOB).await?.expect("just set");
//! assert_eq!(cv.bytes().await?, "Born in 1815.");
//!
//! let ada = employees.remove(ada, Employee::PHOTO_BLOB).await?;
//! assert!(employees.open(&ada, Employee::PHOTO_BLOB).await?.is_none());
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod blob;
mod fault;
mod orphans;
mod table;
#[cfg(test)]
mod tests;
mod uploads;
mod write;

use table_core::entity::Entity;

pub use crate::blob::{BlobRef, Collected, LargeReader, whole};
pub use blob::{Blob, BlobField, Content};
pub use table::LargeTable;
#[doc = include_str!("large/derive.md")]
pub use table_derive::Large;

/// An entity that holds the addresses of blobs: what `#[derive(Large)]` implements.
///
/// By hand, for addresses that are not fields of their own:
///
/// ```
/// use table_patterns::Entity;
/// use table_patterns::large::{Blob, BlobRef, Large};
///
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key(id)]
/// struct Employee { department: String, id: u32, photo: Option<BlobRef> }
///
/// const PHOTO: Blob<Employee> = Blob::new("Photo", |it| it.photo.as_ref(), |it, blob| it.photo = blob);
///
/// impl Large for Employee {
///     const BLOBS: &'static [Blob<Self>] = &[PHOTO];
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "[T140] `{Self}` has no blobs",
    label = "an entity with `#[blob]` fields is expected here",
    note = "derive it and mark the fields that hold addresses: `#[derive(Entity, Large)]`, `#[blob] photo: Option<BlobRef>`"
)]
pub trait Large: Entity {
    /// Its blobs, in the order of their fields.
    const BLOBS: &'static [Blob<Self>];
}
