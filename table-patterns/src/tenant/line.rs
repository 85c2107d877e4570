//! The line types of an export: each line is a JSON object with one member, whose name is the line type.

use serde::{Deserialize, Serialize};
use table_core::name::TableName;

use crate::tenant::partitions::Partitions;

/// The version of the line format written by this program, and the latest version it can read.
pub(super) const FORMAT: u32 = 1;

/// A line in an export.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Line {
    /// The header (the first line).
    Tenant(Header),
    /// A row of a table.
    Row(RowLine),
    /// A part of a blob.
    Blob(BlobLine),
    /// The footer (the last line).
    End(End),
}

/// The first line: the version of the line format, the exported tables and partitions, and the schemas of their entity types.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Header {
    pub(super) format: u32,
    pub(super) places: Vec<HeaderPlace>,
    /// The stored schemas of the registered types.
    pub(super) schemas: Vec<HeaderSchema>,
}

/// The stored schema of an entity type in the tables of a location.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct HeaderSchema {
    /// The index of the location.
    pub(super) place: usize,
    /// The text of the schema.
    pub(super) schema: String,
    /// The parts whose backfill had not finished when the export began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pending: Vec<String>,
}

/// One of the exported tenant's tables, with the exported partitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct HeaderPlace {
    pub(super) table: String,
    pub(super) partitions: Vec<Partitions>,
}

/// A row in the service's JSON format, with the type of each property.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct RowLine {
    pub(super) place: usize,
    pub(super) table: String,
    pub(super) entity: serde_json::Value,
}

/// A part of a blob, in base64. The lines with the parts of one blob are consecutive.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct BlobLine {
    pub(super) place: usize,
    pub(super) name: String,
    pub(super) bytes: String,
    /// The offset of this part in the blob.
    pub(super) from: u64,
    /// `true` for the last part of the blob.
    pub(super) last: bool,
}

/// The last line: the numbers of exported rows, exported blobs, missing blobs and omitted rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct End {
    pub(super) rows: u64,
    pub(super) blobs: u64,
    pub(super) missing: u64,
    pub(super) skipped: u64,
}

impl HeaderPlace {
    /// Returns the name of the location's table.
    pub(super) fn table(&self) -> table_core::Result<TableName> {
        TableName::new(&self.table)
    }
}
