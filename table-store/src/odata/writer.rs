//! JSON serialization of entities, pages and request bodies (JSON-3, JSON-5 to JSON-7).

use std::fmt::Display;
use std::io::Write;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::error::{Error, Result};
use crate::odata::MetadataLevel;
use crate::odata::fault::ODataFault;
use crate::odata::link::entity_link;
use crate::odata::property::{Annotate, Text, Ticks, serialize_properties};
use crate::query::{EntityRef, Rows, Select};
use crate::row::RowView;

/// The account, table and selected properties that a response's metadata names (JSON-5, JSON-6).
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The base URI of the account, such as `http://127.0.0.1:10002/devstoreaccount1` (ACC-1, ACC-2).
    pub base: &'a str,
    /// The name of the storage account.
    pub account: &'a str,
    /// The name of the table.
    pub table: &'a str,
    /// The properties to write. A property that the entity does not have is written as `null` (SEL-2, SEL-3).
    pub select: &'a Select,
}

/// Writes one entity as the response to an insert or a point read (INS-2, GET-1).
///
/// # Errors
/// `Corrupted` if the bytes are not a row.
///
/// ```
/// use table_core::ValueRef;
/// use table_core::odata::{Context, MetadataLevel, write_entity};
/// use table_core::query::{EntityRef, Select};
/// use table_core::row::RowWriter;
///
/// let mut row = RowWriter::new();
/// row.property("Bonus", ValueRef::Double(3.0));
/// let row = row.finish().with_timestamp(639_307_584_000_000_000);
/// let entity = EntityRef::new("Sales", "00001", row.view());
/// let context = Context { base: "http://x", account: "x", table: "Employee", select: &Select::All };
/// assert_eq!(
///     write_entity(entity, MetadataLevel::None, &context)?,
///     r#"{"PartitionKey":"Sales","RowKey":"00001","Timestamp":"2026-11-20T08:00:00Z","Bonus":3.0}"#,
/// );
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn write_entity(entity: EntityRef<'_>, level: MetadataLevel, context: &Context<'_>) -> Result<String> {
    to_json(&EntityAnswer { entity, level, context, alone: true }, 2 * entity.row.bytes())
}

/// Writes a page as a query response (JSON-7). The continuation token is sent in headers, not in the body.
///
/// # Errors
/// `Corrupted` if an entity's bytes are not a row.
///
/// ```
/// use table_core::odata::{Context, MetadataLevel, write_page};
/// use table_core::query::{Rows, Select};
///
/// let context = Context { base: "http://x", account: "x", table: "Employee", select: &Select::All };
/// let body = write_page(&Rows::default(), MetadataLevel::Minimal, &context)?;
/// assert_eq!(body, r#"{"odata.metadata":"http://x/$metadata#Employee","value":[]}"#);
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn write_page(rows: &Rows, level: MetadataLevel, context: &Context<'_>) -> Result<String> {
    to_json(&PageAnswer { rows, level, context }, 0)
}

/// Writes a request body, which consists of the key, if one is given, and the properties (ENG-11). The body has every type annotation that any server requires
/// (AZ-4).
///
/// An insert requires the key in the body (KEY-1). Other writes have the key in the URL (UPD-5).
///
/// # Errors
/// `Corrupted` if the bytes are not a row.
///
/// ```
/// use table_core::ValueRef;
/// use table_core::odata::write_body;
/// use table_core::row::RowWriter;
///
/// let mut row = RowWriter::new();
/// row.property("Bonus", ValueRef::Double(3.0));
/// let row = row.finish();
/// assert_eq!(write_body(None, row.view())?, r#"{"Bonus@odata.type":"Edm.Double","Bonus":3.0}"#);
/// assert!(write_body(Some(("Sales", "00001")), row.view())?.starts_with(r#"{"PartitionKey":"Sales","RowKey":"00001","#));
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn write_body(key: Option<(&str, &str)>, row: RowView<'_>) -> Result<String> {
    // JSON punctuation takes up about as much space as the directories of a row, so the buffer rarely grows beyond this capacity.
    to_json(&Body { key, row }, 2 * row.bytes())
}

/// Writes a [`write_body`] document to a writer.
///
/// # Errors
/// Returns an error if the writer fails or the row is corrupted.
pub(super) fn write_body_to(
    writer: impl Write,
    key: Option<(&str, &str)>,
    row: RowView<'_>,
) -> serde_json::Result<()> {
    serde_json::to_writer(writer, &Body { key, row })
}

