//! Support for `from_entity`. The reader reads the key parts and properties of an entity or copy, in order.

use table_store::{Error, ErrorCode, Result, ValueRef, quoted};

use crate::key::codec::compound::{Piece, Splitter};
use crate::property::Search;
use crate::query::EntityRef;
use crate::schema::ENTITY_TYPE;

use super::property::{Encode, of_field};

/// The `decode` function of a codec. It is a function pointer for the same reason as [`Encode`].
pub type Decode<T> = fn(&str) -> Result<T>;

/// The `decode_again` function of a codec.
pub type DecodeAgain<T> = fn(&str, &mut T) -> Result<()>;

/// A reader of one entity. It contains the key text and properties not yet read, and the first error. Generated code uses
/// `let … else { return reader.fail() }`, because `?` compiles more slowly.
#[derive(Debug)]
pub struct EntityReader<'a> {
    row_key: &'a str,
    key: Splitter<'a>,
    /// `true` if the `PartitionKey` fields of the previous entity can be kept.
    is_known: bool,
    /// The search for the next property, which also stores the first error.
    pub search: Search<'a>,
}

impl<'a> EntityReader<'a> {
    /// Creates a reader that starts at the `PartitionKey` of an entity.
    #[inline]
    #[must_use]
    pub const fn new(entity: EntityRef<'a>, partition_key: &'a [Piece]) -> Self {
        let key = Splitter::new(partition_key, entity.partition_key);
        Self { row_key: entity.row_key, key, is_known: false, search: Search::new(entity.row) }
    }

    /// Creates a reader that reads an entity into an existing value. The entity may be in the same partition as the previous entity.
    #[inline]
    #[must_use]
    pub const fn again(entity: EntityRef<'a>, partition_key: &'a [Piece], is_same_partition: bool) -> Self {
        let mut reader = Self::new(entity, partition_key);
        reader.is_known = is_same_partition;
        reader
    }

    /// Continues with the `RowKey`. Returns `false` if text follows the last part of the `PartitionKey`.
    #[inline]
    pub fn row_key(&mut self, row_key: &'a [Piece]) -> bool {
        let partition_key = std::mem::replace(&mut self.key, Splitter::new(row_key, self.row_key));
        std::mem::take(&mut self.is_known) || self.search.keep(partition_key.finish()).is_some()
    }

    /// Continues with the properties, which the caller reads in the order given by `shape`. The order is unknown if `shape` is empty. Returns `false` if a key
    /// does not match its schema.
    #[inline]
    pub fn properties(&mut self, shape: &[u8]) -> bool {
        self.search.expect(shape);
        let row_key = std::mem::replace(&mut self.key, Splitter::new(&[], ""));
        self.search.keep(row_key.finish());
        self.search.is_right()
    }

    /// Reads and decodes the next key part.
    #[inline]
    pub fn part<T>(&mut self, field: &'static str, decode: Decode<T>) -> Option<T> {
        let text = self.text()?;
        self.search.keep(of_field(field, decode(text)))
    }

    /// Reads the next key part into an existing value.
    #[inline]
    pub fn part_again<T>(&mut self, field: &'static str, value: &mut T, decode: DecodeAgain<T>) -> bool {
        if self.is_known {
            return true;
        }
        let Some(text) = self.text() else { return false };
        self.search.keep(of_field(field, decode(text, value))).is_some()
    }

