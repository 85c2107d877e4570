//! Errors of sizes that exceed a store's limits.

use crate::error::{ErrorCode, Fault};

/// An exceeded limit.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LimitFault {
    #[error(
        "the {kind} has {units} UTF-16 code units, at most {most} are allowed; shorten it, or use a hash of it"
    )]
    Key { kind: &'static str, units: usize, most: usize },
    #[error("the entity has {bytes} bytes, at most {most} are allowed; split it or move a value to a blob")]
    Entity { bytes: usize, most: usize },
    #[error("the entity has {count} custom properties, at most {most} are allowed; split it")]
    Properties { count: usize, most: usize },
    #[error("property `{name}` has {found} {unit}, at most {most} are allowed")]
    Value { name: String, found: usize, unit: &'static str, most: usize },
    #[error("a transaction has at most {0} operations; commit this one and start another")]
    Operations(usize),
    #[error(
        "the transaction would have {sum} bytes of entities, at most {most} are allowed; commit it and start another"
    )]
    Transaction { sum: usize, most: usize },
    #[error(
        "the entity takes {bytes} bytes of a request, at most {most} are allowed; store large values in blobs or in a wide entity"
    )]
    Alone { bytes: usize, most: usize },
}

impl Fault for LimitFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let (code, rule) = match self {
            Self::Key { .. } => (ErrorCode::PropertyValueTooLarge, "KEY-8"),
            Self::Entity { .. } => (ErrorCode::EntityTooLarge, "SIZE-1"),
            Self::Properties { .. } => (ErrorCode::TooManyProperties, "ENT-2"),
            Self::Value { .. } => (ErrorCode::PropertyValueTooLarge, "TYPE-10"),
            Self::Operations(_) => (ErrorCode::InvalidInput, "EGT-2"),
            Self::Transaction { .. } => (ErrorCode::RequestBodyTooLarge, "EGT-3"),
            Self::Alone { .. } => (ErrorCode::EntityTooLarge, "EGT-3"),
        };
        (code, Some(rule))
    }
}
