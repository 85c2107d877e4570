//! Validation of an entity's properties against the limits (ENT-2, PROP, TYPE and SIZE rules).

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::limits::fault::LimitFault;
use crate::name::check_property_name;
use crate::row::fault::RowFault;
use crate::row::{Names, Property, Row, RowView};
use crate::ticks;
use crate::value::{ValueRef, out_of_range};

/// Returns the size of an entity, calculated with the service's published formula (SIZE-2, SIZE-3).
///
/// ```
/// use table_core::{ValueRef, row::{RowWriter, entity_bytes}};
///
/// let mut writer = RowWriter::new();
/// writer.property("FirstName", ValueRef::String("Ada"));
/// writer.property("Age", ValueRef::Int32(34));
/// assert_eq!(entity_bytes("Sales", "00001", Some(&writer.finish())), 78); // the worked example (SIZE-7)
/// ```
#[must_use]
pub fn entity_bytes(partition_key: &str, row_key: &str, row: Option<&Row>) -> usize {
    let properties = row.map_or(0, |row| {
        row.view().properties().flatten().map(|p| name_bytes(p.name) + value_bytes(p.value)).sum::<usize>()
    });
    4 + 2 * (utf16(partition_key) + utf16(row_key)) + properties
}

fn utf16(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Returns the number of bytes that a property adds to the entity size, excluding its value.
fn name_bytes(name: &str) -> usize {
    8 + 2 * utf16(name)
}

fn value_bytes(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::String(text) => 2 * utf16(text) + 4,
        ValueRef::Binary(bytes) => bytes.len() + 4,
        ValueRef::Int32(_) => 4,
        ValueRef::Int64(_) | ValueRef::Double(_) | ValueRef::DateTime(_) => 8,
        ValueRef::Guid(_) => 16,
        ValueRef::Boolean(_) => 1,
    }
}

/// Returns the error for a duplicate property name (PROP-6).
pub(crate) fn duplicate_property(name: &str) -> Error {
    Error::of(RowFault::Duplicate(name.to_owned()))
}

impl Limits {
    /// Checks the properties of a row: their number, names and values. The size of the entity is not checked, because it also depends on the key.
    ///
    /// # Errors
    /// - `TooManyProperties` if the row has too many properties.
    /// - `PropertyNameInvalid` or `PropertyNameTooLong` if a name is invalid.
    /// - `DuplicatePropertiesSpecified` if a name is repeated.
    /// - `PropertyValueTooLarge` if a value is too large.
    /// - `OutOfRangeInput` if a date-time is outside the range of `Edm.DateTime` (TYPE-6).
    /// - `Corrupted` if the bytes are not a row.
    pub fn check_row(&self, row: RowView<'_>) -> Result<()> {
        self.measure_new_row(row).map(drop)
    }

    /// Checks a row, and returns the total size of its names and the total size of its values. Both are calculated with the published formula (SIZE-2).
    ///
    /// `before` is the previously checked row, with the total size of its names. If both rows have the same shape (names and types), the names are not checked
    /// again.
    pub(crate) fn measure_row(
        &self,
        before: Option<(RowView<'_>, usize)>,
        row: RowView<'_>,
    ) -> Result<(usize, usize)> {
        if let Some((before, names)) = before
            && before.parts().0 == row.parts().0
            && let Some(values) = self.fitting_values(row)
        {
            return Ok((names, values));
        }
        self.measure_new_row(row)
    }

    fn measure_new_row(&self, row: RowView<'_>) -> Result<(usize, usize)> {
        row.check_version()?;
        if row.len() > self.properties {
            let (count, most) = (row.len(), self.properties);
            return Err(Error::of(LimitFault::Properties { count, most }));
        }
        let (mut names, mut bytes) = (Names::default(), (0, 0));
        for property in row.properties() {
            let Property { name, value } = property?;
            check_property_name(name)?;
            self.check_value(name, value)?;
            names.push(name);
            bytes = (bytes.0 + name_bytes(name), bytes.1 + value_bytes(value));
        }
        match names.repeated(|| row.properties().flatten().map(|property| property.name)) {
            Some(name) => Err(duplicate_property(name)),
            None => Ok(bytes),
        }
    }

    /// Returns the total size of the values. Returns `None` if the row is invalid or a value exceeds its limit. The caller then performs the full check, which
    /// returns the error.
    fn fitting_values(&self, row: RowView<'_>) -> Option<usize> {
        row.check_version().ok()?;
        (0..row.len()).try_fold(0, |sum, index| {
            let (tag, _) = row.label(index)?;
            let value = row.value_at(Some((index, tag))).ok()??;
            self.check_value("", value).ok()?;
            Some(sum + value_bytes(value))
        })
    }

    fn check_value(&self, name: &str, value: ValueRef<'_>) -> Result<()> {
        let too_large = |found, unit, most| {
            Err(Error::of(LimitFault::Value { name: name.to_owned(), found, unit, most }))
        };
        match value {
            ValueRef::String(text) if text.len() > self.string_units => {
                let units = utf16(text);
                if units > self.string_units {
                    too_large(units, "UTF-16 code units", self.string_units)
                } else {
                    Ok(())
                }
            }
            ValueRef::Binary(bytes) if bytes.len() > self.binary_bytes => {
                too_large(bytes.len(), "bytes", self.binary_bytes)
            }
            ValueRef::DateTime(count) if !(ticks::EDM_MIN..=ticks::MAX).contains(&count) => {
                Err(out_of_range(name, &format_args!("tick {count}")))
            }
            _ => Ok(()),
        }
    }
}
