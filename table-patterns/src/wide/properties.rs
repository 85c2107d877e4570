//! The properties of a wide entity, assigned to its parts.

use table_core::property::Property;
use table_core::row::{Row, RowWriter};
use table_core::{Error, Result, ValueRef};
use uuid::Uuid;

use crate::wide::WRITE_ID;
use crate::wide::fault::WideFault;

type Names = &'static [&'static [&'static str]];

/// A writer that puts each property of a wide entity into its part.
#[derive(Debug)]
pub struct WideWriter {
    names: Names,
    parts: Vec<Part>,
    /// The position after the last written property, where the search for the next one begins, because properties are usually written in order.
    hint: (usize, usize),
}

#[derive(Debug)]
struct Part {
    row: RowWriter,
    written: Vec<bool>,
}

impl WideWriter {
    pub(super) fn new(names: Names) -> Self {
        let part = |names: &&[&str]| Part {
            row: RowWriter::with_capacity(names.len() + 1),
            written: vec![false; names.len()],
        };
        Self { names, parts: names.iter().map(part).collect(), hint: (0, 0) }
    }

    /// Writes a property. Does nothing for `None`.
    ///
    /// # Errors
    /// - `InvalidInput` for a name that is not in any part (PAT-WIDE-1), or that was already written.
    /// - `OutOfRangeInput` for a value that its Edm type cannot represent.
    pub fn set<T: Property>(&mut self, name: &str, value: &T) -> Result<()> {
        self.put(name, |row| value.write_to(name, row))
    }

    /// Calls a function that writes a property into its part.
    pub(super) fn put(&mut self, name: &str, write: impl FnOnce(&mut RowWriter) -> Result<()>) -> Result<()> {
        let (at, index) = place(self.names, name, self.hint)?;
        self.hint = (at, index + 1);
        let part = self.parts.get_mut(at).ok_or_else(|| unknown(name))?;
        match part.written.get_mut(index) {
            Some(written) if !*written => *written = true,
            _ => {
                return Err(Error::of(WideFault::Twice).with_property(name));
            }
        }
        write(&mut part.row)
    }

    /// Appends the properties of the header to the first part.
    pub(super) fn append(&mut self, header: &Row) -> Result<()> {
        for property in header.view().properties() {
            let property = property?;
            if let Some(first) = self.parts.first_mut() {
                first.row.property(property.name, property.value);
            }
        }
        Ok(())
    }

    /// Returns the part that contains all written properties; `None` for several parts or none.
    pub(super) fn only_part(&self) -> Option<usize> {
        let mut touched = self.parts.iter().enumerate().filter(|(_, part)| part.written.contains(&true));
        touched.next().map(|(at, _)| at).filter(|_| touched.next().is_none())
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.parts.iter().any(|part| part.written.contains(&true))
    }

    /// Returns the rows of all parts in order. If a `WriteId` is given, each row contains it.
    pub(super) fn finish(self, write: Option<Uuid>) -> Result<Vec<Row>> {
        let finish = |mut part: Part| {
            write.map_or(Ok(()), |write| write.write_to(WRITE_ID, &mut part.row))?;
            Ok(part.row.finish())
        };
        self.parts.into_iter().map(finish).collect()
    }
}

/// A reader of a wide entity's properties, which may be in any part.
#[derive(Debug)]
pub struct WideReader<'a> {
    names: Names,
    parts: &'a [Row],
}

impl<'a> WideReader<'a> {
    pub(super) const fn new(names: Names, parts: &'a [Row]) -> Self {
        Self { names, parts }
    }

    /// Returns a property.
    ///
    /// # Errors
    /// - `InvalidInput` for a name that is not in any part.
    /// - `EntityMismatch` if the property has another type, or is absent and `T` is not an `Option`.
    pub fn get<T: Property>(&self, name: &str) -> Result<T> {
        self.take(name, T::from_value)
    }

    /// Reads a property with the given function, from the part it belongs to or from another part that contains it.
    pub(super) fn take<T>(
        &self,
        name: &str,
        read: impl FnOnce(Option<ValueRef<'a>>) -> Result<T>,
    ) -> Result<T> {
        let (at, index) = place(self.names, name, (0, 0))?;
        let own = self.parts.get(at).map(|part| part.view().find(name, &mut index.clone()));
        let mut value = own.transpose()?.flatten();
        // The property may have been written when it was declared in another part. Ignoring it would silently lose its value.
        for (_, other) in self.parts.iter().enumerate().filter(|(other, _)| *other != at) {
            if value.is_some() {
                break;
            }
            value = other.view().find(name, &mut index.clone())?;
        }
        read(value).map_err(|error| error.with_property(name))
    }
}

/// Returns the part of a property and its index there. The hint is tried first.
fn place(names: Names, name: &str, hint: (usize, usize)) -> Result<(usize, usize)> {
    if names.get(hint.0).and_then(|part| part.get(hint.1)) == Some(&name) {
        return Ok(hint);
    }
    let of_part =
        |(at, part): (usize, &&[&str])| part.iter().position(|found| *found == name).map(|index| (at, index));
    names.iter().enumerate().find_map(of_part).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Error {
    Error::of(WideFault::UnknownProperty(name.to_owned()))
}
