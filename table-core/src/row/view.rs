//! Looks into an encoded row without decoding more than is asked for.

use std::fmt;

use uuid::Uuid;

use crate::error::{Error, ErrorCode, Result};
use crate::etag::ETag;
use crate::row::{ENTRY, HEADER, NAME_TOO_LONG, TOO_LARGE, TOO_MANY, VERSION};
use crate::value::{EdmType, ValueRef};

/// A look into the bytes of an encoded row. Nothing is trusted: bytes that are no row give `Corrupted` where they are
/// looked into, bytes of a newer version `FormatTooNew`; never a panic.
#[derive(Clone, Copy)]
pub struct RowView<'a> {
    bytes: &'a [u8],
    /// Where the body begins; 0 if these bytes are no row.
    body: usize,
}

/// One property of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Property<'a> {
    /// The name.
    pub name: &'a str,
    /// The value.
    pub value: ValueRef<'a>,
}

/// One property, its value not decoded yet.
pub(super) struct Slot<'a> {
    /// The type's tag and the reserved byte, which must be 0: a tag of two bytes refuses any other.
    pub(super) tag: u16,
    pub(super) name: &'a [u8],
    pub(super) value: &'a [u8],
    /// Where the value ends in the bytes of the row.
    pub(super) end: usize,
}

/// Where the body begins if the version is ours, the directory is whole, and its last property ends where the bytes end;
/// 0 if not. Checked once for each look, so that the accessors need not.
const fn body_of(bytes: &[u8]) -> usize {
    let [VERSION, _, _, _, _, _, _, _, _, low, high, ..] = bytes else { return 0 };
    let body = HEADER + u16::from_le_bytes([*low, *high]) as usize * ENTRY;
    let Some((front, values)) = bytes.split_at_checked(body) else { return 0 };
    let end = match front.last_chunk() {
        Some(end) if body > HEADER => u32::from_le_bytes(*end) as usize,
        _ => 0,
    };
    if end == values.len() { body } else { 0 }
}

impl<'a> RowView<'a> {
    /// A look into these bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, body: body_of(bytes) }
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Checks the version and the frame: that the directory is whole and ends where the bytes end.
    ///
    /// # Errors
    /// `FormatTooNew` or `Corrupted`; for what no row can hold `TooManyProperties`, `PropertyNameTooLong` or
    /// `EntityTooLarge`.
    pub fn check_version(&self) -> Result<()> {
        if self.body == 0 { Err(self.broken()) } else { Ok(()) }
    }

    #[cold]
    fn broken(&self) -> Error {
        let version = self.bytes.first().copied().unwrap_or_default();
        let overflow = |code, rule, what: &str| {
            Error::new(code, format!("the entity is beyond what a row can hold: {what}")).with_rule(rule)
        };
        match version {
            TOO_MANY => overflow(ErrorCode::TooManyProperties, "ENT-2", "65,535 properties"),
            NAME_TOO_LONG => overflow(ErrorCode::PropertyNameTooLong, "PROP-2", "names of 65,535 bytes"),
            TOO_LARGE => overflow(ErrorCode::EntityTooLarge, "SIZE-1", "4 GiB"),
            VERSION | 0 => corrupted("header or directory"),
            _ => {
                let message = format!(
                    "encoded row of format {version}; this version reads up to format {VERSION}: upgrade"
                );
                Error::new(ErrorCode::FormatTooNew, message)
            }
        }
    }

    /// Whether the writer was given more than a row can hold; [`check_version`](Self::check_version) says of what.
    #[must_use]
    pub fn is_overflown(&self) -> bool {
        matches!(self.bytes.first(), Some(&(TOO_MANY | NAME_TOO_LONG | TOO_LARGE)))
    }

    /// The Timestamp in [ticks](crate::ticks); 0 before a store has accepted the row.
    #[must_use]
    pub fn timestamp(&self) -> u64 {
        self.bytes.get(1..9).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
    }

