//! A blob of an entity: the property that stores its address, and the new content to upload.

use std::fmt;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use table_core::Result;

use crate::large::BlobRef;

/// A blob that an entity type declares, such as `Employee::PHOTO_BLOB`. Created by [`#[derive(Large)]`](derive@crate::large::Large), or from the name of the
/// address property and two functions that get and set the address.
///
/// ```
/// use table_patterns::large::{Blob, BlobRef};
///
/// struct Employee { photo: Option<BlobRef> }
///
/// const PHOTO_BLOB: Blob<Employee> = Blob::new("Photo", |it| it.photo.as_ref(), |it, blob| it.photo = blob);
/// assert_eq!(PHOTO_BLOB.property(), "Photo");
/// ```
pub struct Blob<E> {
    property: &'static str,
    get: fn(&E) -> Option<&BlobRef>,
    set: fn(&mut E, Option<BlobRef>),
}

impl<E> Blob<E> {
    /// Creates a blob description from the name of its address property and the functions that get and set the address.
    #[must_use]
    pub const fn new(
        property: &'static str,
        get: fn(&E) -> Option<&BlobRef>,
        set: fn(&mut E, Option<BlobRef>),
    ) -> Self {
        Self { property, get, set }
    }

    /// Returns the name of the property that stores the blob's address.
    #[must_use]
    pub const fn property(&self) -> &'static str {
        self.property
    }

    /// Creates new content for the blob. Pass it to a write method of [`LargeTable`](crate::large::LargeTable): `Employee::PHOTO_BLOB.content(whole(bytes))`.
    pub fn content<'a>(&self, content: impl Stream<Item = Result<Bytes>> + Send + 'a) -> Content<'a, E> {
        Content { blob: *self, stream: content.boxed() }
    }

    /// Returns the address of this blob in an entity. Returns `None` if the entity has no such blob.
    #[must_use]
    pub fn address_in<'e>(&self, entity: &'e E) -> Option<&'e BlobRef> {
        (self.get)(entity)
    }

    pub(super) fn put(&self, entity: &mut E, address: Option<BlobRef>) {
        (self.set)(entity, address);
    }
}

impl<E> Clone for Blob<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Blob<E> {}

impl<E> fmt::Debug for Blob<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({})", self.property)
    }
}

/// New content for a blob. It is uploaded when the entity is written. Created by [`Blob::content`].
///
/// ```
/// use bytes::Bytes;
/// use table_patterns::large::{Blob, BlobRef, Content, whole};
///
/// struct Employee { photo: Option<BlobRef> }
/// const PHOTO_BLOB: Blob<Employee> = Blob::new("Photo", |it| it.photo.as_ref(), |it, blob| it.photo = blob);
///
/// let photo: Content<'_, Employee> = PHOTO_BLOB.content(whole(Bytes::from_static(b"GIF89a")));
/// # drop(photo);
/// ```
#[must_use = "content is uploaded by a write of a `LargeTable`"]
pub struct Content<'a, E> {
    pub(super) blob: Blob<E>,
    pub(super) stream: BoxStream<'a, Result<Bytes>>,
}

debug_fields!([E] Content['_, E] { blob, .. });

/// The type of a `#[blob]` field.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T142] `{Self}` cannot hold the address of a blob",
    label = "this field is marked `#[blob]`",
    note = "a `#[blob]` field is an `Option<BlobRef>`: an entity exists before its blob, and a blob can be removed"
)]
pub trait BlobField {
    /// Returns the blob's address, if it is set.
    fn get(&self) -> Option<&BlobRef>;

    /// Sets the blob's address, or removes it if `address` is `None`.
    fn set(&mut self, address: Option<BlobRef>);
}

#[diagnostic::do_not_recommend]
impl BlobField for Option<BlobRef> {
    fn get(&self) -> Option<&BlobRef> {
        self.as_ref()
    }

    fn set(&mut self, address: Option<BlobRef>) {
        *self = address;
    }
}
