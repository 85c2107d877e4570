//! The export of a tenant as lines of JSON, page by page.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use table_core::error::{Error, Result};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::odata::write_body;
use table_core::query::{Continuation, EntityRef, Query};
use table_core::store::TableStore;

use crate::copies::REFERENCE_PREFIX;
use crate::outbox::guard::GUARD_PREFIX;
use crate::outbox::{OUTBOX_PREFIX, POISON_PREFIX, rows};
use crate::tenant::Tenant;
use crate::tenant::fault::TenantFault;
use crate::tenant::line::{End, FORMAT, Header, HeaderPlace, Line};
use crate::tenant::place::{Place, all_rows};
use crate::tenant::transfer;

/// The default number of rows per step.
const ROWS: usize = 100;

/// An export in progress. Created by [`Tenant::export`]. Holds no open resources: it may be dropped after any step.
///
/// Each step returns complete lines. A program writes them, then stores the [position](Self::position). Another process continues from there: it
/// truncates the output to [`ExportPosition::bytes`], and calls [`resume`](Self::resume).
///
/// ```
/// use table_patterns::Result;
/// use table_patterns::tenant::Tenant;
///
/// /// Returns the whole export as a text.
/// async fn text(tenant: &Tenant) -> Result<String> {
///     let (mut export, mut text) = (tenant.export(), String::new());
///     while let Some(lines) = export.step().await? {
///         text.push_str(&lines);
///     }
///     Ok(text)
/// }
/// ```
#[derive(Debug)]
pub struct Export<'a> {
    tenant: &'a Tenant,
    rows: usize,
    position: ExportPosition,
    /// The blob parts of the last page that are not exported yet, and the position after them.
    blobs: VecDeque<Part>,
    next: Option<ExportPosition>,
}

/// A part of a blob.
#[derive(Debug)]
#[cfg_attr(not(feature = "blobs"), expect(dead_code, reason = "only built with blobs"))]
pub(super) struct Part {
    pub(super) place: usize,
    pub(super) folder: usize,
    pub(super) name: String,
    pub(super) range: std::ops::Range<u64>,
    pub(super) is_last: bool,
}

/// The position of an export, as a text that can be stored.
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
    /// The places of the tenant; empty at the start.
    places: Vec<HeaderPlace>,
    place: usize,
    /// The table of a place with several tables; `None` for the first table.
    table: Option<String>,
    range: usize,
    from: Option<Continuation>,
    end: End,
    is_end: bool,
    bytes: u64,
}

impl ExportPosition {
    /// Returns the size in bytes of the lines exported so far.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of exported rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.end.rows
    }

    /// Returns the number of exported blobs.
    #[must_use]
    pub const fn blobs(&self) -> u64 {
        self.end.blobs
    }

    /// Continues with the next place.
    fn next_place(&mut self) {
        (self.place, self.table, self.range) = (self.place + 1, None, 0);
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
    /// `InvalidInput` if the text is not a position.
    fn from_str(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|source| Error::of(TenantFault::Line { line: 0, source }))
    }
}

impl Tenant {
    /// Begins an export. Sends no request.
    #[must_use]
    pub fn export(&self) -> Export<'_> {
        let position = ExportPosition::default();
        Export { tenant: self, rows: ROWS, position, blobs: VecDeque::new(), next: None }
    }

    /// Returns the places for the header of an export.
    pub(super) fn header(&self) -> Result<Vec<HeaderPlace>> {
        let header = self.places.iter().map(|place| {
            let partitions = place.partitions.clone();
            Ok(HeaderPlace { table: place.name()?.as_str().to_owned(), partitions })
        });
        header.collect()
    }
}

