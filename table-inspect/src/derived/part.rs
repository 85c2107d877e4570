//! Parts of wide entities. A wide entity consists of several rows, which are replaced and deleted together.

use table_core::query::EntityRef;
use table_core::{TableEntity, Value, ValueRef};
use uuid::Uuid;

use crate::error::{Error, Result};

/// The property that identifies a write. All parts stored by the same write have the same value.
pub(super) const WRITE_ID: &str = "WriteId";

/// A row that is a part of a wide entity. It has a `WriteId`, and its RowKey ends with `_01`, `_02` and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WidePart<'a> {
    /// The RowKey of the wide entity.
    pub base: &'a str,
    /// The number of the part, counted from 1.
    pub number: usize,
    /// The `WriteId`, shared by all parts stored by the same write.
    pub write: Uuid,
}

impl<'a> WidePart<'a> {
    /// The property that identifies a write. All parts stored by the same write have the same value.
    pub(crate) const WRITE_ID: &'static str = WRITE_ID;

    /// Returns the row as a part of a wide entity, or `None` if it is not a part.
    ///
    /// # Errors
    /// `Corrupted` if the row cannot be read.
    pub fn of(entity: EntityRef<'a>) -> Result<Option<Self>> {
        let Some((base, number)) = part_of(entity.row_key) else { return Ok(None) };
        Ok(match entity.row.find(WRITE_ID, &mut 0)? {
            Some(ValueRef::Guid(write)) => Some(Self { base, number, write }),
            _ => None,
        })
    }
}

/// Returns the RowKey of the wide entity, and the number of the part. Returns `None` if `row_key` cannot be the RowKey of a part.
#[must_use]
pub fn part_of(row_key: &str) -> Option<(&str, usize)> {
    let (base, number) = row_key.rsplit_once('_')?;
    let is_number = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    let part = number.parse().ok().filter(|_| is_number)?;
    Some((base, part))
}

/// Checks that a row does not replace a part of a wide entity with a part from another write. Other properties of the part may change.
///
/// # Errors
/// `Derived` if the check fails and `bypass_derived` is `false`. The error contains the key of the wide entity.
pub fn refuse_torn_part(stored: &TableEntity, row: &TableEntity, bypass_derived: bool) -> Result<()> {
    let write = match stored.get(WRITE_ID) {
        Some(write @ Value::Guid(_)) if !bypass_derived => write,
        _ => return Ok(()),
    };
    let Some((base, number)) = part_of(stored.key().row_key.as_str()) else { return Ok(()) };
    if row.get(WRITE_ID) == Some(write) {
        return Ok(());
    }
    let partition = stored.key().partition_key.as_str();
    Err(Error::Derived(format!(
        "the row is part {number} of the wide entity ('{partition}', '{base}'), whose parts are written together; plain rows would leave these \
         wrong. Keep its `{WRITE_ID}`, select all parts, or pass `--bypass-derived`"
    )))
}
