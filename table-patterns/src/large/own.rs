//! Blob ownership, which is encoded in the name of the blob. An entity must not refer to a blob of another entity, because writes to the other entity may
//! remove the blob. It must not refer to one of its own earlier blobs either, unless the stored version still does: the collector may have removed the blob.

use std::any::Any;

use table_core::clock::Clock;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::{Error, Result, ValueRef};

use crate::blob::encode;
use crate::entities::{Contribution, Contributor, EntityChange};
use crate::large::fault::LargeFault;
use crate::large::{BlobRef, Large};

/// A contributor that refuses an entity with a wrong blob address. The blob was uploaded for another entity, or it may have been removed.
pub(super) struct OwnBlobs {
    /// The clock that determines the blobs' ages.
    pub(super) clock: Clock,
}

impl<E: Large, H> Contributor<E, H> for OwnBlobs {
    fn needs_old(&self) -> bool {
        false
    }

    fn contribute(&self, change: &EntityChange<'_, E>, _: &mut Contribution) -> Result<()> {
        let Some(row) = change.kind.row() else { return Ok(()) };
        for blob in E::BLOBS {
            let Some(ValueRef::String(text)) = row.view().find(blob.property(), &mut 0)? else { continue };
            let Ok(address) = text.parse::<BlobRef>() else { continue };
            // A conditional write succeeds only if the stored version is the version that was read. That version contains the address.
            let is_stored = match (change.old, change.kind) {
                (Some(old), _) => blob.address_in(old) == Some(&address),
                (None, OperationKind::Replace(_, if_match) | OperationKind::Merge(_, if_match)) => {
                    *if_match != IfMatch::Any
                }
                (None, _) => false,
            };
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

/// Returns `true` if a blob was uploaded for the entity with the given key. Ignores the prefix of the blob's name.
pub(super) fn is_of(blob: &BlobRef, key: &EntityKey) -> bool {
    let mut names = blob.path().rsplit('/').skip(1);
    let [partition, row] = segments(key);
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

/// Encodes a key as two segments of a blob name.
pub(super) fn segments(key: &EntityKey) -> [String; 2] {
    [key.partition_key.as_str(), key.row_key.as_str()].map(encode)
}
