//! A row reader for properties in a known order.

use std::ops::Range;

use crate::row::view::{Entry, RowView};
use crate::value::EdmType;

/// A reader of properties in a known order.
///
/// Its functions return `None` if the next property is not the requested one. The caller then calls [`RowView::find`], which searches for the property or
/// reports an error.
///
/// ```
/// use table_core::row::{RowReader, RowWriter};
/// use table_core::{EdmType, ValueRef};
///
/// let mut writer = RowWriter::new();
/// writer.property("FirstName", ValueRef::String("Ada"));
/// writer.property("Age", ValueRef::Int32(34));
/// let row = writer.finish();
/// let mut reader = RowReader::new(row.view());
/// assert_eq!(reader.text("LastName"), None); // not the next property
/// assert_eq!(reader.text("FirstName"), Some("Ada"));
/// assert_eq!(reader.fixed("Age", EdmType::Int32).map(i32::from_le_bytes), Some(34));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RowReader<'a> {
    row: RowView<'a>,
    /// The index of the next property, usable as the hint of [`RowView::find`].
    pub next: usize,
    /// `true` if the row has the expected shape, so names and types need not be compared.
    as_expected: bool,
    /// The entries of the shape's directory. `labels`, `ends` and `values` are stored because most reads use all three.
    labels: &'a [Entry],
    ends: &'a [Entry],
    values: &'a [u8],
    /// The unread part of the values already validated as UTF-8. It starts at offset `begin`.
    text: &'a str,
    begin: usize,
}

impl<'a> RowReader<'a> {
    /// Creates a reader that starts at the first property.
    #[must_use]
    pub const fn new(row: RowView<'a>) -> Self {
        let (labels, ends, values) = row.directories();
        Self { row, next: 0, as_expected: false, labels, ends, values, text: "", begin: 0 }
    }

    /// Returns the row.
    #[must_use]
    pub const fn row(&self) -> RowView<'a> {
        self.row
    }

    /// Sets the expected shape: the names and types in rows written by this program.
    ///
    /// If the row has that shape, the reader does not compare the names and types of individual properties. The caller must then request exactly these
    /// properties, in this order.
    #[doc(hidden)]
    #[inline]
    pub fn expect(&mut self, shape: &[u8]) {
        self.as_expected = self.row.parts().0 == shape;
    }

    /// Returns the bytes of the next property if it has the given name and type.
    #[inline]
    pub fn bytes(&mut self, name: &str, edm: EdmType) -> Option<&'a [u8]> {
        let place = self.next_place(name, edm)?;
        self.values.get(place)
    }

    /// Returns the bytes of the next property if it has the given name, the given type and a size of `N` bytes.
    #[inline]
    pub fn fixed<const N: usize>(&mut self, name: &str, edm: EdmType) -> Option<[u8; N]> {
        self.bytes(name, edm)?.try_into().ok()
    }

    /// Returns the next property if it has the given name and the type `Edm.String`. Consecutive strings are validated as UTF-8 together, because validating a
    /// hundred bytes takes only twice as long as validating ten.
    #[inline]
    pub fn text(&mut self, name: &str) -> Option<&'a str> {
        let Range { start, end } = self.next_place(name, EdmType::String)?;
        let length = end.checked_sub(start)?;
        if start != self.begin || length > self.text.len() {
            self.check(start)?;
        }
        let (text, rest) = self.text.split_at_checked(length)?;
        (self.text, self.begin) = (rest, end);
        Some(text)
    }

    #[inline]
    fn next_place(&mut self, name: &str, edm: EdmType) -> Option<Range<usize>> {
        let is_next = |row: &RowView<'_>| row.label(self.next) == Some((edm as u8, name.as_bytes()));
        if !self.as_expected && !is_next(&self.row) {
            return None;
        }
        debug_assert!(is_next(&self.row), "`{name}` is not requested in the order of the shape");
        let place = self.place(self.next)?;
        self.next += 1;
        Some(place)
    }

    #[inline]
    fn place(&self, index: usize) -> Option<Range<usize>> {
        let end = |entry: &Entry| u32::from_le_bytes(*entry) as usize;
        let start = self.ends.get(index.wrapping_sub(1)).map_or(0, end);
        Some(start..end(self.ends.get(index)?))
    }

    /// Validates the string at offset `start`, together with the strings that directly follow it.
    fn check(&mut self, start: usize) -> Option<()> {
        let rest = self.labels.get(self.next..)?;
        let more = rest.iter().take_while(|[tag, ..]| *tag == TEXT).count();
        let end = self.place(self.next - 1 + more)?.end;
        self.text = std::str::from_utf8(self.values.get(start..end)?).ok()?;
        self.begin = start;
        Some(())
    }
}

