//! Blob ownership, which is encoded in the name of the blob. An entity must not refer to a blob of another entity, because writes to the other entity may
//! remove the blob. It must not refer to one of its own earlier blobs either, unless the stored version still does: the collector may have removed the blob.

use std::any::Any;

use table_core::clock::Clock;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::row::Row;
use table_core::{Error, Result, ValueRef};

use crate::blob::encode;
use crate::entities::{Contribution, Contributor, EntityChange};
use crate::large::fault::LargeFault;
use crate::large::{Blob, BlobRef, Large};

/// A contributor that refuses an entity with a wrong blob address. The blob was uploaded for another entity, or it may have been removed.
pub(super) struct OwnBlobs {
    /// The clock that determines the blobs' ages.
    pub(super) clock: Clock,
}

impl<E: Large, H> Contributor<E, H> for OwnBlobs {
    fn needs_old(&self) -> bool {
        false
    }

    /// A caller may pass an earlier version of the entity with the `ETag` of the stored version. Only the stored version shows whether the blob is still kept.
    fn needs_old_for(&self, kind: &OperationKind) -> bool {
        let (OperationKind::Replace(row, if_match) | OperationKind::Merge(row, if_match)) = kind else {
            return false;
        };
        let now = self.clock.now();
        let address = |blob: &Blob<E>| address_in_row(row, *blob).ok().flatten();
        *if_match != IfMatch::Any && E::BLOBS.iter().filter_map(address).any(|address| !is_new(&address, now))
    }

    fn contribute(&self, change: &EntityChange<'_, E>, _: &mut Contribution) -> Result<()> {
        let Some(row) = change.kind.row() else { return Ok(()) };
        for blob in E::BLOBS {
            let Some(address) = address_in_row(row, *blob)? else { continue };
            let is_stored = change.old.is_some_and(|old| blob.address_in(old) == Some(&address));
            let fault = if !is_of(&address, change.key) {
                LargeFault::OthersBlob
            } else if !is_stored && !is_new(&address, self.clock.now()) {
                LargeFault::MayBeRemoved
            } else {
                continue;
            };
            let error = Error::of(fault).with_property(blob.property());
            return Err(error.with_key(change.key.partition_key.as_str(), change.key.row_key.as_str()));
        }
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Returns the address of a blob in a row. Returns `None` if the row contains none.
fn address_in_row<E>(row: &Row, blob: Blob<E>) -> Result<Option<BlobRef>> {
    Ok(match row.view().find(blob.property(), &mut 0)? {
        Some(ValueRef::String(text)) => text.parse().ok(),
        _ => None,
    })
}

/// Returns `true` if a blob was uploaded for the entity with the given key. Ignores the prefix of the blob's name.
pub(super) fn is_of(blob: &BlobRef, key: &EntityKey) -> bool {
    let mut names = blob.path().rsplit('/').skip(1);
    let [partition, row] = [key.partition_key.as_str(), key.row_key.as_str()].map(encode);
    names.next() == Some(row.as_str()) && names.next() == Some(partition.as_str())
}

/// Returns `true` if the upload of a blob started at most half of its grace period ago. Only then may an entity begin to refer to the blob.
fn is_new(blob: &BlobRef, now: u64) -> bool {
    let name = blob.path().rsplit('/').next().unwrap_or_default();
    let mut parts = name.split('_').map(str::parse::<u64>);
    match (parts.next(), parts.next()) {
        (Some(Ok(born)), Some(Ok(grace))) => now.saturating_sub(born) <= grace / 2,
        _ => false,
    }
}
