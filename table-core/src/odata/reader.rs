//! Reads entities and pages into encoded rows (TYPE-2, TYPE-3, PROP-4 to PROP-6, ENT-3, KEY-1, ENG-12).

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::etag::ETag;
use crate::key::EntityKey;
use crate::name::check_property_name;
use crate::odata::fault::ODataFault;
use crate::odata::members::Members;
use crate::odata::token::Token;
use crate::row::{Names, Row, RowWriter, duplicate_property};
use crate::value::{EdmType, ValueRef};

/// The writer of a document: what is an instruction from one side is a fact from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A program that writes an entity: its Timestamp and control information are ignored, whatever they are (PROP-4, PROP-5),
    /// and the names of `null` properties are checked (ENT-3).
    Client,
    /// A service that answers: Timestamp and `odata.etag` are taken, and annotations that we do not know ignored (ENG-12).
    Service,
}

/// One entity as a document gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityBody {
    /// The `PartitionKey`, if it is there; its characters are not checked yet.
    pub partition_key: Option<String>,
    /// The `RowKey`, if it is there; its characters are not checked yet.
    pub row_key: Option<String>,
    /// The `odata.etag` of an answer, byte for byte (ETAG-4).
    pub etag: Option<ETag>,
    /// The properties, `null` ones left out (ENT-3); and the Timestamp of an answer, 0 if it has none.
    pub row: Row,
}

impl EntityBody {
    /// The key.
    ///
    /// # Errors
    /// `PropertiesNeedValue` if either half is missing or `null` (KEY-1); those of [`EntityKey::new`].
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

    /// The key, taken out: the same without copies of its texts.
    ///
    /// # Errors
    /// As [`key`](Self::key).
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

/// Reads one entity. Names, counts and sizes are the store's to check ([`Limits::check_row`](crate::limits::Limits::check_row)).
///
/// `-0` without a fraction is a Double, so that no sign is lost.
///
/// # Errors
/// `InvalidInput` for what is not a JSON object, a value that is not of its type (TYPE-8), an array or object (TYPE-9), an unknown
/// type (ENG-10); `OutOfRangeInput` for an instant (TYPE-6); `DuplicatePropertiesSpecified` (PROP-6); from a client also
/// `PropertyNameInvalid` and `PropertyNameTooLong` for a `null` property (ENT-3).
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
    from_json::<Members<'_>>(json)?.read(sender)
}

pub(super) fn from_json<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T> {
    // A whole document is checked to be UTF-8 in less time than its texts one by one; where it is not, the fault is the slow reader's.
    let read = match std::str::from_utf8(json) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(json),
    };
    read.map_err(|error| Error::of(ODataFault::Body(error)))
}

/// The end of the name of a type's member, after that of its property (TYPE-2).
pub(super) const ANNOTATION: &str = "@odata.type";

/// The declared types, sorted by name: they belong to their property wherever they stand (TYPE-2).
fn declared<'m>(members: &'m Members<'_>) -> Result<Vec<(&'m str, EdmType)>> {
    let mut types = Vec::with_capacity(members.0.len() / 2);
    for (name, token) in &members.0 {
        let Some(name) = name.strip_suffix(ANNOTATION) else { continue };
        let edm = match token {
            Token::Text(text) => EdmType::from_name(text),
            _ => None,
        };
        types.push((name, edm.ok_or_else(|| unknown_type(name, token))?));
    }
    types.sort_unstable_by_key(|(name, _)| *name);
    if let Some([(name, _), _]) = types.array_windows().find(|[(a, _), (b, _)]| a == b) {
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
    pub(crate) fn read(&self, sender: Sender) -> Result<EntityBody> {
        let types = declared(self)?;
        let (mut partition_key, mut row_key, mut etag, mut timestamp) = (None, None, None, 0);
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
                (_, Sender::Client) if matches!(token, Token::Null) => check_property_name(name)?,
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
        if sender == Sender::Service
            && let Some((_, Token::Text(text))) = self.0.iter().find(|(name, _)| name == "odata.etag")
        {
            etag = Some(ETag::parse(text)?);
        }
        let row = writer.finish().with_timestamp(timestamp);
        Ok(EntityBody { partition_key, row_key, etag, row })
    }
}

/// Whether a member is a property, not something said about one or about the document.
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
