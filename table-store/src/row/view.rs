//! Views of encoded rows. A view decodes only the parts that are accessed.

use std::fmt;
use std::ops::Range;

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::etag::ETag;
use crate::row::fault::RowFault;
use crate::row::{BODY_HEADER, ENTRY, NAME_TOO_LONG, Row, SHAPE_HEADER, TOO_LARGE, TOO_MANY, VERSION};
use crate::value::{EdmType, ValueRef};

/// A view of an encoded row. A row has a shape (property types and names) and a body (Timestamp and values). They may be stored separately, and rows with equal
/// shapes can share one copy of the shape.
///
/// The bytes are untrusted, but no access panics. For invalid bytes, functions return `Corrupted`. For a newer format version, they return `FormatTooNew`.
#[derive(Clone, Copy)]
pub struct RowView<'a> {
    shape: &'a [u8],
    body: &'a [u8],
    /// The number of properties, or `None` if the bytes are not a row.
    count: Option<u16>,
}

/// One property of a row.
///
/// ```
/// use table_core::ValueRef;
/// use table_core::row::{Property, RowWriter};
///
/// let mut writer = RowWriter::new();
/// writer.property("Age", ValueRef::Int32(34));
/// let row = writer.finish();
/// let all: Vec<Property<'_>> = row.view().properties().collect::<table_core::Result<_>>()?;
/// assert_eq!(all, [Property { name: "Age", value: ValueRef::Int32(34) }]);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Property<'a> {
    /// The name of the property.
    pub name: &'a str,
    /// The value of the property.
    pub value: ValueRef<'a>,
}

/// Returns the end offset of a directory with `count` entries.
///
/// The header before a directory has at least four bytes, the size of an entry. Four bytes therefore precede every entry, and one bounds check covers an entry
/// and its predecessor.
#[inline]
const fn after(header: usize, count: u16) -> usize {
    header + count as usize * ENTRY
}

/// Returns the last directory entry of a shape or body. Returns 0 if the directory is empty, or `None` if it is incomplete.
const fn last_entry(bytes: &[u8], header: usize, count: u16) -> Option<u32> {
    let Some((front, _)) = bytes.split_at_checked(after(header, count)) else { return None };
    match front.last_chunk() {
        Some(entry) if count > 0 => Some(u32::from_le_bytes(*entry)),
        _ => Some(0),
    }
}

/// Returns the number of properties and the length of the shape at the start of `bytes`. Returns `None` if its version is unknown or its directory is
/// incomplete.
const fn shape_of(bytes: &[u8]) -> Option<(u16, usize)> {
    let [VERSION, 0, low, high, ..] = bytes else { return None };
    let count = u16::from_le_bytes([*low, *high]);
    match last_entry(bytes, SHAPE_HEADER, count) {
        Some(entry) => Some((count, after(SHAPE_HEADER, count) + (entry >> 8) as usize)),
        None => None,
    }
}

/// The bytes of a directory entry.
pub(super) type Entry = [u8; ENTRY];

/// Returns a directory's entries and the bytes after it.
const fn directory(bytes: &[u8], header: usize, count: u16) -> Option<(&[Entry], &[u8])> {
    let Some((front, rest)) = bytes.split_at_checked(after(header, count)) else { return None };
    let Some((_, entries)) = front.split_at_checked(header) else { return None };
    Some((entries.as_chunks().0, rest))
}

