//! The range of keys of a token: compound, both ends inclusive (SAS-6, SAS-7).

mod bound;

use std::cmp::Ordering;
use std::ops::Bound;

use table_core::filter::{Comparison, Filter};
use table_core::key::order;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::{Error, ErrorCode, PartitionKey, Result, RowKey};

/// From a key to a key, both included, ordered by partition first and row second: between `('A', '5')` and `('C', '2')` lies
/// `('B', '9')` (SAS-6).
///
/// ```
/// use table_azure::sas::SignedRange;
///
/// let range = SignedRange::new(("A", Some("5")), ("C", Some("2")))?;
/// assert!(range.contains("B", "9") && range.contains("A", "5") && !range.contains("A", "4") && !range.contains("C", "3"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedRange {
    pub(super) start: Option<End>,
    pub(super) end: Option<End>,
}

/// One end: a partition, and a row of it if the end lies inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) partition_key: String,
    pub(super) row_key: Option<String>,
}

impl End {
    /// # Errors
    /// Those of a key.
    pub(super) fn new(partition_key: &str, row_key: Option<&str>) -> Result<Self> {
        PartitionKey::new(partition_key)?;
        row_key.map(RowKey::new).transpose()?;
        Ok(Self { partition_key: partition_key.to_owned(), row_key: row_key.map(str::to_owned) })
    }
}

impl SignedRange {
    /// Every key.
    pub const ALL: Self = Self { start: None, end: None };

    /// From a partition, or a row of it, to a partition, or a row of it.
    ///
    /// # Errors
    /// Those of a `PartitionKey` and a `RowKey`.
    pub fn new(start: (&str, Option<&str>), end: (&str, Option<&str>)) -> Result<Self> {
        Ok(Self { start: Some(End::new(start.0, start.1)?), end: Some(End::new(end.0, end.1)?) })
    }

    /// One partition.
    ///
    /// # Errors
    /// Those of a `PartitionKey`.
    pub fn partition(partition_key: &str) -> Result<Self> {
        Self::new((partition_key, None), (partition_key, None))
    }

    /// The keys of a range of this library: one partition and a range of its rows, or whole partitions.
    ///
    /// A token's range includes both its ends, so an end that is excluded becomes the next key inside. After an excluded
    /// beginning there is one. Before an excluded end there is no last key; the token then leaves out those keys that have
    /// U+FFFD or a character behind it in UTF-16 order at that place. It never reaches more than was asked for.
    ///
    /// # Errors
    /// `InvalidInput` if no key lies in it, or if it bounds the rows of more than one partition, which a token cannot say.
    pub fn of_keys(keys: &KeyRange) -> Result<Self> {
        let refuse = |why: &str| Err(Error::new(ErrorCode::InvalidInput, why).with_rule("SAS-6"));
        if keys.is_empty() {
            return refuse("the range holds no key: nothing can be allowed by it");
        }
        let (lower, upper) =
            (bound::first(&keys.partition_key.lower), bound::last(&keys.partition_key.upper));
        let rows = keys.row_key.clone();
        if rows.is_all() {
            let end = |key: Option<String>| key.map(|key| End::new(&key, None)).transpose();
            return Ok(Self { start: end(lower)?, end: end(upper)? });
        }
        let Some(partition) = keys.partition_key.single() else {
            return refuse(
                "a signature's range is compound and cannot bound the rows of several partitions: sign one for each",
            );
        };
        let (first, last) = (bound::first(&rows.lower), bound::last(&rows.upper));
        Self::new((partition, first.as_deref()), (partition, last.as_deref()))
    }

    /// Whether an entity lies inside (SAS-6), in the order of keys (SAS-9).
    #[must_use]
    pub fn contains(&self, partition_key: &str, row_key: &str) -> bool {
        let compare = |end: &End| {
            let rows = || end.row_key.as_deref().map_or(Ordering::Equal, |row| order::compare(row_key, row));
            order::compare(partition_key, &end.partition_key).then_with(rows)
        };
        self.start.as_ref().is_none_or(|start| compare(start).is_ge())
            && self.end.as_ref().is_none_or(|end| compare(end).is_le())
    }

    /// The query that reads of another what lies inside (SAS-8).
    pub(super) fn restrict(&self, query: &Query) -> Query {
        let mut query = query.clone();
        let included = |end: &Option<End>| match end {
            Some(end) => Bound::Included(end.partition_key.clone()),
            None => Bound::Unbounded,
        };
        let partitions = TextRange { lower: included(&self.start), upper: included(&self.end) };
        query.keys.partition_key.intersect(&partitions);
        for (end, operator) in [(&self.start, Comparison::Ge), (&self.end, Comparison::Le)] {
            let Some(End { partition_key, row_key: Some(row) }) = end else { continue };
            match query.keys.partition_key.single() {
                Some(partition) if partition == partition_key => {
                    let limit = Bound::Included(row.clone());
                    let rows = match operator {
                        Comparison::Ge => TextRange { lower: limit, upper: Bound::Unbounded },
                        _ => TextRange { lower: Bound::Unbounded, upper: limit },
                    };
                    query.keys.row_key.intersect(&rows);
                }
                Some(_) => {}
                None => {
                    let other = Filter::compare("PartitionKey", Comparison::Ne, partition_key.clone());
                    let beyond = other.or(Filter::compare("RowKey", operator, row.clone()));
                    query.filter = Some(match query.filter.take() {
                        Some(filter) => filter.and(beyond),
                        None => beyond,
                    });
                }
            }
        }
        query
    }
}

#[cfg(test)]
mod tests;
