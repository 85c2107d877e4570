//! Parsing of JSON entities into encoded rows (TYPE-2, TYPE-3, PROP-4 to PROP-6, ENT-3, KEY-1, ENG-12).

use std::borrow::Cow;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::etag::ETag;
use crate::key::EntityKey;
use crate::name::check_property_name;
use crate::odata::fault::ODataFault;
use crate::odata::members::Members;
use crate::odata::surrogates::{MARK_DIGITS, REPLACEMENT, replace_halves};
use crate::odata::token::Token;
use crate::row::{Names, Row, RowWriter, duplicate_property};
use crate::value::{EdmType, ValueRef};

/// The sender of a document. It determines how annotations are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A client that inserts an entity. `Timestamp` and annotations are ignored (PROP-4, PROP-5). Names of `null` properties are checked, and a `null` declared
    /// as a Double is rejected (ENT-3).
    Client,
    /// A service that responds to a request. `Timestamp` and `odata.etag` are read, and unknown annotations are ignored (ENG-12).
    Service,
}

/// An entity read from a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityBody {
    /// The `PartitionKey`, if the document contains it. Its characters are not checked.
    pub partition_key: Option<String>,
    /// The `RowKey`, if the document contains it. Its characters are not checked.
    pub row_key: Option<String>,
    /// The `odata.etag` of a response, preserved byte for byte (ETAG-4).
    pub etag: Option<ETag>,
    /// The non-`null` properties (ENT-3), and a response's Timestamp, or 0 if the document has none.
    pub row: Row,
}

impl EntityBody {
    /// Returns the key of the entity.
    ///
    /// # Errors
    /// - `PropertiesNeedValue` if the `PartitionKey` or the `RowKey` is missing or `null` (KEY-1).
    /// - `OutOfRangeInput` if one of them has a character that keys cannot contain (KEY-3).
    /// - `PropertyValueTooLarge` if one of them is too long.
    ///
    /// ```
    /// use table_core::odata::{Sender, read_entity};
    ///
    /// let body = read_entity(br#"{"RowKey":"1","PartitionKey":null}"#, Sender::Client)?;
    /// assert_eq!(body.key().unwrap_err().code().as_str(), "PropertiesNeedValue");
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn key(&self) -> Result<EntityKey> {
        key(self.partition_key.clone(), self.row_key.clone())
    }

    /// Takes the key out of the body without copying its strings.
    ///
    /// # Errors
    /// Any error from [`key`](Self::key).
    ///
    /// ```
    /// use table_core::odata::{Sender, read_entity};
    ///
    /// let mut body = read_entity(br#"{"PartitionKey":"Sales","RowKey":"1"}"#, Sender::Client)?;
    /// assert_eq!(body.take_key()?.to_string(), "(PartitionKey='Sales',RowKey='1')");
    /// assert_eq!((body.partition_key, body.row_key), (None, None));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn take_key(&mut self) -> Result<EntityKey> {
        key(self.partition_key.take(), self.row_key.take())
    }
}

fn key(partition_key: Option<String>, row_key: Option<String>) -> Result<EntityKey> {
    let need = |key: Option<String>, name| key.ok_or_else(|| Error::of(ODataFault::NoKey(name)));
    EntityKey::new(need(partition_key, "PartitionKey")?, need(row_key, "RowKey")?)
}

