//! The fast path for reading pages sent by the service or by Azurite.
//!
//! In these pages, a type annotation directly precedes its property, and names have no escapes. If a page has a different format or contains an error, the
//! general reader reads it again from the start. The general reader supports all formats and reports errors.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use crate::etag::ETag;
use crate::key::{check_partition_key, check_row_key};
use crate::odata::reader::ANNOTATION;
use crate::odata::token::Token;
use crate::query::Rows;
use crate::row::{Names, RowWriter};
use crate::value::{EdmType, ValueRef};

/// Reads a page. Returns `None` if the page is not in the expected format.
pub(super) fn rows(json: &[u8]) -> Option<Rows> {
    // The document is validated as UTF-8 in one pass. Validating each string would be slower, because most have only a few bytes.
    let text = std::str::from_utf8(json).ok()?;
    let mut page = Page { rows: Rows::default(), writer: RowWriter::new(), properties: 0, bytes: Vec::new() };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_map(Envelope(&mut page)).ok()?;
    deserializer.end().ok()?;
    Some(page.rows)
}

/// The page being read, with buffers that its entities share.
struct Page {
    rows: Rows,
    writer: RowWriter,
    /// The number of properties of the previous entity, used as the initial capacity for the next one.
    properties: usize,
    /// Buffer for decoded binary values.
    bytes: Vec<u8>,
}

/// A visitor for the page object, which contains the list of entities.
struct Envelope<'p>(&'p mut Page);

impl<'de> Visitor<'de> for Envelope<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a page")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut entities = None;
        while let Some(name) = map.next_key()? {
            match (name, entities) {
                ("value", None) => entities = Some(map.next_value_seed(Entities(&mut *self.0))?),
                ("value", Some(())) => return Err(unexpected()),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        entities.ok_or_else(unexpected)
    }
}

/// Returns a placeholder error. It is never displayed, because the general reader then reads the page again.
fn unexpected<E: Error>() -> E {
    E::custom("left to the other way")
}

/// A deserializer that appends the list of entities to a page.
struct Entities<'p>(&'p mut Page);

impl<'de> DeserializeSeed<'de> for Entities<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entities<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entities")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entities: A) -> Result<(), A::Error> {
        while entities.next_element_seed(Entity(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// A deserializer that appends one entity to a page.
struct Entity<'p>(&'p mut Page);

impl<'de> DeserializeSeed<'de> for Entity<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Entity<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entity")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Page { rows, writer, properties, bytes } = self.0;
        let (mut partition_key, mut row_key, mut etag, mut timestamp) = (None, None, None, None);
        let (mut names, mut nulls) = (Names::default(), false);
        writer.begin(*properties);
        while let Some(mut name) = map.next_key::<&str>()? {
            let mut declared = None;
            if let Some(of) = name.strip_suffix(ANNOTATION) {
                declared = Some(map.next_value::<Type>()?.0);
                name = map.next_key()?.filter(|next| *next == of).ok_or_else(unexpected)?;
            }
            if name == "odata.etag" && etag.is_none() {
                etag = Some(map.next_value::<Tag>()?.0);
                continue;
            }
            let token = map.next_value::<Token<'_>>()?;
            let twice = match name {
                "PartitionKey" => {
                    partition_key.replace(key(token, declared).ok_or_else(unexpected)?).is_some()
                }
                "RowKey" => row_key.replace(key(token, declared).ok_or_else(unexpected)?).is_some(),
                "Timestamp" => {
                    let value =
                        token.value(name, Some(EdmType::DateTime), bytes).map_err(A::Error::custom)?;
                    let Some(ValueRef::DateTime(ticks)) = value else { return Err(unexpected()) };
                    timestamp.replace(ticks).is_some()
                }
                _ if is_control(name) => false,
                _ => {
                    names.push(name);
                    match token.value(name, declared, bytes).map_err(A::Error::custom)? {
                        Some(value) => writer.property(name, value),
                        None => nulls = true,
                    }
                    false
                }
            };
            if twice {
                return Err(unexpected());
            }
        }
        let (Some(partition_key), Some(row_key)) = (partition_key, row_key) else { return Err(unexpected()) };
        check_partition_key(&partition_key)
            .and_then(|()| check_row_key(&row_key))
            .map_err(A::Error::custom)?;
        let timestamp = timestamp.unwrap_or_default();
        let row = writer.close(timestamp);
        *properties = row.len();
        // The row does not contain `null` properties, so their names cannot be compared here. The page is rejected if any name may be a duplicate.
        let is_repeated =
            names.repeated(|| row.properties().flatten().map(|property| property.name)).is_some();
        if is_repeated || (nulls && names.may_repeat()) {
            return Err(unexpected());
        }
        let etag = etag.filter(|etag| *etag != ETag::from_ticks(timestamp));
        rows.push(&partition_key, &row_key, row, etag);
        Ok(())
    }
}

/// Returns `true` if a member is an annotation of a property or of the document.
fn is_control(name: &str) -> bool {
    const ABOUT: &str = "@odata.";
    name.starts_with("odata.") || name.len() > ABOUT.len() && name.contains(ABOUT)
}

fn key(token: Token<'_>, declared: Option<EdmType>) -> Option<Cow<'_, str>> {
    match (token, declared) {
        (Token::Text(text), None | Some(EdmType::String)) => Some(text),
        _ => None,
    }
}

/// The type of a property, deserialized from the type's name.
struct Type(EdmType);

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <&str>::deserialize(deserializer)?;
        EdmType::from_name(name).map(Self).ok_or_else(unexpected)
    }
}

/// An `ETag`, parsed after JSON unescaping. Its quotes are always escaped in the document, so it cannot be borrowed from there.
struct Tag(ETag);

impl<'de> Deserialize<'de> for Tag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TagVisitor)
    }
}

struct TagVisitor;

impl Visitor<'_> for TagVisitor {
    type Value = Tag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an ETag")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Tag, E> {
        ETag::parse(text).map(Tag).map_err(E::custom)
    }
}
