//! The reader and the writer of a wide entity's properties. Each property is assigned to one part.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use table_core::entity::Entity;
use table_core::property::Property;
use table_core::row::{self, Row, RowWriter};
use table_core::schema::ENTITY_TYPE;
use table_core::{Error, Result, ValueRef};
use uuid::Uuid;

use crate::wide::fault::WideFault;
use crate::wide::places::{Names, Places};
use crate::wide::{WRITE_ID, Wide};

/// A writer that puts each property of a wide entity into its assigned part.
#[derive(Debug)]
pub struct WideWriter {
    places: Places,
    parts: Vec<Part>,
    /// For each position, `true` if the property has been written.
    written: Vec<bool>,
    /// The position just past the last written property. The search for the next property begins here, because properties are usually written in order.
    next: usize,
}

#[derive(Debug)]
struct Part {
    row: RowWriter,
    /// `true` if a property in this part has been written.
    is_written: bool,
}

impl WideWriter {
    pub(super) fn new(names: Names) -> Self {
        let part =
            |names: &&[&str]| Part { row: RowWriter::with_capacity(names.len() + 1), is_written: false };
        let places = Places::new(names);
        let written = vec![false; places.count()];
        Self { places, parts: names.iter().map(part).collect(), written, next: 0 }
    }

    /// Writes a property. Does nothing if the value is `None`.
    ///
    /// # Errors
    /// - `InvalidInput` if the name is not in any part (PAT-WIDE-1), or has already been written.
    /// - `OutOfRangeInput` if the Edm type cannot represent the value.
    pub fn set<T: Property>(&mut self, name: &str, value: &T) -> Result<()> {
        self.put(name, |row| value.write_to(name, row))
    }

    /// Calls a function that writes a property into its part.
    pub(super) fn put(&mut self, name: &str, write: impl FnOnce(&mut RowWriter) -> Result<()>) -> Result<()> {
        let position = self.places.of(name, self.next).ok_or_else(|| unknown(name))?;
        self.next = position + 1;
        match self.written.get_mut(position) {
            Some(written) if !*written => *written = true,
            _ => return Err(Error::of(WideFault::Twice).with_property(name)),
        }
        let part = self.parts.get_mut(self.places.part(position)).ok_or_else(|| unknown(name))?;
        part.is_written = true;
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

    /// Returns the part that contains all written properties. Returns `None` if they are in several parts, or if nothing has been written.
    pub(super) fn only_part(&self) -> Option<usize> {
        let mut touched = self.parts.iter().enumerate().filter(|(_, part)| part.is_written);
        touched.next().map(|(at, _)| at).filter(|_| touched.next().is_none())
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.parts.iter().any(|part| part.is_written)
    }

    /// Returns the rows of all parts, in order. If `write` is given, each row contains it as its `WriteId`.
    pub(super) fn finish(self, write: Option<Uuid>) -> Result<Vec<Row>> {
        let finish = |mut part: Part| {
            write.map_or(Ok(()), |write| write.write_to(WRITE_ID, &mut part.row))?;
            Ok(part.row.finish())
        };
        self.parts.into_iter().map(finish).collect()
    }
}

/// Reads the properties of a wide entity from the parts that contain them.
#[derive(Debug)]
pub struct WideReader<'a> {
    places: Places,
    /// The values that are stored in the declared part under the declared name, by position.
    own: Vec<Option<ValueRef<'a>>>,
    /// The values of declared properties that are stored in other parts, or under names with a different number of digits, by position.
    moved: BTreeMap<usize, Vec<Stored<'a>>>,
    /// The properties of the header, which belong to the first part.
    of_header: Vec<Stored<'a>>,
    /// The properties that neither the wide entity nor its header declares.
    undeclared: Vec<Stored<'a>>,
    /// `true` if the value in the declared part takes precedence over a different value in another part. `false` if different values are an error.
    is_lenient: bool,
    /// The position just past the last property that was read. The search for the next property begins here, because properties are usually read in order.
    next: AtomicUsize,
}

/// A stored property.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored<'a> {
    pub(super) part: usize,
    pub(super) name: &'a str,
    pub(super) value: ValueRef<'a>,
}