impl<'a> RowView<'a> {
    /// Creates a view of a row whose shape and body are in one buffer. The shape comes first.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        let parts = match shape_of(bytes) {
            Some((_, length)) => bytes.split_at_checked(length),
            None => None,
        };
        match parts {
            Some((shape, body)) => Self::of(shape, body),
            None => Self { shape: bytes, body: &[], count: None },
        }
    }

    /// Creates a view of a row whose shape and body are stored separately.
    ///
    /// The bytes are a valid row if the version is known and both directories are complete. In addition, the last name and the last value must end exactly at
    /// the end of their buffers.
    ///
    /// ```
    /// use table_core::ValueRef;
    /// use table_core::row::{RowView, RowWriter};
    ///
    /// let mut writer = RowWriter::new();
    /// writer.property("Age", ValueRef::Int32(34));
    /// let row = writer.finish();
    /// let (shape, body) = row.view().parts();
    /// let apart = RowView::of(shape, body);
    /// assert_eq!(apart.find("Age", &mut 0)?, Some(ValueRef::Int32(34)));
    /// assert_eq!((apart.bytes(), apart.to_row()), (shape.len() + body.len(), row.clone()));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub const fn of(shape: &'a [u8], body: &'a [u8]) -> Self {
        Self::counted(shape, Self::count_of(shape), body)
    }

    /// Creates a view from a shape whose property count is known from [`count_of`](Self::count_of). This avoids recomputing the count for each body with the
    /// same shape.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn counted(shape: &'a [u8], count: Option<u16>, body: &'a [u8]) -> Self {
        let mut view = Self { shape, body, count: None };
        if let Some(properties) = count
            && let Some(end) = last_entry(body, BODY_HEADER, properties)
            && after(BODY_HEADER, properties) + end as usize == body.len()
        {
            view.count = count;
        }
        view
    }

    /// Returns the number of properties in a shape, or `None` if the shape is invalid.
    #[doc(hidden)]
    #[must_use]
    pub const fn count_of(shape: &[u8]) -> Option<u16> {
        match shape_of(shape) {
            Some((count, length)) if length == shape.len() => Some(count),
            _ => None,
        }
    }

    /// Returns the shape and the body. Their concatenation is the encoded row.
    #[must_use]
    pub const fn parts(&self) -> (&'a [u8], &'a [u8]) {
        (self.shape, self.body)
    }

    /// Returns the size of the row: the total size of the shape and the body.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.shape.len() + self.body.len()
    }

    /// Returns the row as an owned value.
    #[must_use]
    pub fn to_row(&self) -> Row {
        Row::of(self.shape, self.body)
    }

    /// Checks the row's format version and directories.
    ///
    /// # Errors
    /// - `FormatTooNew` if the version is newer.
    /// - `Corrupted` if the bytes are not a row.
    /// - `TooManyProperties`, `PropertyNameTooLong` or `EntityTooLarge` if the row exceeds the limits of the format.
    pub fn check_version(&self) -> Result<()> {
        if self.count.is_none() { Err(self.broken()) } else { Ok(()) }
    }

    #[cold]
    fn broken(&self) -> Error {
        let version = self.shape.first().copied().unwrap_or_default();
        Error::of(match version {
            TOO_MANY => RowFault::TooMany,
            NAME_TOO_LONG => RowFault::NamesTooLong,
            TOO_LARGE => RowFault::TooLarge,
            VERSION | 0 => RowFault::Broken("header or directory"),
            _ => RowFault::TooNew(version),
        })
    }

    /// Returns `true` if a writer received more content than a row can hold. [`check_version`](Self::check_version) then returns an error.
    #[doc(hidden)]
    #[must_use]
    pub fn is_overflown(&self) -> bool {
        matches!(self.shape.first(), Some(&(TOO_MANY | NAME_TOO_LONG | TOO_LARGE)))
    }

    /// Returns the Timestamp in [ticks](crate::ticks). It is 0 until a store accepts the row.
    #[must_use]
    pub fn timestamp(&self) -> u64 {
        self.body.first_chunk().map_or(0, |ticks| u64::from_le_bytes(*ticks))
    }

    /// Returns the `ETag` derived from the Timestamp (ETAG-2).
    #[must_use]
    pub fn etag(&self) -> ETag {
        ETag::from_ticks(self.timestamp())
    }

    /// Returns the number of properties, or 0 if the bytes are not a row.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.count {
            Some(count) => count as usize,
            None => 0,
        }
    }

    /// Returns `true` if the row has no properties.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the directory entries of the shape, the directory entries of the body, and the values. All three are empty if the bytes are not a row.
    #[inline]
    pub(super) const fn directories(&self) -> (&'a [Entry], &'a [Entry], &'a [u8]) {
        let Some(count) = self.count else { return (&[], &[], &[]) };
        match (directory(self.shape, SHAPE_HEADER, count), directory(self.body, BODY_HEADER, count)) {
            (Some((labels, _)), Some((ends, values))) => (labels, ends, values),
            _ => (&[], &[], &[]),
        }
    }

    /// Returns the type tag and the name of a property.
    #[inline]
    pub(super) fn label(&self, index: usize) -> Option<(u8, &'a [u8])> {
        let (start, entry) = entry(self.shape, SHAPE_HEADER, self.count?, index)?;
        let names = self.shape.get(after(SHAPE_HEADER, self.count?)..)?;
        let [tag, ..] = entry.to_le_bytes();
        Some((tag, names.get(usize::try_from(start >> 8).ok()?..usize::try_from(entry >> 8).ok()?)?))
    }

    /// Returns the concatenated property values.
    #[inline]
    pub(super) fn values(&self) -> Option<&'a [u8]> {
        self.body.get(after(BODY_HEADER, self.count?)..)
    }

    /// Returns the byte range of a property's value within the concatenated values.
    #[inline]
    pub(super) fn place(&self, index: usize) -> Option<Range<usize>> {
        let (start, end) = entry(self.body, BODY_HEADER, self.count?, index)?;
        Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    #[inline]
    fn value(&self, index: usize) -> Option<&'a [u8]> {
        self.values()?.get(self.place(index)?)
    }

    /// Returns the property at an index, in stored order (PROP-7).
    ///
    /// # Errors
    /// `Corrupted` if the bytes are not a row, or `index` is out of range.
    pub fn at(&self, index: usize) -> Result<Property<'a>> {
        self.check_version()?;
        let ((tag, name), value) =
            self.label(index).zip(self.value(index)).ok_or_else(|| corrupted("directory"))?;
        let name = std::str::from_utf8(name).map_err(|_| corrupted("property name"))?;
        let value = decode(tag, value)?.ok_or_else(|| corrupted("value"))?;
        Ok(Property { name, value })
    }

    /// Returns a property's value, or `None` if the row does not have the property.
    ///
    /// The search starts at index `hint`. If the property is found, `hint` is set to the index after it. A program usually writes properties in the same order,
    /// so a caller that keeps the hint finds each property on the first attempt.
    ///
    /// # Errors
    /// `Corrupted` if the bytes are not a row.
    ///
    /// ```
    /// use table_core::{ValueRef, row::RowWriter};
    ///
    /// let mut writer = RowWriter::new();
    /// writer.property("FirstName", ValueRef::String("Ada"));
    /// writer.property("Age", ValueRef::Int32(34));
    /// let row = writer.finish();
    /// let hint = &mut 0;
    /// assert_eq!(row.view().find("Age", hint)?, Some(ValueRef::Int32(34)));
    /// assert_eq!(*hint, 2);
    /// assert_eq!(row.view().find("age", hint)?, None); // case is significant (PROP-1)
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[inline]
    pub fn find(&self, name: &str, hint: &mut usize) -> Result<Option<ValueRef<'a>>> {
        match self.label(*hint) {
            Some((tag, found)) if is_same_name(found, name.as_bytes()) => {
                let value = self.value(*hint).ok_or_else(|| corrupted("directory"))?;
                *hint += 1;
                decode(tag, value)
            }
            _ => self.search(name, hint),
        }
    }

    /// Returns the index and type tag of a property, or `None` if the shape does not have the property. The result is valid for all rows with this shape.
    ///
    /// # Errors
    /// `Corrupted` if the bytes are not a row.
    pub(crate) fn position(&self, name: &str) -> Result<Option<(usize, u8)>> {
        self.check_version()?;
        for index in 0..self.len() {
            let (tag, found) = self.label(index).ok_or_else(|| corrupted("directory"))?;
            if is_same_name(found, name.as_bytes()) {
                return Ok(Some((index, tag)));
            }
        }
        Ok(None)
    }

    /// Returns the value at a [`position`](Self::position), or `None` if `position` found no property.
    ///
    /// # Errors
    /// `Corrupted` if the bytes are not a row.
    #[inline]
    pub(crate) fn value_at(&self, position: Option<(usize, u8)>) -> Result<Option<ValueRef<'a>>> {
        self.check_version()?;
        let Some((index, tag)) = position else { return Ok(None) };
        decode(tag, self.value(index).ok_or_else(|| corrupted("directory"))?)
    }

    fn search(&self, name: &str, hint: &mut usize) -> Result<Option<ValueRef<'a>>> {
        self.check_version()?;
        let count = self.len();
        for index in (*hint..count).chain(0..count.min(*hint)) {
            let (tag, found) = self.label(index).ok_or_else(|| corrupted("directory"))?;
            if is_same_name(found, name.as_bytes()) {
                *hint = index + 1;
                return decode(tag, self.value(index).ok_or_else(|| corrupted("directory"))?);
            }
        }
        Ok(None)
    }

    /// Iterates over all properties in stored order. If the bytes are not a row, the iterator yields a single error.
    pub fn properties(&self) -> impl Iterator<Item = Result<Property<'a>>> + use<'a> {
        let view = *self;
        let items = if view.count.is_none() { 1 } else { view.len() };
        (0..items).map(move |index| view.at(index))
    }
}

