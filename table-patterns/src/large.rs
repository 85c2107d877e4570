//! Large entities: values are stored in blobs, and the entity stores their addresses (PAT-LARGE).
//!
//! # Context
//! This pattern is for values that would make an entity larger than 1 MiB, or that most readers do not need, such as an employee's photo (PAT-LARGE-1). Each
//! value is a `#[blob]` field of a struct that derives [`Large`](derive@Large).
//!
//! # Key layout
//! | where | name | content |
//! |---|---|---|
//! | table | `Sales` / `000223` | the entity, with the address, length and checksum of each blob in one property |
//! | blobs | `staff/blobs/employees/=53ales/000223/0635338512000000000_864000000000_5f0c…` | the value |
//! | blobs | `staff/orphans/blobs/employees/=53ales/000223/0635338512000000000_864000000000_5f0c…/0635347152000000000` | a marker with the time at which the collector first found the blob unreferenced |
//!
//! Each upload has a unique name. It contains the start time of the upload and the writer's grace period, both in ticks, and a random number. A blob never
//! changes. The name does not contain the field, because fields can be renamed. The collector keeps a blob if any property of the entity contains the blob's
//! address.
//!
//! # Guarantee
//! - An entity that this library has written refers only to existing blobs (PAT-LARGE-2, BLB-12). A blob is complete before the entity is written. It is
//!   removed only when a [grace period](LargeTable::grace) has passed since the last reference to it was removed.
//! - A reader sees either the complete old value or the complete new value. A call that uploads several blobs changes their addresses in one write. A reader
//!   with an older version of the entity can open its blob within the grace period, and receives `BlobNotFound` afterwards.
//! - A stale address is never written back. An entity that was read earlier can be written with its existing addresses only if its `ETag` still matches.
//! - An entity that another program has written can contain any address. If a blob was not uploaded under the entity's key, it is not opened
//!   (`EntityMismatch`).
//! - If the length or the checksum (CRC-32C) of a value differs from the upload, the result is an error (`Corrupted`).
//! - A crash can leave an unreferenced blob. [`collect_orphans`](LargeTable::collect_orphans) removes it while writers continue. The collector considers only
//!   blobs older than the grace period, and a write fails if its upload took more than half of that period. Two assumptions remain: the entity's write reaches
//!   the store within the other half, and the clocks of collectors differ by less than the grace period.
//!
//! # Cost
//! Writing an entity takes the uploads and one request for the row; [`set`](LargeTable::set) reads nothing. Reading the entity takes one request. Each of its
//! blobs takes one more request, which is sent only when [`open`](LargeTable::open) is called (PAT-LARGE-3). Uploads and downloads are streamed. A collection
//! lists the blobs, and reads the entity of each blob that is older than the grace period.
//!
//! # Bounds
//! An upload keeps one part of 8 MiB and the current chunk of its stream in memory. The blob store limits the length of names, for example to 1,024 characters
//! on Azure, or to 255 characters per segment in most file systems. It refuses blobs of entities with longer keys.
//!
//! # When not to
//! If values have a few KiB and are always read, store them in the entity itself. For many small values, use [a series](crate::series).
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
mod own;
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

/// An entity that stores the addresses of blobs. Implemented by `#[derive(Large)]`.
///
/// A manual implementation is needed only if the addresses are not separate fields:
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
    /// The entity's blobs, in field order.
    const BLOBS: &'static [Blob<Self>];
}
