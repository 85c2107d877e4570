//! Blob ownership, encoded in the blob's name. An entity must not refer to another entity's blob, because writes to the other entity may remove the blob.

use std::any::Any;

use table_core::key::EntityKey;
use table_core::{Error, Result, ValueRef};

use crate::blob::encode;
use crate::entities::{Contribution, Contributor, EntityChange};
use crate::large::fault::LargeFault;
use crate::large::{BlobRef, Large};

/// A contributor that refuses entities with the address of a blob uploaded for another entity.
pub(super) struct OwnBlobs;

impl<E: Large, H> Contributor<E, H> for OwnBlobs {
    fn needs_old(&self) -> bool {
        false
    }

    fn contribute(&self, change: &EntityChange<'_, E>, _: &mut Contribution) -> Result<()> {
        let Some(row) = change.kind.row() else { return Ok(()) };
        for blob in E::BLOBS {
            let Some(ValueRef::String(text)) = row.view().find(blob.property(), &mut 0)? else { continue };
            if text.parse::<BlobRef>().is_ok_and(|address| !is_of(&address, change.key)) {
                let error = Error::of(LargeFault::OthersBlob).with_property(blob.property());
                return Err(error.with_key(change.key.partition_key.as_str(), change.key.row_key.as_str()));
            }
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

/// Encodes a key as two segments of a blob name.
pub(super) fn segments(key: &EntityKey) -> [String; 2] {
    [key.partition_key.as_str(), key.row_key.as_str()].map(encode)
}
