//! Guard keys, and the hash function for the keys of outbox rows.

use table_core::key::{EntityKey, RowKey};
use table_core::{Error, Result, limits};

use crate::outbox::fault::OutboxFault;

/// The prefix of the `RowKey`s of guards. The guarded entity's RowKey follows it.
pub const GUARD_PREFIX: &str = "\u{FFFC}guard_";
/// The maximum length of a guarded entity's RowKey, in UTF-16 code units. [`GUARD_PREFIX`] has seven code units.
pub(crate) const GUARDED_UNITS: usize = limits::KEY_UNITS_PORTABLE - 7;

/// Returns the key of the guard for a target entity.
///
/// # Errors
/// `PropertyValueTooLarge` if the target's RowKey is too long for its guard.
pub(crate) fn guard_key(target: &EntityKey) -> Result<EntityKey> {
    let row_key = format!("{GUARD_PREFIX}{}", target.row_key);
    let units = row_key.encode_utf16().count();
    if units > limits::KEY_UNITS_PORTABLE {
        return Err(Error::of(OutboxFault::TargetKey(GUARDED_UNITS))
            .with_key(target.partition_key.as_str(), target.row_key.as_str()));
    }
    Ok(EntityKey { partition_key: target.partition_key.clone(), row_key: RowKey::new(row_key)? })
}

/// Returns the FNV-1a hash of the bytes.
pub(crate) fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes
        .into_iter()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}
