//! Imports blobs in parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use table_core::key::PartitionKey;
use table_core::{Error, Result};

use crate::blob::{BlobFolder, begins_with, hashed_beginning};
use crate::tenant::fault::TenantFault;
use crate::tenant::import::Import;
use crate::tenant::line::BlobLine;
use crate::tenant::open_blob::{OpenBlob, Written};
use crate::tenant::partitions::Partitions;

impl Import<'_> {
    /// Appends a part to its blob. Returns `true` if all parts of the blob have been written.
    pub(super) async fn blob(&mut self, line: u64, part: BlobLine) -> Result<bool> {
        let bytes = STANDARD.decode(&part.bytes).map_err(|_| Error::of(TenantFault::Order { line }))?;
        let from = part.from;
        if from == 0 {
            let begun = self.begin_blob(&part)?;
            self.unfinished.insert(part.name.clone());
            self.blobs.begin(begun).await;
        }
        let Some(blob) = self.blobs.get_mut(&part.name) else {
            return Err(Error::of(TenantFault::Part { name: part.name, from }));
        };
        let Some(written) = blob.write(from, &bytes, part.last).await? else {
            return Err(Error::of(TenantFault::Part { name: part.name, from }));
        };
        if written == Written::Whole {
            self.unfinished.remove(&part.name);
            self.imported.blobs += 1;
        }
        Ok(written != Written::Part)
    }

    fn begin_blob(&self, part: &BlobLine) -> Result<OpenBlob> {
        let unknown = || Error::of(TenantFault::UnknownBlob(part.name.clone()));
        let outside = || Error::of(TenantFault::BlobOutside(part.name.clone()));
        let place = self.tenant.places.get(part.place).ok_or_else(unknown)?;
        let folder = place.folder_with(&part.name)?.ok_or_else(unknown)?;
        // IMPORTANT: a line with the name of another tenant's blob must be refused, because it would overwrite that blob.
        let name = match folder.partition_of(&part.name) {
            Some(partition) => {
                let (_, to) = self.moved(part.place, &partition).map_err(|_| outside())?;
                folder.moved(&part.name, (&PartitionKey::new(partition)?, &to))?.ok_or_else(unknown)?
            }
            None if !self.is_same(part.place) => return Err(unknown()),
            None if self.has_partition_of(part, &folder) => part.name.clone(),
            None => return Err(outside()),
        };
        OpenBlob::begin(part.name.clone(), &name, folder)
    }

    /// Returns `true` if a location has the same partitions in the exported tenant and in this tenant.
    fn is_same(&self, place: usize) -> bool {
        let from = self.places().get(place);
        let to = self.tenant.places.get(place);
        from.zip(to).is_some_and(|(from, to)| from.partitions == to.partitions)
    }

    /// Returns `true` if a blob whose name contains a hash of its PartitionKey may belong to the exported partitions. If the readable beginning of a long
    /// PartitionKey is too short to decide, the blob is accepted.
    fn has_partition_of(&self, part: &BlobLine, folder: &BlobFolder) -> bool {
        let segment = folder.segment_of(&part.name).unwrap_or_default();
        let Some(beginning) = hashed_beginning(segment) else { return false };
        let places = self.places();
        let mut partitions = places.get(part.place).into_iter().flat_map(|place| &place.partitions);
        partitions.any(|partitions| match partitions {
            Partitions::Is(text) => folder.store.kind.encode(text) == segment,
            Partitions::Begin(prefix) => begins_with(beginning, prefix) != Some(false),
        })
    }
}
