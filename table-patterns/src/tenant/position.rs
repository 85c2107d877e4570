//! The resume position of an export, including the missing blobs found so far.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use table_core::name::TableName;
use table_core::query::Continuation;
use table_core::{Error, Result};

use crate::tenant::fault::TenantFault;
use crate::tenant::line::{End, HeaderPlace};

/// The resume position of an export. Its string representation can be stored.
///
/// ```
/// use table_patterns::tenant::ExportPosition;
///
/// let start = ExportPosition::default();
/// assert_eq!(start.to_string().parse::<ExportPosition>()?, start);
/// assert_eq!(start.bytes(), 0);
/// # Ok::<(), table_patterns::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportPosition {
    /// The tables and partitions of the exported tenant; empty before the first step.
    pub(super) places: Vec<HeaderPlace>,
    pub(super) place: usize,
    /// The current table in the current location; `None` before the first table of the location.
    pub(super) table: Option<String>,
    pub(super) range: usize,
    pub(super) from: Option<Continuation>,
    pub(super) end: End,
    pub(super) is_end: bool,
    pub(super) bytes: u64,
    /// The first missing blobs found, at most [`MISSING`](ExportPosition::MISSING).
    missing: Vec<MissingBlob>,
}

/// A blob referenced by a row but missing from the blob store, or shorter there than the row records. The export includes the row and continues.
///
/// ```
/// use table_patterns::tenant::MissingBlob;
///
/// /// Formats a report line.
/// fn line(blob: &MissingBlob) -> String {
///     format!("{} {} of table {}: the blob {} is missing", blob.partition_key, blob.row_key, blob.table, blob.name)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MissingBlob {
    /// The name of the table that contains the row.
    pub table: String,
    /// The PartitionKey of the row.
    pub partition_key: String,
    /// The RowKey of the row.
    pub row_key: String,
    /// The name of the missing blob.
    pub name: String,
}

impl ExportPosition {
    /// The maximum number of listed missing blobs.
    pub const MISSING: usize = 100;

    /// Returns the first missing blobs found, at most [`MISSING`](Self::MISSING). A missing blob is referenced by a row, but is absent from the blob store or
    /// shorter there than the row records.
    #[must_use]
    pub fn missing(&self) -> &[MissingBlob] {
        &self.missing
    }

    /// Returns the total number of missing blobs: blobs referenced by rows but absent from the blob store, or shorter there than recorded.
    #[must_use]
    pub const fn missing_blobs(&self) -> u64 {
        self.end.missing
    }

    /// Records that a blob is missing. The blob has already been counted as exported.
    #[cfg_attr(not(feature = "blobs"), expect(dead_code, reason = "only called with blobs"))]
    pub(super) fn record_missing(&mut self, blob: MissingBlob) {
        (self.end.missing, self.end.blobs) = (self.end.missing + 1, self.end.blobs.saturating_sub(1));
        if self.missing.len() < Self::MISSING {
            self.missing.push(blob);
        }
    }

    /// Returns the total size in bytes of the lines exported so far.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of exported rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.end.rows
    }

    /// Returns the number of stored rows that the export omits because the store cannot represent them as entities; see
    /// [`Page::skipped`](table_core::query::Page::skipped).
    #[must_use]
    pub const fn skipped_rows(&self) -> u64 {
        self.end.skipped
    }

    /// Returns the number of exported blobs.
    #[must_use]
    pub const fn blobs(&self) -> u64 {
        self.end.blobs
    }

    /// Moves to the tenant's next location.
    pub(super) fn next_place(&mut self) {
        (self.place, self.table, self.range, self.from) = (self.place + 1, None, 0, None);
    }

    /// Moves to a table in the current location. If the table changes, reading begins at the new table's first row, because a partition range and a
    /// continuation token are valid only for one table.
    pub(super) fn in_table(mut self, table: &TableName) -> Self {
        let is_same = self.table.as_deref().is_none_or(|own| own.eq_ignore_ascii_case(table.as_str()));
        if !is_same {
            (self.range, self.from) = (0, None);
        }
        self.table = Some(table.as_str().to_owned());
        self
    }
}

impl fmt::Display for ExportPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for ExportPosition {
    type Err = Error;

    /// # Errors
    /// `InvalidInput` if the text is not the string representation of a position.
    fn from_str(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|source| Error::of(TenantFault::Line { line: 0, source }))
    }
}
