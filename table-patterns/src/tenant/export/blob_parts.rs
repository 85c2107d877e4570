//! Exports a tenant's blobs in parts.

use std::collections::VecDeque;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use table_core::name::TableName;
use table_core::query::EntityRef;
use table_core::{Error, Result, ValueRef};

use crate::blob::{BlobRef, is_upload};
use crate::tenant::export::{Export, text};
use crate::tenant::fault::TenantFault;
use crate::tenant::line::{BlobLine, Line};
use crate::tenant::place::Place;
use crate::tenant::position::MissingBlob;

/// The maximum size of a part in bytes.
const PART: u64 = 1 << 20;

/// A referenced blob with parts not yet exported.
#[derive(Debug)]
pub(in crate::tenant) struct Part {
    place: usize,
    of: MissingBlob,
    /// The offset of the next part.
    from: u64,
    /// The length of the blob.
    len: u64,
}

impl Part {
    /// Returns the offset of the end of the next part.
    fn to(&self) -> u64 {
        self.len.min(self.from.saturating_add(PART))
    }
}

impl Export<'_> {
    /// Appends all blobs referenced by a row to `parts`. Returns their number.
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
                // User-entered text may look like a blob address, for example `Meeting 3 20261126`.
                if !is_upload(blob.path(), table, [row.partition_key, row.row_key]) {
                    continue;
                }
                let error = Error::of(TenantFault::UnknownBlob(blob.path().to_owned()));
                return Err(error.with_key(row.partition_key, row.row_key));
            };
            if !folder.is_of(&blob, row) {
                continue;
            }
            let of = MissingBlob {
                table: table.as_str().to_owned(),
                partition_key: row.partition_key.to_owned(),
                row_key: row.row_key.to_owned(),
                name: blob.path().to_owned(),
            };
            parts.push_back(Part { place: self.position.place, of, from: 0, len: blob.len() });
            blobs += 1;
        }
        Ok(blobs)
    }

    /// Returns the export line for the next blob part; `None` if no parts are left. Records missing blobs in the position.
    pub(super) async fn next_part(&mut self) -> Result<Option<String>> {
        while let Some(part) = self.blobs.front() {
            let line = self.part(part).await?;
            let Some(part) = self.blobs.front_mut() else { break };
            part.from = part.to();
            let is_over = line.is_none() || part.from == part.len;
            let part = if is_over { self.blobs.pop_front() } else { None };
            if let Some(line) = line {
                return Ok(Some(self.counted(line)));
            }
            if let (Some(Part { of, .. }), Some(next)) = (part, &mut self.next) {
                next.record_missing(of);
            }
            self.counted(String::new());
        }
        Ok(None)
    }

    /// Returns the export line for a part; `None` if the blob is missing or shorter than recorded.
    async fn part(&self, part: &Part) -> Result<Option<String>> {
        let folder = self.tenant.places.get(part.place).map(|place| place.folder_with(&part.of.name));
        let Some(folder) = folder.transpose()?.flatten() else { return Ok(None) };
        let Some(bytes) = folder.read(&part.of.name, part.from..part.to(), part.len).await? else {
            return Ok(None);
        };
        text(&Line::Blob(BlobLine {
            place: part.place,
            name: part.of.name.clone(),
            bytes: STANDARD.encode(bytes),
            from: part.from,
            last: part.to() == part.len,
        }))
        .map(Some)
    }
}