fn to_json(document: &impl Serialize, bytes: usize) -> Result<String> {
    let broken = |why: &dyn Display| Error::of(ODataFault::Write(why.to_string()));
    let mut json = Vec::with_capacity(bytes);
    // Writing to memory cannot fail, so an error means that the row is corrupted.
    serde_json::to_writer(&mut json, document).map_err(|error| broken(&error))?;
    String::from_utf8(json).map_err(|error| broken(&error))
}

struct Body<'a> {
    key: Option<(&'a str, &'a str)>,
    row: RowView<'a>,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some((partition_key, row_key)) = self.key {
            map.serialize_entry("PartitionKey", partition_key)?;
            map.serialize_entry("RowKey", row_key)?;
        }
        serialize_properties(&mut map, self.row, Annotate::Strict, |_| true)?;
        map.end()
    }
}

struct PageAnswer<'a> {
    rows: &'a Rows,
    level: MetadataLevel,
    context: &'a Context<'a>,
}

impl Serialize for PageAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.level >= MetadataLevel::Minimal {
            map.serialize_entry("odata.metadata", &self.context.metadata(""))?;
        }
        map.serialize_entry("value", &Entities(self))?;
        map.end()
    }
}

struct Entities<'a>(&'a PageAnswer<'a>);

impl Serialize for Entities<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PageAnswer { rows, level, context } = *self.0;
        serializer.collect_seq(rows.iter().map(|entity| EntityAnswer {
            entity,
            level,
            context,
            alone: false,
        }))
    }
}

struct EntityAnswer<'a> {
    entity: EntityRef<'a>,
    level: MetadataLevel,
    context: &'a Context<'a>,
    /// `true` for a complete document, `false` for an entity in a page.
    alone: bool,
}

impl Serialize for EntityAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.control(&mut map)?;
        self.system(&mut map)?;
        let annotate = if self.level == MetadataLevel::None { Annotate::Never } else { Annotate::Ambiguous };
        let select = self.context.select;
        serialize_properties(&mut map, self.entity.row, annotate, |name| select.contains(name))?;
        self.missing(&mut map)?;
        map.end()
    }
}

impl EntityAnswer<'_> {
    /// Writes the annotations of the metadata level (JSON-3, JSON-5, JSON-6).
    fn control<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Context { base, account, table, .. } = self.context;
        let full = self.level == MetadataLevel::Full;
        let link = full.then(|| entity_link(table, self.entity.partition_key, self.entity.row_key));
        if self.alone && self.level >= MetadataLevel::Minimal {
            map.serialize_entry("odata.metadata", &self.context.metadata("/@Element"))?;
        }
        if let Some(link) = &link {
            map.serialize_entry("odata.type", &Text(format_args!("{account}.{table}")))?;
            map.serialize_entry("odata.id", &Text(format_args!("{base}/{link}")))?;
        }
        if self.level >= MetadataLevel::Minimal {
            map.serialize_entry("odata.etag", &Text(self.entity.etag()))?;
        }
        if let Some(link) = &link {
            map.serialize_entry("odata.editLink", link)?;
        }
        Ok(())
    }

    /// Writes the keys and the Timestamp, if requested (SEL-2). They precede the properties (PROP-7).
    fn system<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let select = self.context.select;
        if select.contains("PartitionKey") {
            map.serialize_entry("PartitionKey", self.entity.partition_key)?;
        }
        if select.contains("RowKey") {
            map.serialize_entry("RowKey", self.entity.row_key)?;
        }
        if select.contains("Timestamp") {
            if self.level == MetadataLevel::Full {
                map.serialize_entry("Timestamp@odata.type", "Edm.DateTime")?;
            }
            map.serialize_entry("Timestamp", &Ticks(self.entity.row.timestamp()))?;
        }
        Ok(())
    }

    /// Writes `null` for each requested property that the entity does not have (SEL-3).
    fn missing<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Select::Names(names) = self.context.select else { return Ok(()) };
        // The properties of a selected row are in `$select` order, so the hint usually points to the right property.
        let mut hint = 0;
        for name in names.iter() {
            let system = matches!(name.as_ref(), "PartitionKey" | "RowKey" | "Timestamp");
            let found = self.entity.row.find(name, &mut hint).map_err(serde::ser::Error::custom)?;
            if !system && found.is_none() {
                map.serialize_entry(name, &())?;
            }
        }
        Ok(())
    }
}

impl Context<'_> {
    /// Returns the metadata URL, which contains the table and the selected properties (JSON-5). `kind` follows the table's name. It is empty for a page.
    fn metadata(&self, kind: &str) -> String {
        let mut url = format!("{}/$metadata#{}{kind}", self.base, self.table);
        if let Select::Names(names) = self.select {
            url.push_str("&$select=");
            for (index, name) in names.iter().enumerate() {
                if index > 0 {
                    url.push(',');
                }
                url.push_str(name);
            }
        }
        url
    }
}
