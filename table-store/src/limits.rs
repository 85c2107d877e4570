//! The service's limits, with rule numbers. The embedded engine also enforces them (ENG-16).

/// The maximum key length that every store accepts, in UTF-16 code units: 1 KiB (KEY-7, ENG-1).
pub const KEY_UNITS_PORTABLE: usize = 512;
/// The maximum key length of the most permissive stores, in UTF-16 code units (KEY-7, ENG-1).
pub const KEY_UNITS_WIDE: usize = 1_024;
/// The maximum number of custom properties per entity (ENT-2).
pub const PROPERTIES: usize = 252;
/// The maximum length of a property name, in UTF-16 code units (PROP-2, ENG-18).
pub const PROPERTY_NAME_UNITS: usize = 255;
/// The maximum length of a string value, in UTF-16 code units: 64 KiB (TYPE-1, TYPE-11).
pub const STRING_UNITS: usize = 32_768;
/// The maximum length of a binary value, in bytes (TYPE-1).
pub const BINARY_BYTES: usize = 65_536;
/// The maximum size of an entity, in bytes. The size is the result of the service's published formula plus [`ENTITY_RESERVE`] (SIZE-1, SIZE-2).
pub const ENTITY_BYTES: usize = 1_048_576;
/// The number of bytes that the service adds to the result of its published formula (SIZE-4, ENG-3).
pub const ENTITY_RESERVE: usize = 88;
/// The maximum number of operations in an entity group transaction (EGT-2).
pub const TRANSACTION_OPERATIONS: usize = 100;
/// The maximum payload of an entity group transaction, in bytes (EGT-3, ENG-17).
pub const TRANSACTION_BYTES: usize = 4_194_304;
/// The maximum number of entities in a page, and the largest `$top` (PAGE-1, TOP-1).
pub const PAGE_ENTITIES: usize = 1_000;
/// The maximum number of names in a `$select` (SEL-1).
pub const SELECT_NAMES: usize = 255;
/// The minimum length of a table name, in characters (TBL-1).
pub const TABLE_NAME_MIN: usize = 3;
/// The maximum length of a table name, in characters (TBL-1).
pub const TABLE_NAME_MAX: usize = 63;

pub(crate) mod fault;

use crate::error::{Error, Result};
use crate::limits::fault::LimitFault;

/// The limits that a store enforces.
///
/// ```
/// use table_core::limits::Limits;
///
/// assert!(Limits::PORTABLE.check_key("RowKey", &"x".repeat(513)).is_err()); // at most 512 code units (ENG-1)
/// assert!(Limits::WIDE.check_key("RowKey", &"x".repeat(513)).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum length of a key, in UTF-16 code units.
    pub key_units: usize,
    /// The maximum number of custom properties per entity.
    pub properties: usize,
    /// The maximum length of a string value, in UTF-16 code units.
    pub string_units: usize,
    /// The maximum size of a binary value, in bytes.
    pub binary_bytes: usize,
    /// The maximum size of an entity, in bytes. The size is the result of the published formula plus [`ENTITY_RESERVE`].
    pub entity_bytes: usize,
    /// The maximum number of operations in a transaction.
    pub operations: usize,
    /// The maximum size of a transaction, in bytes. `measure` defines how the size is measured.
    pub transaction_bytes: usize,
    /// The method of measuring a transaction's size.
    pub measure: TransactionMeasure,
}

/// A method of measuring a transaction's size (EGT-3, ENG-17).
///
/// ```
/// use table_core::limits::{Limits, TransactionMeasure};
///
/// // A server that bounds the body of each request does not measure the entities again.
/// let mut limits = Limits::PORTABLE;
/// limits.measure = TransactionMeasure::Unmeasured;
/// assert_ne!(limits.measure, Limits::PORTABLE.measure);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionMeasure {
    /// The total size of the entities, calculated with the published formula. The formula counts two bytes per UTF-16 code unit of a string.
    Entities,
    /// The size is not measured. It is already limited in another way, such as by a server's limit on request bodies. The engine then also skips its own size
    /// check, even if its limits define another measure.
    Unmeasured,
    /// The size of the request body, as measured by the service.
    Body {
        /// The fixed overhead of each operation: headers, delimiters, and the URL without the key.
        per_operation: usize,
        /// `true` if non-ASCII characters are sent as `\u` escapes.
        ascii: bool,
    },
}

impl Limits {
    /// Data within these limits is accepted by every store except Cosmos DB. They are the default limits of the embedded engine (ENG-1, ENG-16).
    pub const PORTABLE: Self = Self {
        key_units: KEY_UNITS_PORTABLE,
        properties: PROPERTIES,
        string_units: STRING_UNITS,
        binary_bytes: BINARY_BYTES,
        entity_bytes: ENTITY_BYTES,
        operations: TRANSACTION_OPERATIONS,
        transaction_bytes: TRANSACTION_BYTES,
        measure: TransactionMeasure::Entities,
    };
    /// The portable limits with keys of up to 1,024 code units (ENG-1).
    pub const WIDE: Self = Self { key_units: KEY_UNITS_WIDE, ..Self::PORTABLE };
    /// No limits except those of the engine's file formats. Data that exceeds the portable limits cannot be moved to any service.
    pub const UNLIMITED: Self = Self {
        key_units: KEY_UNITS_WIDE,
        properties: 65_535,
        string_units: 268_435_456,
        binary_bytes: 268_435_456,
        entity_bytes: 1_073_741_824,
        operations: 1_000_000,
        transaction_bytes: 1_073_741_824,
        measure: TransactionMeasure::Entities,
    };

    /// Checks the length of a key.
    ///
    /// # Errors
    /// `PropertyValueTooLarge` if the key is too long (KEY-8).
    pub fn check_key(&self, kind: &'static str, key: &str) -> Result<()> {
        if key.len() > self.key_units {
            let units = key.encode_utf16().count();
            if units > self.key_units {
                let most = self.key_units;
                return Err(Error::of(LimitFault::Key { kind, units, most }));
            }
        }
        Ok(())
    }

    /// Checks an entity size calculated with the published formula (SIZE-2).
    ///
    /// # Errors
    /// `EntityTooLarge` if the entity exceeds the limit (SIZE-1, ENG-3).
    pub fn check_entity_bytes(&self, bytes: usize) -> Result<()> {
        if bytes.saturating_add(ENTITY_RESERVE) > self.entity_bytes {
            let most = self.entity_bytes.saturating_sub(ENTITY_RESERVE);
            return Err(Error::of(LimitFault::Entity { bytes, most }));
        }
        Ok(())
    }
}
