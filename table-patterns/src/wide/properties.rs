//! The properties of a wide entity, each in its part.

use table_core::error::{Error, Result};
use table_core::property::Property;
use table_core::row::{Row, RowWriter};
use table_core::value::ValueRef;
use uuid::Uuid;

use crate::wide::WRITE_ID;
use crate::wide::fault::WideFault;

type Names = &'static [&'static [&'static str]];

/// Takes the properties of a wide entity and puts each into its part.
#[derive(Debug)]
pub struct WideWriter {
    names: Names,
    parts: Vec<Part>,
    /// Where the last one was: properties mostly come in order.
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

    /// Writes a property; nothing for a `None`.
    ///
    /// # Errors
    /// `InvalidInput` for a name that is in no part (PAT-WIDE-1), or that was written already; `OutOfRangeInput` for a value
    /// that has no place in its Edm type.
    pub fn set<T: Property>(&mut self, name: &str, value: &T) -> Result<()> {
        self.put(name, |row| value.write_to(name, row))
    }

    /// Lets a property be written into its part.
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

    /// Appends what is not a property of the type: the header's own.
    pub(super) fn append(&mut self, header: &Row) -> Result<()> {
        for property in header.view().properties() {
            let property = property?;
            if let Some(first) = self.parts.first_mut() {
                first.row.property(property.name, property.value);
            }
        }
        Ok(())
    }

    /// The part that all properties are in; `None` if they are in several, or there are none.
    pub(super) fn only_part(&self) -> Option<usize> {
        let mut touched = self.parts.iter().enumerate().filter(|(_, part)| part.written.contains(&true));
        touched.next().map(|(at, _)| at).filter(|_| touched.next().is_none())
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.parts.iter().any(|part| part.written.contains(&true))
    }

    /// The row of each part, in order, with one `WriteId` in all of them if there is one.
    pub(super) fn finish(self, write: Option<Uuid>) -> Result<Vec<Row>> {
        let finish = |mut part: Part| {
            write.map_or(Ok(()), |write| write.write_to(WRITE_ID, &mut part.row))?;
            Ok(part.row.finish())
        };
        self.parts.into_iter().map(finish).collect()
    }
}

/// Gives the properties of a wide entity, whichever part they are in.
#[derive(Debug)]
pub struct WideReader<'a> {
    names: Names,
    parts: &'a [Row],
}

impl<'a> WideReader<'a> {
    pub(super) const fn new(names: Names, parts: &'a [Row]) -> Self {
        Self { names, parts }
    }

    /// A property.
    ///
    /// # Errors
    /// `InvalidInput` for a name that is in no part; `EntityMismatch` if it is absent, and `T` is not an `Option`, or of another
    /// type.
    pub fn get<T: Property>(&self, name: &str) -> Result<T> {
        self.take(name, T::from_value)
    }

    /// A property that is read in this way: from its part, and where it is not there from any other that holds it.
    pub(super) fn take<T>(
        &self,
        name: &str,
        read: impl FnOnce(Option<ValueRef<'a>>) -> Result<T>,
    ) -> Result<T> {
        let (at, index) = place(self.names, name, (0, 0))?;
        let own = self.parts.get(at).map(|part| part.view().find(name, &mut index.clone()));
        let mut value = own.transpose()?.flatten();
        // Written when the declaration put it into another part: lost in silence, were it not looked for.
        for (_, other) in self.parts.iter().enumerate().filter(|(other, _)| *other != at) {
            if value.is_some() {
                break;
            }
            value = other.view().find(name, &mut index.clone())?;
        }
        read(value).map_err(|error| error.with_property(name))
    }
}

/// The part that a property is in, and its place there; looked for from the hint on.
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
