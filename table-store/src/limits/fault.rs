//! Errors for values and entities that exceed a store's limits.

use crate::error::{Fault, quoted};

/// The limit that a value, an entity or a transaction exceeds.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum LimitFault {
    #[error(
        "the {kind} has {units} UTF-16 code units, at most {most} are allowed; shorten it, or use a hash of it"
    )]
    #[fault(PropertyValueTooLarge, "KEY-8")]
    Key { kind: &'static str, units: usize, most: usize },
    #[error("the entity has {bytes} bytes, at most {most} are allowed; split it or move a value to a blob")]
    #[fault(EntityTooLarge, "SIZE-1")]
    Entity { bytes: usize, most: usize },
    #[error("the entity has {count} custom properties, at most {most} are allowed; split it")]
    #[fault(TooManyProperties, "ENT-2")]
    Properties { count: usize, most: usize },
    #[error("property `{}` has {found} {unit}, at most {most} are allowed", quoted(name))]
    #[fault(PropertyValueTooLarge, "TYPE-10")]
    Value { name: String, found: usize, unit: &'static str, most: usize },
    #[error("a transaction has at most {0} operations; commit this one and start another")]
    #[fault(InvalidInput, "EGT-2")]
    Operations(usize),
    #[error(
        "the transaction would have {sum} bytes of entities, at most {most} are allowed; commit it and start another"
    )]
    #[fault(RequestBodyTooLarge, "EGT-3")]
    Transaction { sum: usize, most: usize },
    #[error(
        "the entity takes {bytes} bytes of a request, at most {most} are allowed; store large values in blobs or in a wide entity"
    )]
    #[fault(EntityTooLarge, "EGT-3")]
    Alone { bytes: usize, most: usize },
}
