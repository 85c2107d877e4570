//! Exports a tenant as JSON lines, page by page.

#[cfg(feature = "blobs")]
mod blob_parts;
#[cfg(not(feature = "blobs"))]
mod no_blob_parts;

use std::collections::VecDeque;

use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::odata::write_body;
use table_core::query::{EntityRef, Query};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::copies::REFERENCE_PREFIX;
use crate::outbox::guard::GUARD_PREFIX;
use crate::outbox::{OUTBOX_PREFIX, POISON_PREFIX, rows};
use crate::tenant::Tenant;
use crate::tenant::fault::TenantFault;
use crate::tenant::line::{FORMAT, Header, HeaderPlace, Line};
use crate::tenant::place::{Place, all_rows};
use crate::tenant::position::ExportPosition;
use crate::tenant::transfer;

#[cfg(feature = "blobs")]
use blob_parts::Part;
#[cfg(not(feature = "blobs"))]
use no_blob_parts::Part;

/// The default number of rows per page.
const ROWS: usize = 100;

/// An export in progress. Created by [`Tenant::export`]. Holds no open resources, so it may be dropped after any step.
///
/// Each step returns complete lines. A program writes them, then stores the [position](Self::position). To continue, another process truncates the output to
/// [`ExportPosition::bytes`], and calls [`resume`](Self::resume).
///
/// ```
/// use table_patterns::Result;
/// use table_patterns::tenant::Tenant;
///
/// /// Returns the whole export as a string.
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
    pub(super) tenant: &'a Tenant,
    rows: usize,
    pub(super) position: ExportPosition,
    /// The blob parts of the last page that have not been exported yet. `next` is the export position after these parts.
    pub(super) blobs: VecDeque<Part>,
    pub(super) next: Option<ExportPosition>,
}

impl Tenant {
    /// Creates an export. Sends no request.
    #[must_use]
    pub fn export(&self) -> Export<'_> {
        let position = ExportPosition::default();
        Export { tenant: self, rows: ROWS, position, blobs: VecDeque::new(), next: None }
    }

    /// Returns `true` if the row is not exported, because an import recreates it: a reference to a holder of copies, a remote index row in the tenant's
    /// partitions, or the guard of an index row. The guard of a step's target is exported. Without it, an imported step would overwrite the content of a newer
    /// step that has already been performed.
    fn derives(&self, (place, table): (&Place, &TableName), row: EntityRef<'_>) -> Result<bool> {
        let Some(target) = row.row_key.strip_prefix(GUARD_PREFIX) else {
            return Ok(row.row_key.starts_with(REFERENCE_PREFIX) || self.is_remote_row(place, table, row));
        };
        let target = EntityKey::new(row.partition_key, target)?;
        Ok(self.has_remote_row(table, &target))
    }

    fn has_remote_row(&self, table: &TableName, key: &EntityKey) -> bool {
        let mut members = self.places.iter().flat_map(|place| &place.members);
        members.any(|member| member.has_remote_row(table, key))
    }

    /// Returns `true` if a row in the tenant's partitions belongs to an index in other partitions. Lists of such an index may contain the keys of entities in
    /// several partitions.
    pub(super) fn is_remote_row(&self, place: &Place, table: &TableName, row: EntityRef<'_>) -> bool {
        let key = EntityKey::new(row.partition_key, row.row_key);
        place.member(row).is_none() && key.is_ok_and(|key| self.has_remote_row(table, &key))
    }

    /// Returns the tenant's tables and partitions for the header of an export.
    pub(super) fn header(&self) -> Result<Vec<HeaderPlace>> {
        let header = self.places.iter().map(|place| {
            let partitions = place.partitions.clone();
            Ok(HeaderPlace { table: place.name()?.as_str().to_owned(), partitions })
        });
        header.collect()
    }
}

impl Export<'_> {
    /// Sets the number of rows per step, at least 1; by default 100. A step holds its rows in memory.
    #[must_use]
    pub fn page(self, rows: usize) -> Self {
        Self { rows: rows.max(1), ..self }
    }

    /// Continues an earlier export of the same tenant.
    ///
    /// # Errors
    /// `InvalidInput` if the position belongs to a tenant with different tables or partitions.
    pub fn resume(self, position: ExportPosition) -> Result<Self> {
        if !position.places.is_empty() && position.places != self.tenant.header()? {
            return Err(Error::of(TenantFault::Position));
        }
        Ok(Self { position, blobs: VecDeque::new(), next: None, ..self })
    }

    /// Returns the position just past the last complete page. Store it after writing the lines of that page. The parts of a blob belong to the page with the
    /// row that contains the blob's address.
    #[must_use]
    pub const fn position(&self) -> &ExportPosition {
        &self.position
    }

    /// Returns the next lines, each ending with a line break; `None` at the end of the export. Blobs that do not exist in the blob store, or are shorter
    /// there than recorded, are omitted and [listed](ExportPosition::missing).
    ///
    /// # Errors
    /// - `InvalidInput` if a row refers to a blob in an unregistered folder, or if a type with remote rows is not registered.
    /// - Any error from the stores. The step can be repeated.
    pub async fn step(&mut self) -> Result<Option<String>> {
        if self.position.bytes == 0 {
            self.tenant.check()?;
            let (places, schemas) = (self.tenant.header()?, self.tenant.schemas().await?);
            let header = text(&Line::Tenant(Header { format: FORMAT, places: places.clone(), schemas }))?;
            self.position.places = places;
            return Ok(Some(self.counted(header)));
        }
        if let Some(line) = self.next_part().await? {
            return Ok(Some(line));
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

    /// Adds the length of `lines` to the position and returns `lines`. If no blob parts are left, the position moves past the page.
    pub(super) fn counted(&mut self, lines: String) -> String {
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

    /// Reads the next page of a location and returns its lines. At the end of a partition range, returns no lines.
    async fn page_of(&mut self, place: &Place) -> Result<String> {
        let tables = place.existing().await?;
        // Locations may spell a table's name in different case, so the comparison ignores case.
        let from = self.position.table.as_deref().map(TableName::new).transpose()?;
        let is_due = |table: &&TableName| from.as_ref().is_none_or(|from| table.folded() >= from.folded());
        let mut tables = tables.iter().filter(is_due);
        // The table in the position may have been dropped because its period has expired.
        let next = tables.next().map(|table| (table, self.position.clone().in_table(table)));
        let found = next.and_then(|(table, next)| Some((table, place.partitions.get(next.range)?, next)));
        let Some((table, partitions, mut next)) = found else {
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
            if self.tenant.derives((place, table), row)? {
                continue;
            }
            lines.push_str(&self.row(place, table, row).await?);
            let blobs = self.parts((place, table), row, &mut parts)?;
            (next.end.rows, next.end.blobs) = (next.end.rows + 1, next.end.blobs + blobs);
        }
        next.end.skipped += page.as_ref().map_or(0, |page| page.skipped);
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

    /// Returns the export line for a row. The line for an intent contains the time of the change and, if valid, the intent's seal.
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

/// Returns `true` if a RowKey belongs to a recorded intent.
fn is_record(row_key: &str) -> bool {
    [OUTBOX_PREFIX, POISON_PREFIX].iter().any(|prefix| row_key.starts_with(prefix))
}

pub(super) fn text(line: &Line) -> Result<String> {
    let text = serde_json::to_string(line);
    Ok(text.map_err(|source| Error::of(TenantFault::Line { line: 0, source }))? + "\n")
}