/// Reads one entity. Names, counts and sizes are not checked here. The store checks them with [`Limits::check_row`](crate::limits::Limits::check_row).
///
/// - A value with a declared type may be a string in any format that the service accepts.
/// - `-0` without a fraction is a Double, because only a Double preserves its sign.
/// - A leading byte order mark is skipped.
/// - An unpaired surrogate in a client's document is an error. In a service's response, it is read as U+FFFD in a property, and as U+0000 in a key. No key can
///   contain U+0000.
///
/// # Errors
/// - `InvalidInput` if the document is not a JSON object.
/// - `InvalidInput` if a value does not match its type (TYPE-8), or is an array or object (TYPE-9).
/// - `InvalidInput` if a type is unknown (ENG-10).
/// - `OutOfRangeInput` if a date-time is out of range (TYPE-6).
/// - `DuplicatePropertiesSpecified` if a property is repeated (PROP-6).
///
/// A `null` property in a client's document can cause further errors: `PropertyNameInvalid` or `PropertyNameTooLong` if its name is invalid, and `InvalidInput`
/// if it is declared as a Double (ENT-3). If the stored data in a service's response is invalid, the error contains the key of the entity.
///
/// ```
/// use table_core::ValueRef;
/// use table_core::odata::{Sender, read_entity};
///
/// let json = br#"{"PartitionKey":"Sales","RowKey":"1","Id":"5","Id@odata.type":"Edm.Int64","Bonus":3.0,"Nick":null}"#;
/// let body = read_entity(json, Sender::Client)?;
/// assert_eq!(body.key()?.to_string(), "(PartitionKey='Sales',RowKey='1')");
/// assert_eq!(body.row.view().find("Id", &mut 0)?, Some(ValueRef::Int64(5)));
/// assert_eq!(body.row.view().find("Bonus", &mut 0)?, Some(ValueRef::Double(3.0)));
/// assert_eq!(body.row.view().len(), 2);
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn read_entity(json: &[u8], sender: Sender) -> Result<EntityBody> {
    match sender {
        Sender::Client => from_json::<Members<'_>>(json)?.read(sender),
        Sender::Service => {
            let bodies = read_halves(json, |json| Ok([from_json::<Members<'_>>(json)?.read_of_service()]));
            bodies.and_then(|[body]| body)
        }
    }
}

/// Replaces the unpaired surrogates in a service's document and passes it to `read`, which returns one result per entity. In a property, the replacement is
/// U+FFFD. In a key, it is U+0000, because a key with U+FFFD would identify a different entity.
pub(super) fn read_halves<T: AsMut<[Result<EntityBody>]> + IntoIterator<Item = Result<EntityBody>>>(
    json: &[u8],
    read: impl Fn(&[u8]) -> Result<T>,
) -> Result<T> {
    let replaced = replace_halves(json, REPLACEMENT);
    let mut bodies = read(&replaced)?;
    if let Cow::Owned(_) = replaced {
        for (body, marked) in bodies.as_mut().iter_mut().zip(read(&replace_halves(json, MARK_DIGITS))?) {
            let Ok(read) = body else { continue };
            match marked {
                Ok(marked) => (read.partition_key, read.row_key) = (marked.partition_key, marked.row_key),
                Err(error) => *body = Err(error),
            }
        }
    }
    Ok(bodies)
}

pub(super) fn from_json<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T> {
    let json = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
    // Validating the entire document as UTF-8 is faster than validating each string. If validation fails, `from_slice` reports the position.
    let read = match std::str::from_utf8(json) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(json),
    };
    read.map_err(|error| Error::of(ODataFault::Body(error)))
}

/// The suffix of a type annotation's name (TYPE-2).
pub(super) const ANNOTATION: &str = "@odata.type";

/// Returns the declared types with their property names, sorted by name. An annotation may precede or follow its property (TYPE-2).
fn declared<'m>(members: &'m Members<'_>, sender: Sender) -> Result<Vec<(&'m str, EdmType)>> {
    let mut types = Vec::with_capacity(members.0.len() / 2);
    for (name, token) in &members.0 {
        let Some(name) = name.strip_suffix(ANNOTATION) else { continue };
        if !is_property(name, sender) {
            continue;
        }
        let edm = match token {
            Token::Text(text) => EdmType::from_name(text),
            _ => None,
        };
        types.push((name, edm.ok_or_else(|| unknown_type(name, token))?));
    }
    types.sort_unstable_by_key(|(name, _)| *name);
    let mut neighbours = types.iter().zip(types.iter().skip(1));
    if let Some(((name, _), _)) = neighbours.find(|((a, _), (b, _))| a == b) {
        return Err(duplicate_property(&format!("{name}{ANNOTATION}")));
    }
    Ok(types)
}

fn unknown_type(name: &str, token: &Token<'_>) -> Error {
    let found = match token {
        Token::Text(text) => text,
        _ => "not a text",
    };
    Error::of(ODataFault::UnknownType((*found).to_owned())).with_property(name)
}

impl Members<'_> {
    /// Reads an entity in a service's response. If the stored data is invalid, the error contains the key of the entity. An error without a key means that the
    /// response does not come from a table service. Either the entity lacks a key, or its `ETag` or Timestamp cannot be parsed, although a table service would
    /// have written them itself.
    pub(crate) fn read_of_service(&self) -> Result<EntityBody> {
        self.read(Sender::Service).map_err(|error| {
            let key = |name| {
                self.0.iter().find_map(|(member, token)| match token {
                    Token::Text(text) if member == name => Some(text.as_ref()),
                    _ => None,
                })
            };
            match (key("PartitionKey"), key("RowKey")) {
                (Some(partition_key), Some(row_key)) if self.has_valid_version() => {
                    error.with_key(partition_key, row_key)
                }
                _ => error,
            }
        })
    }

    /// Returns `true` if neither the `ETag` nor the Timestamp is malformed. Either may be missing.
    fn has_valid_version(&self) -> bool {
        self.etag().is_ok()
            && self.0.iter().all(|(name, token)| name != "Timestamp" || ticks(name, token).is_ok())
    }

    /// Parses the entity's `odata.etag`, if present.
    fn etag(&self) -> Result<Option<ETag>> {
        match self.0.iter().find(|(name, _)| name == "odata.etag") {
            Some((_, Token::Text(text))) => ETag::parse(text).map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn read(&self, sender: Sender) -> Result<EntityBody> {
        let types = declared(self, sender)?;
        let (mut partition_key, mut row_key, mut timestamp) = (None, None, 0);
        let mut writer = RowWriter::with_capacity(self.0.len());
        let mut names = Names::default();
        let mut buffer = Vec::new();
        for (name, token) in self.0.iter().filter(|(name, _)| is_property(name, sender)) {
            names.push(name);
            let found = types.binary_search_by_key(&name.as_ref(), |(name, _)| name);
            let declared = found.ok().and_then(|index| types.get(index)).map(|(_, edm)| *edm);
            match (name.as_ref(), sender) {
                ("PartitionKey", _) => partition_key = key_text(name, token, declared)?,
                ("RowKey", _) => row_key = key_text(name, token, declared)?,
                ("Timestamp", _) => timestamp = ticks(name, token)?,
                (_, Sender::Client) if matches!(token, Token::Null) => {
                    check_property_name(name)?;
                    // JavaScript serializes infinities and NaN as `null`. Without this check, these values would be lost silently.
                    if declared == Some(EdmType::Double) {
                        return Err(Error::of(ODataFault::NullDouble).with_property(name));
                    }
                }
                _ => {
                    if let Some(value) = token.value(name, declared, &mut buffer)? {
                        writer.property(name, value);
                    }
                }
            }
        }
        let read = || self.0.iter().map(|(name, _)| name.as_ref()).filter(|name| is_property(name, sender));
        if let Some(name) = names.repeated(read) {
            return Err(duplicate_property(name));
        }
        let etag = if sender == Sender::Service { self.etag()? } else { None };
        let row = writer.finish().with_timestamp(timestamp);
        Ok(EntityBody { partition_key, row_key, etag, row })
    }
}

/// Returns `true` if a member is a property, or `false` if it is an annotation or is ignored.
fn is_property(name: &str, sender: Sender) -> bool {
    match sender {
        _ if name.starts_with("odata.") || name.ends_with(ANNOTATION) => false,
        Sender::Client => name != "Timestamp",
        Sender::Service => !name.contains("@odata."),
    }
}

fn key_text(name: &str, token: &Token<'_>, declared: Option<EdmType>) -> Result<Option<String>> {
    match token.value(name, declared, &mut Vec::new())? {
        None => Ok(None),
        Some(ValueRef::String(text)) => Ok(Some(text.to_owned())),
        Some(other) => Err(Error::of(ODataFault::KeyType(other.edm_type())).with_property(name)),
    }
}

fn ticks(name: &str, token: &Token<'_>) -> Result<u64> {
    match token.value(name, Some(EdmType::DateTime), &mut Vec::new())? {
        Some(ValueRef::DateTime(count)) => Ok(count),
        _ => Ok(0),
    }
}
