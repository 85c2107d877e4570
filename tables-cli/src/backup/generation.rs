//! Generations. Each generation is a complete backup of a store, described by a manifest.

use chrono::{DateTime, NaiveDateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use crate::backup::layer::Mark;
use crate::count::is_zero;

/// A complete backup of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generation {
    /// The name of the generation. Names sort in creation order. A name contains the backup's start time, or a later time if the clock was set back.
    pub id: String,
    /// The time at which the backup started.
    #[serde(with = "super::instant")]
    pub began: DateTime<Utc>,
    /// The time at which the backup was completed.
    #[serde(with = "super::instant")]
    pub ended: DateTime<Utc>,
    /// The backup's content: table rows or engine files.
    pub contents: Contents,
}

impl Generation {
    /// Returns the name of a generation whose backup started at the given time.
    #[must_use]
    pub fn name(began: DateTime<Utc>) -> String {
        began.to_rfc3339_opts(SecondsFormat::Millis, true).replace(['-', ':'], "")
    }

    /// Returns the time in the name of a generation, or `None` if the name does not contain a time.
    #[must_use]
    pub fn time(id: &str) -> Option<DateTime<Utc>> {
        let time = NaiveDateTime::parse_from_str(id, "%Y%m%dT%H%M%S%.3fZ").ok()?.and_utc();
        (Self::name(time) == id).then_some(time)
    }

    /// Returns the rows of the table with this name, or `None` if the generation does not contain the table or consists of engine files.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&TableRows> {
        match &self.contents {
            Contents::Rows { tables } => tables.iter().find(|table| table.name.eq_ignore_ascii_case(name)),
            Contents::Files { .. } => None,
        }
    }
}

/// The content of a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contents {
    /// The rows of each table. Supported for every store that returns rows in key order.
    Rows {
        /// The tables, sorted by name.
        tables: Vec<TableRows>,
    },
    /// The files of an embedded engine.
    Files {
        /// The engine's `BACKUP` file, in Base64.
        manifest: String,
        /// The engine's `BASE` file, in Base64.
        base: String,
        /// The engine files that contain rows.
        files: Vec<EngineFile>,
    },
}

/// A file of an embedded engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFile {
    /// The name of the file.
    #[serde(deserialize_with = "super::file_name::deserialize")]
    pub name: String,
    /// The length of the file in bytes.
    pub bytes: u64,
}

/// The rows of one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRows {
    /// The name of the table.
    pub name: String,
    /// The layers, oldest first. The first layer contains all rows; each later layer contains the changes since the previous one.
    pub layers: Vec<Layer>,
    /// The number of rows.
    pub rows: u64,
    /// The checksum of all rows, as printed by `tables count --checksum`.
    pub checksum: String,
    /// The differences from the previous generation.
    pub changes: Changes,
    /// The consistency of the rows.
    pub consistency: Consistency,
    /// The number of rows that the store omitted from its pages, because it cannot represent them as entities. If an earlier generation contains such a row, the
    /// generation contains that version of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
}

/// A layer of a table's backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// The name of the file.
    #[serde(deserialize_with = "super::file_name::deserialize")]
    pub file: String,
    /// The position in the file after the last block of the layer.
    pub end: Mark,
}

/// Counts of the differences from the previous generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The number of rows missing from the previous generation.
    pub added: u64,
    /// The number of rows whose properties have changed.
    pub changed: u64,
    /// The number of rows found only in the previous generation.
    pub deleted: u64,
    /// The number of differences found only by the additional passes of `--settle`.
    pub settled: u64,
}

/// The consistency of a table's rows: one point in time, or one for each page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consistency {
    /// All rows reflect the same point in time.
    OneMoment,
    /// Each page of at most 1,000 rows was read at a different time between the start and the end of the backup.
    Pages,
}

impl std::fmt::Display for Consistency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OneMoment => "one moment",
            Self::Pages => "each page",
        })
    }
}
