//! Support for generated code that reads the key of an index row. The code computes the key of the entity that the row belongs to. If the row is a copy of the
//! entity, the code also restores the properties stored only in the row's key.
//!
//! Generated code chains calls to these functions, because each `let … else` in an expansion adds to the compile time.

use table_store::{Error, ErrorCode, Result, ValueRef};

use crate::key::EntityKey;
use crate::key::codec::compound::{Piece, Splitter};
use crate::property::Search;
use crate::query::EntityRef;
use crate::row::RowWriter;

use super::property::{Encode, of_field};
use super::reader::Decode;

/// The encoded parts of an index row's `PartitionKey`, followed by those of its `RowKey`.
#[derive(Debug)]
struct KeyParts<'a>(Vec<&'a str>);

impl<'a> KeyParts<'a> {
    /// Splits the `PartitionKey` and the `RowKey` into their parts. If the pieces of a key are `None`, that key is skipped.
    fn split(
        entry: EntityRef<'a>,
        partition_key: Option<&'a [Piece]>,
        row_key: Option<&'a [Piece]>,
    ) -> Result<Self> {
        let mut parts = Vec::new();
        for (pieces, text) in [(partition_key, entry.partition_key), (row_key, entry.row_key)] {
            let Some(pieces) = pieces else { continue };
            let mut splitter = Splitter::new(pieces, text);
            for piece in pieces {
                if matches!(piece, Piece::Part(_)) {
                    parts.push(splitter.next_part()?);
                }
            }
            splitter.finish()?;
        }
        Ok(Self(parts))
    }

    fn decode<T>(&self, at: usize, field: &'static str, decode: Decode<T>) -> Result<T> {
        let missing = || Error::new(ErrorCode::EntityMismatch, "the key of the index row has fewer parts");
        of_field(field, self.0.get(at).ok_or_else(missing).and_then(|text| decode(text)))
    }
}

/// A builder for the key of an entity. It reads the parts from a row of one of the entity's indexes (`Index::owner`). `finish` returns the first error.
#[derive(Debug)]
pub struct OwnerKey<'a>(Result<Owner<'a>>);

#[derive(Debug)]
struct Owner<'a> {
    parts: KeyParts<'a>,
    search: Search<'a>,
    partition_key: Option<String>,
    text: String,
}

impl<'a> OwnerKey<'a> {
    /// Starts the entity's `PartitionKey`. The arguments are the index row and the pieces of its two keys. The pieces are `None` if the key is not needed.
    #[must_use]
    pub fn new(
        entry: EntityRef<'a>,
        partition_key: Option<&'a [Piece]>,
        row_key: Option<&'a [Piece]>,
    ) -> Self {
        let parts = KeyParts::split(entry, partition_key, row_key);
        Self(parts.map(|parts| Owner {
            parts,
            search: Search::new(entry.row),
            partition_key: None,
            text: String::new(),
        }))
    }

    /// Ends the `PartitionKey` with a literal, and starts the `RowKey`.
    #[must_use]
    pub fn row_key(self, literal: &str) -> Self {
        self.then(|owner| {
            owner.text.push_str(literal);
            owner.partition_key = Some(std::mem::take(&mut owner.text));
            Ok(())
        })
    }

    /// Appends a literal, and a field stored in the index row's keys. `at` is the index of the field's key part. The parts of the row's `PartitionKey` are
    /// counted first, and then the parts of its `RowKey`.
    #[must_use]
    pub fn part<T>(
        self,
        literal: &str,
        field: &'static str,
        at: usize,
        decode: Decode<T>,
        encode: Encode<T>,
    ) -> Self {
        self.then(|owner| {
            let value = owner.parts.decode(at, field, decode)?;
            owner.put(literal, field, &value, encode)
        })
    }