    /// The `ETag`: the Timestamp (ETAG-2).
    #[must_use]
    pub fn etag(&self) -> ETag {
        ETag::from_ticks(self.timestamp())
    }

    /// The number of properties; 0 if the bytes are no row.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.body.saturating_sub(HEADER) / ENTRY
    }

    /// Whether there are no properties.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(super) fn slot(&self, index: usize) -> Option<Slot<'a>> {
        if index >= self.len() {
            return None;
        }
        // The end of the property before stands right before the entry: one look for both.
        let at = HEADER + index * ENTRY;
        let window = self.bytes.get(at - 4..)?.first_chunk::<12>()?;
        let [b0, b1, b2, b3, tag, reserved, n0, n1, e0, e1, e2, e3] = *window;
        let start = if index == 0 { 0 } else { u32::from_le_bytes([b0, b1, b2, b3]) };
        let end = usize::try_from(u32::from_le_bytes([e0, e1, e2, e3])).ok()?;
        let (name, value) = (self.bytes.get(self.body..)?)
            .get(usize::try_from(start).ok()?..end)?
            .split_at_checked(usize::from(u16::from_le_bytes([n0, n1])))?;
        Some(Slot { tag: u16::from_le_bytes([tag, reserved]), name, value, end: self.body + end })
    }

    /// The property at a place of the directory, in stored order (PROP-7).
    ///
    /// # Errors
    /// `Corrupted` if the bytes are no row, or `index` is not below [`len`](Self::len).
    pub fn at(&self, index: usize) -> Result<Property<'a>> {
        self.check_version()?;
        let slot = self.slot(index).ok_or_else(|| corrupted("directory"))?;
        let name = std::str::from_utf8(slot.name).map_err(|_| corrupted("property name"))?;
        let value = slot.decode()?.ok_or_else(|| corrupted("value"))?;
        Ok(Property { name, value })
    }

    /// The value of a property; `None` if the entity lacks it.
    ///
    /// `hint` is the place to look first, and is left at the place after the one found: rows written by one program have
    /// their properties in one order, so a reader that keeps its hint finds each at the first look.
    ///
    /// # Errors
    /// `Corrupted` if the bytes are no row.
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
    /// assert_eq!(row.view().find("age", hint)?, None); // PROP-1
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[inline]
    pub fn find(&self, name: &str, hint: &mut usize) -> Result<Option<ValueRef<'a>>> {
        match self.slot(*hint) {
            Some(slot) if slot.name == name.as_bytes() => {
                *hint += 1;
                slot.decode()
            }
            _ => self.search(name, hint),
        }
    }

    fn search(&self, name: &str, hint: &mut usize) -> Result<Option<ValueRef<'a>>> {
        self.check_version()?;
        let count = self.len();
        for index in (*hint..count).chain(0..count.min(*hint)) {
            let slot = self.slot(index).ok_or_else(|| corrupted("directory"))?;
            if slot.name == name.as_bytes() {
                *hint = index + 1;
                return slot.decode();
            }
        }
        Ok(None)
    }

    /// All properties in stored order; one error if the bytes are no row.
    pub fn properties(&self) -> impl Iterator<Item = Result<Property<'a>>> + use<'a> {
        let view = *self;
        let items = if view.body == 0 { 1 } else { view.len() };
        (0..items).map(move |index| view.at(index))
    }
}

impl<'a> Slot<'a> {
    /// Always `Some` if it is `Ok`: what [`RowView::find`] gives back is made here, where it stays. A bare value wrapped
    /// later is moved, which waits for the bytes just written: look-ups took twice as long.
    #[inline]
    fn decode(&self) -> Result<Option<ValueRef<'a>>> {
        let bytes = self.value;
        let value = match u8::try_from(self.tag).ok().and_then(EdmType::from_tag) {
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
}

#[cold]
fn corrupted(what: &str) -> Error {
    Error::new(ErrorCode::Corrupted, format!("encoded row: broken {what}"))
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