    /// Returns the text of the next key part.
    #[inline]
    pub fn text(&mut self) -> Option<&'a str> {
        let text = self.key.next_part();
        self.search.keep(text)
    }

    /// Skips the rest of a key. Called if none of the key's parts is read.
    pub fn pass(&mut self) {
        self.key = Splitter::new(&[], "");
    }

    /// Skips the next key part without decoding it.
    pub fn skip(&mut self) {
        self.text();
    }

    /// Reads a field of the entity's key from a copy that stores the field's key text as a property.
    pub fn key_text<T>(&mut self, field: &'static str, name: &'static str, decode: Decode<T>) -> Option<T> {
        let found = self.search.find(name);
        let text = self.search.keep(found)?;
        let read = if let Some(ValueRef::String(text)) = text {
            of_field(field, decode(text))
        } else {
            let message = "the copy lacks this part of its entity's key; write the copy again";
            Err(Error::new(ErrorCode::EntityMismatch, message).with_property(name))
        };
        self.search.keep(read)
    }

    /// Returns `true` if the stored entity has this kind. Otherwise records an error.
    pub fn is_kind(&mut self, kind: &str) -> bool {
        let found = self.search.find(ENTITY_TYPE);
        let Some(found) = self.search.keep(found) else { return false };
        found == Some(ValueRef::String(kind)) || self.is_other_kind(found, &format!("'{kind}'"))
    }

    /// Returns `true` if the stored entity has no kind. Otherwise records an error. Called for a set member without a declared kind.
    pub fn has_no_kind(&mut self) -> bool {
        let found = self.search.find(ENTITY_TYPE);
        let Some(found) = self.search.keep(found) else { return false };
        found.is_none() || self.is_other_kind(found, "none")
    }

    /// Records an error for an entity of another kind, and returns `false`.
    #[cold]
    fn is_other_kind(&mut self, found: Option<ValueRef<'_>>, expected: &str) -> bool {
        let found = match found {
            Some(ValueRef::String(found)) => format!("'{}'", quoted(found)),
            Some(_) => "no text".to_owned(),
            None => "absent".to_owned(),
        };
        let message = format!("the entity has another type: {ENTITY_TYPE} is {found}, expected {expected}");
        let error =
            Error::new(ErrorCode::EntityMismatch, message).with_rule("PAT-HET-1").with_property(ENTITY_TYPE);
        self.search.keep::<()>(Err(error)).is_some()
    }

    /// Checks that `text` is the encoding of `value`. `text` is another key part for the same field. Returns `false` and records an error if the check fails.
    pub fn is_same<T>(&mut self, field: &'static str, value: &T, text: &str, encode: Encode<T>) -> bool {
        let mut expected = String::with_capacity(text.len());
        let encoded = of_field(field, encode(value, &mut expected)).and_then(|()| {
            if expected == text {
                return Ok(());
            }
            let message =
                format!("the keys disagree: found '{}', expected '{}'", quoted(text), quoted(&expected));
            Err(Error::new(ErrorCode::EntityMismatch, message).with_property(field))
        });
        self.search.keep(encoded).is_some()
    }

    /// Returns `true` if the value in a key equals the property for the same field. Otherwise records an error.
    pub fn is_also<T>(
        &mut self,
        field: &'static str,
        property: &'static str,
        value: &T,
        text: &str,
        encode: Encode<T>,
    ) -> bool {
        let mut expected = String::with_capacity(text.len());
        let is_same = encode(value, &mut expected).is_ok() && expected == text;
        if !is_same {
            let (text, expected) = (quoted(text), quoted(&expected));
            let message = format!(
                "the key contains '{text}' for `{field}`, but its property `{property}` gives '{expected}'; only one of them was changed"
            );
            let error = Error::new(ErrorCode::EntityMismatch, message).with_property(property);
            self.search.keep::<()>(Err(error));
        }
        is_same
    }

    /// Returns `true` if `check` is `Ok`. `check` is the result of checking the field's bucket. If it is an error, the error is recorded.
    pub fn is_right(&mut self, field: &'static str, check: Result<()>) -> bool {
        self.search.keep(of_field(field, check)).is_some()
    }

    /// Finishes reading an entity into an existing value.
    ///
    /// # Errors
    /// The recorded error, if `is_read` is `false`.
    #[inline]
    pub fn end(&mut self, is_read: bool) -> Result<()> {
        if is_read { Ok(()) } else { self.fail() }
    }

    /// Returns the recorded error.
    ///
    /// # Errors
    /// This function always returns an error, because the caller has recorded one.
    #[cold]
    pub fn fail<T>(&mut self) -> Result<T> {
        let other = || Error::new(ErrorCode::EntityMismatch, "the stored entity has another schema");
        Err(self.search.take_error().unwrap_or_else(other))
    }
}
