//! The properties of a wide entity, assigned to its parts.

use table_core::property::Property;
use table_core::row::{Row, RowWriter};
use table_core::{Error, Result, ValueRef};
use uuid::Uuid;

use crate::wide::WRITE_ID;
use crate::wide::fault::WideFault;

type Names = &'static [&'static [&'static str]];

/// A writer that writes each property of a wide entity into its part.
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
    /// - `InvalidInput` if the name is not in any part (PAT-WIDE-1), or was already written.
    /// - `OutOfRangeInput` if the Edm type cannot represent the value.
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
    /// The declared properties that are stored in a part other than the declared one.
    moved: Vec<Moved<'a>>,
    /// `true` if a value in the declared part is preferred to a value in another part.
    is_lenient: bool,
}

/// A property in a part other than the declared one.
#[derive(Debug)]
struct Moved<'a> {
    part: usize,
    name: &'a str,
    value: ValueRef<'a>,
}

impl<'a> WideReader<'a> {
    pub(super) fn new(names: Names, parts: &'a [Row]) -> Result<Self> {
        let mut moved = Vec::new();
        for (part, row) in parts.iter().enumerate() {
            let (own, mut hint) = (names.get(part).copied().unwrap_or_default(), 0);
            for property in row.view().properties() {
                let property = property?;
                // The properties of a part are usually in the declared order.
                let (before, after) = own.split_at(hint);
                if let Some(at) = after.iter().position(|name| *name == property.name) {
                    hint += at + 1;
                } else if !before.contains(&property.name)
                    && names.iter().any(|part| part.contains(&property.name))
                {
                    moved.push(Moved { part, name: property.name, value: property.value });
                }
            }
        }
        Ok(Self { names, parts, moved, is_lenient: false })
    }

    /// Prefers a value in the declared part to a different value in another part. Without this, different values are an error.
    pub(super) fn lenient(self) -> Self {
        Self { is_lenient: true, ..self }
    }

    /// Returns `true` if every property is in its declared part.
    pub(super) fn is_placed(&self) -> bool {
        self.moved.is_empty()
    }

    /// Returns a property.
    ///
    /// # Errors
    /// - `InvalidInput` if the name is not in any part.
    /// - `EntityMismatch` if the property has a different type, or is absent and `T` is not an `Option`.
    /// - `EntityMismatch` if two parts contain the property with different values (PAT-WIDE-4).
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
        let mut found = own.transpose()?.flatten().map(|value| (at, value));
        // The property may have been written when it was declared in another part. Ignoring it would silently lose its value.
        for other in self.moved.iter().filter(|moved| moved.name == name) {
            match found {
                // Each part may contain the later value: programs with different declarations write different parts.
                Some((part, value)) if !self.is_lenient && value != other.value => {
                    let fault = WideFault::TwoParts { first: part + 1, second: other.part + 1 };
                    return Err(Error::of(fault).with_property(name));
                }
                Some(_) => {}
                None => found = Some((other.part, other.value)),
            }
        }
        read(found.map(|(_, value)| value)).map_err(|error| error.with_property(name))
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
