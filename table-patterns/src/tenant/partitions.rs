//! A tenant's partitions in one table: a single partition, or all partitions whose keys have a common prefix.

use serde::{Deserialize, Serialize};
use table_core::query::{KeyRange, TextRange};
use table_core::{Error, Result};

use crate::tenant::fault::TenantFault;

/// A single partition of a table, or all partitions whose keys have a common prefix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Partitions {
    Is(String),
    Begin(String),
}

impl Partitions {
    /// Returns the partitions covered by a key range.
    ///
    /// # Errors
    /// `InvalidInput` if the range covers only part of a partition, or is neither a single partition nor a prefix.
    pub(super) fn of(range: &KeyRange) -> Result<Self> {
        let KeyRange { partition_key, row_key } = range;
        let prefix = match &partition_key.lower {
            std::ops::Bound::Included(lower) => lower.as_str(),
            _ => "",
        };
        if let Some(text) = partition_key.single().filter(|_| row_key.is_all()) {
            return Ok(Self::Is(text.to_owned()));
        }
        if row_key.is_all() && *partition_key == TextRange::prefix(prefix) {
            return Ok(Self::Begin(prefix.to_owned()));
        }
        Err(Error::of(TenantFault::NotWhole))
    }

    /// Returns the range of the partition keys.
    pub(super) fn range(&self) -> TextRange {
        match self {
            Self::Is(text) => TextRange::exactly(text.as_str()),
            Self::Begin(prefix) => TextRange::prefix(prefix),
        }
    }

    /// Returns the PartitionKey under which an import into `to` writes the rows of `partition_key`; `None` if `partition_key` is not one of these partitions.
    pub(super) fn moved(&self, to: &Self, partition_key: &str) -> Option<String> {
        match (self, to) {
            (Self::Is(from), Self::Is(to)) => (partition_key == from).then(|| to.clone()),
            (Self::Begin(from), Self::Begin(to)) => {
                partition_key.strip_prefix(from.as_str()).map(|rest| [to, rest].concat())
            }
            _ => None,
        }
    }

    /// Returns `true` if both values are single partitions, or both are prefixes.
    pub(super) const fn is_same_kind(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Is(_), Self::Is(_)) | (Self::Begin(_), Self::Begin(_)))
    }
}