impl Export<'_> {
    /// Sets the number of rows per step: at least 1, by default 100. A step holds its rows in memory.
    #[must_use]
    pub fn page(self, rows: usize) -> Self {
        Self { rows: rows.max(1), ..self }
    }

    /// Continues an earlier export of the same tenant.
    ///
    /// # Errors
    /// `InvalidInput` if the position belongs to a tenant with other places.
    pub fn resume(self, position: ExportPosition) -> Result<Self> {
        if !position.places.is_empty() && position.places != self.tenant.header()? {
            return Err(Error::of(TenantFault::Position));
        }
        Ok(Self { position, blobs: VecDeque::new(), next: None, ..self })
    }

    /// Returns the position after the last complete page. Store it once the lines of that page have been written. The parts of a blob belong to the
    /// page of the row that refers to the blob.
    #[must_use]
    pub const fn position(&self) -> &ExportPosition {
        &self.position
    }

    /// Returns the next lines, each with a line break; `None` at the end.
    ///
    /// # Errors
    /// - `InvalidInput` if a row names a blob whose store is not registered, or a type with remote rows is not registered.
    /// - `BlobNotFound` if a row names a missing blob.
    /// - Any error from the stores. The step can be repeated.
    pub async fn step(&mut self) -> Result<Option<String>> {
        if self.position.places.is_empty() {
            self.tenant.check()?;
            let places = self.tenant.header()?;
            let header = text(&Line::Tenant(Header { format: FORMAT, places: places.clone() }))?;
            self.position.places = places;
            return Ok(Some(self.counted(header)));
        }
        if let Some(part) = self.blobs.front() {
            let lines = self.part(part).await?;
            self.blobs.pop_front();
            return Ok(Some(self.counted(lines)));
        }
        while let Some(place) = self.tenant.places.get(self.position.place) {
            let lines = self.page_of(place).await?;
            if !lines.is_empty() {
                return Ok(Some(self.counted(lines)));
            }
        }
        if std::mem::replace(&mut self.position.is_end, true) {
            return Ok(None);
        }
        let end = text(&Line::End(self.position.end))?;
        Ok(Some(self.counted(end)))
    }

    /// Adds the length of returned lines. If no parts of blobs are left, the position moves past the page.
    fn counted(&mut self, lines: String) -> String {
        let bytes = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        match &mut self.next {
            Some(next) => next.bytes += bytes,
            None => self.position.bytes += bytes,
        }
        if self.blobs.is_empty()
            && let Some(next) = self.next.take()
        {
            self.position = next;
        }
        lines
    }

    /// Reads the next page of a place. Returns no lines at the end of a range.
    async fn page_of(&mut self, place: &Place) -> Result<String> {
        let mut next = self.position.clone();
        let tables = place.existing().await?;
        let is_due =
            |table: &&TableName| self.position.table.as_deref().is_none_or(|from| table.as_str() >= from);
        let mut tables = tables.iter().filter(is_due);
        let (Some(table), Some(partitions)) = (tables.next(), place.partitions.get(next.range)) else {
            self.position.next_place();
            return Ok(String::new());
        };
        let query = Query { top: Some(self.rows), ..Query::new(all_rows(partitions.range())) };
        let page = match place.store.query(table, &query, next.from.as_ref()).await {
            Err(error) if error.is_table_not_found() => None,
            page => Some(page?),
        };
        let (mut lines, mut parts) = (String::new(), VecDeque::new());
        for row in page.iter().flat_map(|page| page.rows.iter()) {
            if is_derived(row.row_key) {
                continue;
            }
            lines.push_str(&self.row(place, table, row).await?);
            let blobs = self.parts(place, row, &mut parts)?;
            (next.end.rows, next.end.blobs) = (next.end.rows + 1, next.end.blobs + blobs);
        }
        next.table = Some(table.as_str().to_owned());
        next.from = page.and_then(|page| page.continuation);
        if next.from.is_none() {
            next.range += 1;
            if next.range == place.partitions.len() {
                match tables.next() {
                    Some(after) => (next.table, next.range) = (Some(after.as_str().to_owned()), 0),
                    None => next.next_place(),
                }
            }
        }
        self.blobs = parts;
        if lines.is_empty() {
            self.position = next;
        } else {
            self.next = Some(next);
        }
        Ok(lines)
    }

    /// Returns the line of a row. An intent keeps the time of its change, and its seal if the seal is valid.
    async fn row(&self, place: &Place, table: &TableName, row: EntityRef<'_>) -> Result<String> {
        let key = Some((row.partition_key, row.row_key));
        let entity = if is_record(row.row_key) {
            let stored = rows::versioned(row)?.unwrap_or_else(|| row.row.to_row());
            let at = EntityKey::new(row.partition_key, row.row_key)?;
            write_body(key, transfer::exported(place, table, &at, stored).await?.view())?
        } else {
            write_body(key, row.row)?
        };
        let place = self.position.place;
        Ok(format!("{{\"Row\":{{\"Place\":{place},\"Table\":\"{table}\",\"Entity\":{entity}}}}}\n"))
    }
}

