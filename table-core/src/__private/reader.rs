//! Runtime of `from_entity`: reads a stored entity or copy part by part and property by property.

use crate::error::{Error, ErrorCode, Result};
use crate::key::codec::compound::{Piece, Splitter};
use crate::property::Search;
use crate::query::EntityRef;
use crate::schema::ENTITY_TYPE;
use crate::value::ValueRef;

use super::property::{Encode, of_field};

/// The `decode` of a codec, a pointer for the same reason as [`Encode`].
pub type Decode<T> = fn(&str) -> Result<T>;

/// The `decode_again` of a codec.
pub type DecodeAgain<T> = fn(&str, &mut T) -> Result<()>;

/// What is read next, and what was wrong. An expansion asks with `let … else { return reader.fail() }`, because each `?` costs the
/// compiler.
#[derive(Debug)]
pub struct EntityReader<'a> {
    row_key: &'a str,
    key: Splitter<'a>,
    /// Whether the parts of the key are there from the entity read before.
    is_known: bool,
    /// The properties.
    pub search: Search<'a>,
}

impl<'a> EntityReader<'a> {
    /// Begins with the `PartitionKey`.
    #[inline]
    #[must_use]
    pub const fn new(entity: EntityRef<'a>, partition_key: &'a [Piece]) -> Self {
        let key = Splitter::new(partition_key, entity.partition_key);
        Self { row_key: entity.row_key, key, is_known: false, search: Search::new(entity.row) }
    }

    /// The same over another entity, which may be of the same partition.
    #[inline]
    #[must_use]
    pub const fn again(entity: EntityRef<'a>, partition_key: &'a [Piece], is_same_partition: bool) -> Self {
        let mut reader = Self::new(entity, partition_key);
        reader.is_known = is_same_partition;
        reader
    }

    /// Goes on with the `RowKey`; `false` if the `PartitionKey` is longer than its parts.
    #[inline]
    pub fn row_key(&mut self, row_key: &'a [Piece]) -> bool {
        let partition_key = std::mem::replace(&mut self.key, Splitter::new(row_key, self.row_key));
        std::mem::take(&mut self.is_known) || self.search.keep(partition_key.finish()).is_some()
    }

    /// Goes on with the properties; `false` if a key is not of the design. All that are read are those of the shape, in its
    /// order; it is empty where that is unknown.
    #[inline]
    pub fn properties(&mut self, shape: &[u8]) -> bool {
        self.search.expect(shape);
        let row_key = std::mem::replace(&mut self.key, Splitter::new(&[], ""));
        self.search.keep(row_key.finish());
        self.search.is_right()
    }

    /// The next part of the key.
    #[inline]
    pub fn part<T>(&mut self, field: &'static str, decode: Decode<T>) -> Option<T> {
        let text = self.text()?;
        self.search.keep(of_field(field, decode(text)))
    }

    /// The same over a value that is there.
    #[inline]
    pub fn part_again<T>(&mut self, field: &'static str, value: &mut T, decode: DecodeAgain<T>) -> bool {
        if self.is_known {
            return true;
        }
        let Some(text) = self.text() else { return false };
        self.search.keep(of_field(field, decode(text, value))).is_some()
    }

    /// The text of the next part of the key.
    #[inline]
    pub fn text(&mut self) -> Option<&'a str> {
        let text = self.key.next_part();
        self.search.keep(text)
    }

    /// Passes over a whole key, which is not read.
    pub fn pass(&mut self) {
        self.key = Splitter::new(&[], "");
    }

    /// Passes over the next part of the key.
    pub fn skip(&mut self) {
        self.text();
    }

    /// A field of the entity's own key, whose text a copy stores as a property.
    pub fn key_text<T>(&mut self, field: &'static str, name: &'static str, decode: Decode<T>) -> Option<T> {
        let found = self.search.find(name);
        let text = self.search.keep(found)?;
        let read = if let Some(ValueRef::String(text)) = text {
            of_field(field, decode(text))
        } else {
            let message = "a copy holds the text of this part of its entity's key, and it is not here: write the copy again";
            Err(Error::new(ErrorCode::EntityMismatch, message).with_property(name))
        };
        self.search.keep(read)
    }

    /// Whether the stored entity is of a kind.
    pub fn is_kind(&mut self, kind: &str) -> bool {
        let found = self.search.find(ENTITY_TYPE);
        let Some(found) = self.search.keep(found) else { return false };
        if found == Some(ValueRef::String(kind)) {
            return true;
        }
        let found = match found {
            Some(ValueRef::String(found)) => format!("'{found}'"),
            Some(_) => "no text".to_owned(),
            None => "absent".to_owned(),
        };
        let message = format!("the entity is of another type: {ENTITY_TYPE} is {found}, '{kind}' is wanted");
        let error =
            Error::new(ErrorCode::EntityMismatch, message).with_rule("PAT-HET-1").with_property(ENTITY_TYPE);
        self.search.keep::<()>(Err(error));
        false
    }

    /// Whether a key says the same of a field in another of its places.
    pub fn is_same<T>(&mut self, field: &'static str, value: &T, text: &str, encode: Encode<T>) -> bool {
        let mut expected = String::with_capacity(text.len());
        let encoded = of_field(field, encode(value, &mut expected)).and_then(|()| {
            if expected == text {
                return Ok(());
            }
            let message = format!("the keys do not agree: '{text}' stands where '{expected}' is wanted");
            Err(Error::new(ErrorCode::EntityMismatch, message).with_property(field))
        });
        self.search.keep(encoded).is_some()
    }

    /// Whether a key says the same of a field as its property.
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
            let message = format!(
                "the key says '{text}' for `{field}`, and its property `{property}` would be '{expected}' there: one of them was changed alone"
            );
            let error = Error::new(ErrorCode::EntityMismatch, message).with_property(property);
            self.search.keep::<()>(Err(error));
        }
        is_same
    }

    /// Whether a check of a field passed: that of its bucket.
    pub fn is_right(&mut self, field: &'static str, check: Result<()>) -> bool {
        self.search.keep(of_field(field, check)).is_some()
    }

    /// The end of an entity that was read over another one.
    ///
    /// # Errors
    /// What was wrong, unless all was read.
    #[inline]
    pub fn end(&mut self, is_read: bool) -> Result<()> {
        if is_read { Ok(()) } else { self.fail() }
    }

    /// What was wrong.
    ///
    /// # Errors
    /// Always.
    #[cold]
    pub fn fail<T>(&mut self) -> Result<T> {
        let other = || Error::new(ErrorCode::EntityMismatch, "the stored entity is of another design");
        Err(self.search.take_error().unwrap_or_else(other))
    }
}
