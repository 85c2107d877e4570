//! Exports a tenant's blobs in parts.

use std::collections::VecDeque;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use table_core::name::TableName;
use table_core::query::EntityRef;
use table_core::{Error, ErrorCode, Result, ValueRef};

use crate::blob::{BlobRef, names_row};
use crate::tenant::export::{Export, text};
use crate::tenant::fault::TenantFault;
use crate::tenant::line::{BlobLine, Line};
use crate::tenant::place::Place;
use crate::tenant::position::MissingBlob;

/// The maximum size of a part in bytes.
const PART: u64 = 1 << 20;

/// A part of a referenced blob that is still to export.
#[derive(Debug)]
pub(in crate::tenant) struct Part {
    place: usize,
    of: MissingBlob,
    range: Range<u64>,
    is_last: bool,
}

impl Export<'_> {
    /// Appends the parts of all blobs that a row references to `parts`. Returns the number of these blobs.
    pub(super) fn parts(
        &self,
        (place, table): (&Place, &TableName),
        row: EntityRef<'_>,
        parts: &mut VecDeque<Part>,
    ) -> Result<u64> {
        let mut blobs = 0;
        for property in row.row.properties() {
            let ValueRef::String(text) = property?.value else { continue };
            let Ok(blob) = text.parse::<BlobRef>() else { continue };
            let Some(folder) = place.folder_with(blob.path())? else {
                // User-entered text may look like an address, for example `Meeting 3 20261126`.
                if !names_row(blob.path(), [row.partition_key, row.row_key]) {
                    continue;
                }
                let error = Error::of(TenantFault::UnknownBlob(blob.path().to_owned()));
                return Err(error.with_key(row.partition_key, row.row_key));
            };
            if !folder.is_of(&blob, row) {
                continue;
            }
            let mut from = 0;
            loop {
                let to = blob.len().min(from + PART);
                let of = MissingBlob {
                    table: table.as_str().to_owned(),
                    partition_key: row.partition_key.to_owned(),
                    row_key: row.row_key.to_owned(),
                    name: blob.path().to_owned(),
                };
                let (place, is_last) = (self.position.place, to == blob.len());
                parts.push_back(Part { place, of, range: from..to, is_last });
                from = to;
                if from == blob.len() {
                    break;
                }
            }
            blobs += 1;
        }
        Ok(blobs)
    }

    /// Returns the export line for the next blob part; `None` if no parts are left. Records missing blobs in the position.
    pub(super) async fn next_part(&mut self) -> Result<Option<String>> {
        while let Some(part) = self.blobs.front() {
            match self.part(part).await {
                Err(error) if error.code() == ErrorCode::BlobNotFound => {
                    let Some(Part { of, .. }) = self.blobs.pop_front() else { break };
                    self.blobs.retain(|part| part.of != of);
                    if let Some(next) = &mut self.next {
                        next.record_missing(of);
                    }
                    self.counted(String::new());
                }
                line => {
                    let line = line?;
                    self.blobs.pop_front();
                    return Ok(Some(self.counted(line)));
                }
            }
        }
        Ok(None)
    }

    async fn part(&self, part: &Part) -> Result<String> {
        let folder = self.tenant.places.get(part.place).map(|place| place.folder_with(&part.of.name));
        let Some(folder) = folder.transpose()?.flatten() else { return Ok(String::new()) };
        let bytes = STANDARD.encode(folder.read(&part.of.name, part.range.clone()).await?);
        text(&Line::Blob(BlobLine {
            place: part.place,
            name: part.of.name.clone(),
            bytes,
            from: Some(part.range.start),
            last: part.is_last,
        }))
    }
}