/// Returns `true` if two property names are equal. The last bytes are compared first, which needs no function call. The names of a wide row, such as `A001` and
/// `A002`, often differ only there.
#[inline]
pub(super) fn is_same_name(left: &[u8], right: &[u8]) -> bool {
    left.last() == right.last() && left == right
}

/// Returns a directory entry and its predecessor, predecessor first. The predecessor of the first entry is 0.
#[inline]
fn entry(bytes: &[u8], header: usize, count: u16, index: usize) -> Option<(u32, u32)> {
    if index >= usize::from(count) {
        return None;
    }
    let [b0, b1, b2, b3, e0, e1, e2, e3] = *bytes.get(header + index * ENTRY - ENTRY..)?.first_chunk()?;
    let before = if index == 0 { 0 } else { u32::from_le_bytes([b0, b1, b2, b3]) };
    Some((before, u32::from_le_bytes([e0, e1, e2, e3])))
}

/// Decodes a value. Returns `Ok(Some(_))` or `Err`, never `Ok(None)`.
///
/// The return type is the same as that of [`RowView::find`], so the result is built directly in the caller's memory. Moving it would make the CPU stall on the
/// preceding stores, and lookups would take twice as long.
#[inline]
fn decode(tag: u8, bytes: &[u8]) -> Result<Option<ValueRef<'_>>> {
    let value = match EdmType::from_tag(tag) {
        Some(EdmType::String) => std::str::from_utf8(bytes).ok().map(ValueRef::String),
        Some(EdmType::Int32) => bytes.try_into().ok().map(i32::from_le_bytes).map(ValueRef::Int32),
        Some(EdmType::Int64) => bytes.try_into().ok().map(i64::from_le_bytes).map(ValueRef::Int64),
        Some(EdmType::Double) => bytes.try_into().ok().map(f64::from_le_bytes).map(ValueRef::Double),
        Some(EdmType::Boolean) => match bytes {
            [flag @ (0 | 1)] => Some(ValueRef::Boolean(*flag == 1)),
            _ => None,
        },
        Some(EdmType::DateTime) => bytes.try_into().ok().map(u64::from_le_bytes).map(ValueRef::DateTime),
        Some(EdmType::Guid) => bytes.try_into().ok().map(Uuid::from_bytes).map(ValueRef::Guid),
        Some(EdmType::Binary) => Some(ValueRef::Binary(bytes)),
        None => None,
    };
    if value.is_none() { Err(corrupted("value")) } else { Ok(value) }
}

#[cold]
fn corrupted(part: &'static str) -> Error {
    Error::of(RowFault::Broken(part))
}

impl fmt::Debug for RowView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        map.entry(&"Timestamp", &self.timestamp());
        for property in self.properties() {
            match property {
                Ok(property) => map.entry(&property.name, &property.value),
                Err(error) => map.entry(&"error", &error),
            };
        }
        map.finish()
    }
}