impl<'a> WideReader<'a> {
    /// Creates a reader for the stored parts of an entity of type `W`.
    pub(super) fn of<W: Wide>(parts: &'a [Row]) -> Result<Self> {
        let (places, header) = (Places::new(W::PARTS), W::Header::SCHEMA);
        let is_fixed = |name: &str| name == WRITE_ID || name == ENTITY_TYPE && header.kind.is_some();
        let is_of_header = |name: &str| header.properties.iter().any(|property| property.name == name);
        let mut own = vec![None; places.count()];
        let mut moved: BTreeMap<usize, Vec<Stored<'a>>> = BTreeMap::new();
        let (mut of_header, mut undeclared, mut next) = (Vec::new(), Vec::new(), 0);
        for (part, row) in parts.iter().enumerate() {
            for property in row.view().properties() {
                let row::Property { name, value } = property?;
                let stored = Stored { part, name, value };
                let declared = places.of(name, next);
                if declared.is_none() && is_fixed(name) {
                    continue;
                }
                if declared.is_none() && is_of_header(name) {
                    of_header.push(stored);
                    continue;
                }
                let Some(position) = declared.or_else(|| places.of_other_width(name)) else {
                    undeclared.push(stored);
                    continue;
                };
                next = position + 1;
                match own.get_mut(position) {
                    Some(own) if declared.is_some() && places.part(position) == part => *own = Some(value),
                    _ => moved.entry(position).or_default().push(stored),
                }
            }
        }
        Ok(Self { places, own, moved, of_header, undeclared, is_lenient: false, next: AtomicUsize::new(0) })
    }

    /// Gives the value in the declared part precedence over a different value in another part. By default, different values are an error.
    pub(super) fn lenient(self) -> Self {
        Self { is_lenient: true, ..self }
    }

    /// Returns `true` if every property is in its declared part under its declared name.
    pub(super) fn is_placed(&self) -> bool {
        self.moved.is_empty() && self.of_header.iter().all(|stored| stored.part == 0)
    }

    /// Returns a row with the header properties that are found only in parts other than the first. Returns `None` if all header properties are in the first
    /// part.
    ///
    /// # Errors
    /// `EntityMismatch` if two parts contain a property with different values (PAT-WIDE-4).
    pub(super) fn moved_header(&self) -> Result<Option<Row>> {
        let mut names: Vec<&str> = self.of_header.iter().map(|stored| stored.name).collect();
        names.sort_unstable();
        names.dedup();
        let mut moved: Option<RowWriter> = None;
        for name in names {
            let stored = self.of_header.iter().filter(|stored| stored.name == name).copied();
            if let Some(Stored { value, .. }) = self.chosen(name, stored)?.filter(|stored| stored.part > 0) {
                moved.get_or_insert_with(RowWriter::new).property(name, value);
            }
        }
        Ok(moved.map(RowWriter::finish))
    }

    /// Returns the first of the values of a property, which may be stored in several parts.
    ///
    /// # Errors
    /// `EntityMismatch` if the values differ, unless the reader is [lenient](Self::lenient).
    fn chosen(&self, name: &str, stored: impl IntoIterator<Item = Stored<'a>>) -> Result<Option<Stored<'a>>> {
        let mut found: Option<Stored<'a>> = None;
        for other in stored {
            match found {
                // Either value may be the later one: programs with different declarations write to different parts.
                Some(first) if !self.is_lenient && first.value != other.value => {
                    return Err(Error::of(conflicting_values(&first, &other)).with_property(name));
                }
                Some(_) => {}
                None => found = Some(other),
            }
        }
        Ok(found)
    }

    /// Returns the properties that neither the wide entity nor its header declares, such as properties that a newer release has added.
    pub(super) fn undeclared(&self) -> &[Stored<'a>] {
        &self.undeclared
    }

    /// Returns the value of a property.
    ///
    /// # Errors
    /// - `InvalidInput` if the name is not in any part.
    /// - `EntityMismatch` if the property has a different type, or if it is absent and `T` is not an `Option`.
    /// - `EntityMismatch` if two parts contain the property with different values (PAT-WIDE-4).
    pub fn get<T: Property>(&self, name: &str) -> Result<T> {
        self.take(name, T::from_value)
    }

    /// Reads a property with the given function. The property may be in its declared part or in any other part.
    pub(super) fn take<T>(
        &self,
        name: &str,
        read: impl FnOnce(Option<ValueRef<'a>>) -> Result<T>,
    ) -> Result<T> {
        let next = self.next.load(Ordering::Relaxed);
        let position = self.places.of(name, next).ok_or_else(|| unknown(name))?;
        self.next.store(position + 1, Ordering::Relaxed);
        let own = self.own.get(position).copied().flatten().zip(self.places.name(position));
        let own = own.map(|(value, name)| Stored { part: self.places.part(position), name, value });
        // A program with an earlier declaration may have written the property. If this value were ignored, it would be lost.
        let moved = self.moved.get(&position).into_iter().flatten().copied();
        let found = self.chosen(name, own.into_iter().chain(moved))?;
        read(found.map(|found| found.value)).map_err(|error| error.with_property(name))
    }
}

/// Returns the error for a property that is stored twice, with different values.
fn conflicting_values(first: &Stored<'_>, second: &Stored<'_>) -> WideFault {
    if first.name == second.name {
        WideFault::TwoParts { first: first.part + 1, second: second.part + 1 }
    } else {
        WideFault::TwoNames { first: first.name.to_owned(), second: second.name.to_owned() }
    }
}

fn unknown(name: &str) -> Error {
    Error::of(WideFault::UnknownProperty(name.to_owned()))
}