    /// Appends a literal and a field. The index row stores the field's key text as a string property.
    #[must_use]
    pub fn key_text<T>(
        self,
        literal: &str,
        field: &'static str,
        property: &'static str,
        decode: Decode<T>,
        encode: Encode<T>,
    ) -> Self {
        self.then(|owner| {
            let Some(ValueRef::String(text)) = owner.search.find(property)? else {
                let message = "the copy lacks this part of its entity's key; write the copy again";
                return Err(Error::new(ErrorCode::EntityMismatch, message).with_property(property));
            };
            let value = of_field(field, decode(text))?;
            owner.put(literal, field, &value, encode)
        })
    }

    /// Appends a literal and a field. The index row stores the field's value as a property.
    #[must_use]
    pub fn property<T>(
        self,
        literal: &str,
        field: &'static str,
        property: &'static str,
        read: fn(&mut Search<'_>, &'static str) -> Option<T>,
        encode: Encode<T>,
    ) -> Self {
        self.then(|owner| {
            let Some(value) = read(&mut owner.search, property) else {
                return Err(owner.search.take_error().unwrap_or_else(|| {
                    let message = "the copy lacks this property; write the copy again";
                    Error::new(ErrorCode::EntityMismatch, message).with_property(property)
                }));
            };
            owner.put(literal, field, &value, encode)
        })
    }

    /// Appends the last literal and returns the entity's key.
    ///
    /// # Errors
    /// `EntityMismatch` if the row does not belong to the index; `KeyEncoding` if a value cannot be encoded.
    pub fn finish(self, literal: &str) -> Result<EntityKey> {
        let mut owner = self.0?;
        owner.text.push_str(literal);
        EntityKey::new(owner.partition_key.unwrap_or_default(), owner.text)
    }

    fn then(self, next: impl FnOnce(&mut Owner<'a>) -> Result<()>) -> Self {
        Self(self.0.and_then(|mut owner| next(&mut owner).map(|()| owner)))
    }
}

impl Owner<'_> {
    fn put<T>(&mut self, literal: &str, field: &'static str, value: &T, encode: Encode<T>) -> Result<()> {
        self.text.push_str(literal);
        of_field(field, encode(value, &mut self.text))
    }
}

/// A writer of the properties stored only in a copy's keys (`CopyIndex::write_key_properties`). `finish` returns the first error.
#[derive(Debug)]
pub struct KeyProperties<'a, 'r> {
    parts: Result<KeyParts<'a>>,
    row: &'r mut RowWriter,
}

impl<'a, 'r> KeyProperties<'a, 'r> {
    /// Splits the keys of a copy. `partition_key` and `row_key` are the pieces of the keys, or `None` if the key is not needed. The properties are written to
    /// `row`.
    #[must_use]
    pub fn new(
        copy: EntityRef<'a>,
        partition_key: Option<&'a [Piece]>,
        row_key: Option<&'a [Piece]>,
        row: &'r mut RowWriter,
    ) -> Self {
        Self { parts: KeyParts::split(copy, partition_key, row_key), row }
    }

    /// Writes the property of a field. `at` is the index of the field's key part. The parts of the `PartitionKey` are counted first, and then the parts of the
    /// `RowKey`. `from_part` converts the part to the field's type.
    #[must_use]
    pub fn property<P, T>(
        self,
        field: &'static str,
        at: usize,
        decode: Decode<P>,
        from_part: fn(P) -> T,
        property: &str,
        write: fn(&T, &str, &mut RowWriter) -> Result<()>,
    ) -> Self {
        let Self { parts, row } = self;
        let parts = parts.and_then(|parts| {
            let value = from_part(parts.decode(at, field, decode)?);
            write(&value, property, row).map(|()| parts)
        });
        Self { parts, row }
    }

    /// Returns the first error, if any.
    ///
    /// # Errors
    /// `EntityMismatch` if the keys do not belong to a copy.
    pub fn finish(self) -> Result<()> {
        self.parts.map(|_| ())
    }
}