/// Returns `true` for rows that record an intent.
fn is_record(row_key: &str) -> bool {
    [OUTBOX_PREFIX, POISON_PREFIX].iter().any(|prefix| row_key.starts_with(prefix))
}

/// Returns `true` for rows that an import derives from other rows: guards against late workers, and references to holders of copies.
fn is_derived(row_key: &str) -> bool {
    row_key.starts_with(GUARD_PREFIX) || row_key.starts_with(REFERENCE_PREFIX)
}

pub(super) fn text(line: &Line) -> Result<String> {
    let text = serde_json::to_string(line);
    Ok(text.map_err(|source| Error::of(TenantFault::Line { line: 0, source }))? + "\n")
}

#[cfg(feature = "blobs")]
mod parts {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use table_core::value::ValueRef;

    use super::{EntityRef, Error, Export, Line, Part, Place, Result, TenantFault, VecDeque, text};
    use crate::blob::{BlobRef, names_row};
    use crate::tenant::line::BlobLine;

    /// The size of a blob part.
    const PART: u64 = 1 << 20;

    impl Export<'_> {
        /// Adds the parts of the blobs that a row names. Returns the number of blobs.
        pub(super) fn parts(
            &self,
            place: &Place,
            row: EntityRef<'_>,
            parts: &mut VecDeque<Part>,
        ) -> Result<u64> {
            let mut blobs = 0;
            for property in row.row.properties() {
                let ValueRef::String(text) = property?.value else { continue };
                let Ok(blob) = text.parse::<BlobRef>() else { continue };
                let Some(folder) = place.blobs.iter().position(|folder| folder.has(&blob)) else {
                    // A text of a user may look like an address, as `Meeting 3 20261126` does.
                    if !names_row(blob.path(), [row.partition_key, row.row_key]) {
                        continue;
                    }
                    let error = Error::of(TenantFault::UnknownBlob(blob.path().to_owned()));
                    return Err(error.with_key(row.partition_key, row.row_key));
                };
                if !place.blobs.get(folder).is_some_and(|folder| folder.is_of(&blob, row)) {
                    continue;
                }
                let mut from = 0;
                loop {
                    let to = blob.len().min(from + PART);
                    let (name, place) = (blob.path().to_owned(), self.position.place);
                    parts.push_back(Part { place, folder, name, range: from..to, is_last: to == blob.len() });
                    from = to;
                    if from == blob.len() {
                        break;
                    }
                }
                blobs += 1;
            }
            Ok(blobs)
        }

        /// Returns the line for a part of a blob.
        pub(super) async fn part(&self, part: &Part) -> Result<String> {
            let folder = self.tenant.places.get(part.place).and_then(|place| place.blobs.get(part.folder));
            let Some(folder) = folder else { return Ok(String::new()) };
            let bytes = STANDARD.encode(folder.read(&part.name, part.range.clone()).await?);
            text(&Line::Blob(BlobLine {
                place: part.place,
                name: part.name.clone(),
                bytes,
                last: part.is_last,
            }))
        }
    }
}

#[cfg(not(feature = "blobs"))]
impl Export<'_> {
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the signature of the feature `blobs`")]
    fn parts(&self, _: &Place, _: EntityRef<'_>, _: &mut VecDeque<Part>) -> Result<u64> {
        Ok(0)
    }

    #[expect(clippy::unused_async, reason = "the signature of the feature `blobs`")]
    async fn part(&self, _: &Part) -> Result<String> {
        Ok(String::new())
    }
}
