//! Rows and blobs on their way to other partitions or another store.

use table_core::error::{Error, Result};
use table_core::key::{EntityKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::row::Row;

use crate::feed::FEED_PREFIX;
use crate::outbox::{OUTBOX_PREFIX, POISON_PREFIX};
use crate::sequence::SEQUENCE_PREFIX;
use crate::tenant::fault::TenantFault;
use crate::tenant::import::{Incoming, entity};
use crate::tenant::place::Place;

/// Returns a row as it is stored at its place. Under another PartitionKey the addresses of its blobs change.
///
/// # Errors
/// `InvalidInput` if the row contains its PartitionKey, which cannot be changed in it.
pub(super) fn moved(place: &Place, incoming: &Incoming) -> Result<Row> {
    let Incoming { from, to, row, .. } = incoming;
    if from == to {
        return Ok(row.clone());
    }
    let row_key = from.row_key.as_str();
    if from.row_key.is_reserved() {
        let is_recorded = [OUTBOX_PREFIX, POISON_PREFIX].iter().any(|prefix| row_key.starts_with(prefix));
        if is_recorded {
            return Err(Error::of(TenantFault::Pending));
        }
        let is_free = [FEED_PREFIX, SEQUENCE_PREFIX].iter().any(|prefix| row_key.starts_with(prefix));
        return if is_free {
            Ok(row.clone())
        } else {
            Err(Error::of(TenantFault::Bound(row_key.to_owned())))
        };
    }
    if let Some(member) = place.member(entity(from, row)) {
        member.check_moved(from, row, &to.partition_key)?;
    }
    with_moved_blobs(place, incoming)
}

/// Returns a recorded intent with the seal of this program; any other row unchanged.
pub(super) async fn sealed(place: &Place, table: &TableName, key: &EntityKey, row: Row) -> Result<Row> {
    let text = key.row_key.as_str();
    // An intent that was set aside has the seal of the row that it was.
    let row_key = match text.strip_prefix(POISON_PREFIX) {
        Some(rest) => RowKey::new([OUTBOX_PREFIX, rest].concat())?,
        None if text.starts_with(OUTBOX_PREFIX) => key.row_key.clone(),
        None => return Ok(row),
    };
    let insert = Operation { row_key, kind: OperationKind::Insert(row.clone()) };
    let sealing =
        place.members.iter().find_map(|member| member.seal(table, &key.partition_key, vec![insert.clone()]));
    let Some(sealing) = sealing else { return Ok(row) };
    let sealed = sealing.await?.into_iter().next().and_then(|operation| operation.kind.row().cloned());
    Ok(sealed.unwrap_or(row))
}

#[cfg(not(feature = "blobs"))]
#[expect(clippy::unnecessary_wraps, reason = "the signature of the feature `blobs`")]
fn with_moved_blobs(_: &Place, incoming: &Incoming) -> Result<Row> {
    Ok(incoming.row.clone())
}

#[cfg(not(feature = "blobs"))]
impl crate::tenant::import::Import<'_> {
    /// Refuses a blob: this program was built without the feature `blobs`.
    #[expect(clippy::unused_async, reason = "the signature of the feature `blobs`")]
    pub(super) async fn blob(&mut self, part: crate::tenant::line::BlobLine) -> Result<()> {
        Err(Error::of(TenantFault::UnknownBlob(part.name)))
    }
}

#[cfg(feature = "blobs")]
pub(super) use with_blobs::OpenBlob;
#[cfg(feature = "blobs")]
use with_blobs::with_moved_blobs;

#[cfg(feature = "blobs")]
mod with_blobs {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use table_core::row::RowWriter;
    use table_core::value::ValueRef;

    use super::{Error, Incoming, Place, Result, Row, TenantFault};
    use crate::blob::{BlobRef, BlobWriter};
    use crate::tenant::blobs::{BlobFolder, begin};
    use crate::tenant::import::Import;
    use crate::tenant::line::BlobLine;

    /// A blob whose last part has not come yet.
    pub(in crate::tenant) struct OpenBlob {
        name: String,
        folder: BlobFolder,
        writer: BlobWriter,
    }

    /// Returns a row with the addresses that its blobs get at the target.
    pub(super) fn with_moved_blobs(place: &Place, incoming: &Incoming) -> Result<Row> {
        let Incoming { from, to, row, .. } = incoming;
        let (mut writer, mut has_moved) = (RowWriter::with_capacity(row.view().len()), false);
        for property in row.view().properties() {
            let property = property?;
            let address = match property.value {
                ValueRef::String(text) => text.parse::<BlobRef>().ok(),
                _ => None,
            };
            let folder = address.as_ref().and_then(|blob| place.blobs.iter().find(|folder| folder.has(blob)));
            if let (Some(mut blob), Some(folder)) = (address, folder)
                && let Some(path) = folder.moved(&blob.path, (&from.partition_key, &to.partition_key))?
            {
                (blob.path, has_moved) = (path, true);
                writer.property(property.name, ValueRef::String(&blob.to_string()));
            } else {
                writer.property(property.name, property.value);
            }
        }
        Ok(if has_moved { writer.finish() } else { row.clone() })
    }

    impl Import<'_> {
        /// Stores a part of a blob.
        pub(in crate::tenant) async fn blob(&mut self, part: BlobLine) -> Result<()> {
            let line = self.line();
            let bytes = STANDARD.decode(&part.bytes).map_err(|_| Error::of(TenantFault::Order { line }))?;
            let mut open = match self.open.take().filter(|open| open.name == part.name) {
                Some(open) => open,
                None => self.begin_blob(&part)?,
            };
            open.writer.write(open.folder.blobs.as_ref(), &bytes).await?;
            if part.last {
                open.writer.finish(open.folder.blobs.as_ref()).await?;
                self.count_blob();
            } else {
                self.open = Some(open);
            }
            Ok(())
        }

        fn begin_blob(&self, part: &BlobLine) -> Result<OpenBlob> {
            let unknown = || Error::of(TenantFault::UnknownBlob(part.name.clone()));
            let place = self.tenant.places.get(part.place).ok_or_else(unknown)?;
            for folder in &place.blobs {
                if self.is_same(part.place) && folder.has_name(&part.name) {
                    let (name, folder) = (part.name.clone(), folder.clone());
                    return Ok(OpenBlob { writer: begin(&name)?, name, folder });
                }
                let Some(partition) = folder.partition_of(&part.name) else { continue };
                let (_, to) = self.moved(part.place, &partition)?;
                let from = table_core::key::PartitionKey::new(partition)?;
                let Some(name) = folder.moved(&part.name, (&from, &to))? else { continue };
                let writer = begin(&name)?;
                return Ok(OpenBlob { name: part.name.clone(), folder: folder.clone(), writer });
            }
            Err(unknown())
        }
    }
}