const TEXT: u8 = EdmType::String as u8;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::row::RowWriter;
    use crate::value::{Value, ValueRef};

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            "\\PC{0,12}".prop_map(Value::String),
            any::<i32>().prop_map(Value::Int32),
            any::<i64>().prop_map(Value::Int64),
            any::<bool>().prop_map(Value::Boolean),
            prop::collection::vec(any::<u8>(), 0..9).prop_map(Value::Binary),
        ]
    }

    /// Returns the next property, like `find`, but uses only the reader's functions.
    fn next<'a>(reader: &mut RowReader<'a>, name: &str, edm: EdmType) -> Option<ValueRef<'a>> {
        match edm {
            EdmType::String => reader.text(name).map(ValueRef::String),
            EdmType::Int32 => reader.fixed(name, edm).map(i32::from_le_bytes).map(ValueRef::Int32),
            EdmType::Int64 => reader.fixed(name, edm).map(i64::from_le_bytes).map(ValueRef::Int64),
            EdmType::Boolean => reader.fixed(name, edm).map(|[flag]| ValueRef::Boolean(flag == 1)),
            _ => reader.bytes(name, edm).map(ValueRef::Binary),
        }
    }

    proptest! {
        #[test]
        fn ordered_reads_agree_with_find(values in prop::collection::vec(value(), 0..12)) {
            let named: Vec<_> = values.iter().enumerate().map(|(at, value)| (format!("Ä{at}"), value)).collect();
            let mut writer = RowWriter::new();
            for (name, value) in &named {
                writer.property(name, value.as_ref());
            }
            let row = writer.finish();
            let mut reader = RowReader::new(row.view());
            for (name, value) in &named {
                prop_assert_eq!(reader.text("Elsewhere"), None);
                let found = next(&mut reader, name, value.edm_type());
                prop_assert_eq!(found, row.view().find(name, &mut 0).unwrap());
            }
            prop_assert_eq!(reader.text("Beyond"), None);
        }

        #[test]
        fn broken_bytes_never_panic_and_are_never_text(
            values in prop::collection::vec(value(), 1..8),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut writer = RowWriter::new();
            for value in &values {
                writer.property("P", value.as_ref());
            }
            let mut bytes = writer.finish().as_bytes().to_vec();
            for (at, flip) in flips {
                let at = at.index(bytes.len());
                bytes[at] ^= flip;
            }
            let mut reader = RowReader::new(RowView::new(&bytes));
            for (place, value) in values.iter().enumerate() {
                reader.next = place;
                if let Some(found) = next(&mut reader, "P", value.edm_type()) {
                    let property = reader.row().at(place);
                    let flag = value.edm_type() == EdmType::Boolean;
                    prop_assert!(flag || property.is_ok_and(|property| property.value == found));
                }
            }
        }
    }

    #[test]
    fn a_string_that_is_not_utf_8_hides_no_other() {
        let mut writer = RowWriter::new();
        for text in ["first", "second", "third"] {
            writer.property(text, ValueRef::String(text));
        }
        let mut bytes = writer.finish().as_bytes().to_vec();
        let at = bytes.windows(11).rposition(|window| window == b"firstsecond").unwrap();
        bytes[at + 5] = 0xFF;
        let view = RowView::new(&bytes);
        assert_eq!(RowReader::new(view).text("first"), None, "left to the slower path");
        assert_eq!(view.find("first", &mut 0).unwrap(), Some(ValueRef::String("first")));
        assert!(view.find("second", &mut 0).is_err());
    }
}
