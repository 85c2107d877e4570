//! Errors in encoded rows.

use crate::error::{Fault, quoted};
use crate::row::VERSION;

/// An error from writing a row, or from reading bytes that are not a row.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum RowFault {
    #[error("property `{}` is specified more than once; remove one of them", quoted(.0))]
    #[fault(DuplicatePropertiesSpecified, "PROP-6")]
    Duplicate(String),
    #[error("the entity has more than 65,535 properties, the limit of a row")]
    #[fault(TooManyProperties, "ENT-2")]
    TooMany,
    #[error("the entity has more than 16 MiB of property names, the limit of a row")]
    #[fault(PropertyNameTooLong, "PROP-2")]
    NamesTooLong,
    #[error("the entity has more than 4 GiB, the limit of a row")]
    #[fault(EntityTooLarge, "SIZE-1")]
    TooLarge,
    #[error("encoded row of format {0}; this version reads up to format {VERSION}; upgrade")]
    #[fault(FormatTooNew)]
    TooNew(u8),
    #[error("corrupt encoded row: invalid {0}")]
    #[fault(Corrupted)]
    Broken(&'static str),
}
