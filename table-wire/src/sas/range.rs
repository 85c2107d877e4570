//! Key ranges of tokens. Both ends are inclusive, and keys are compared by partition, then by row (SAS-6, SAS-7).

mod bound;

use std::cmp::Ordering;
use std::ops::Bound;

use table_core::filter::{Comparison, Filter};
use table_core::key::order;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::{Error, PartitionKey, Result, RowKey};

use super::fault::SasFault;
use super::parameters::Parameters;

/// A key range with inclusive ends. Keys are compared by partition, then by row: for example, `('B', '9')` is between `('A', '5')` and `('C', '2')` (SAS-6).
///
/// ```
/// use table_wire::sas::SignedRange;
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

/// One end of a range: a partition, and optionally a row in it. Neither key is empty, because an empty key and a missing one have the same signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    partition_key: String,
    row_key: Option<String>,
}

/// An end of a range that has not been validated: a partition and an optional row.
type Said<'a> = (&'a str, Option<&'a str>);

impl End {
    /// Creates the inclusive start of a range. A start at the empty key is equivalent to no start, because no key sorts before it.
    ///
    /// # Errors
    /// Any error from [`new`](Self::new). `InvalidInput` if only the `PartitionKey` is empty.
    fn first((partition_key, row_key): Said<'_>) -> Result<Option<Self>> {
        match (partition_key, row_key.filter(|row_key| !row_key.is_empty())) {
            ("", None) => Ok(None),
            ("", Some(_)) => Err(ambiguous("start", "PartitionKey")),
            (partition_key, row_key) => Self::new(partition_key, row_key).map(Some),
        }
    }

    /// Creates the inclusive end of a range.
    ///
    /// # Errors
    /// Any error from [`new`](Self::new). `InvalidInput` if a key is empty. An empty key has the same signature as a missing one, so the bearer could remove
    /// the end of the range.
    fn last((partition_key, row_key): Said<'_>) -> Result<Self> {
        match (partition_key, row_key) {
            ("", _) => Err(ambiguous("end", "PartitionKey")),
            (_, Some("")) => Err(ambiguous("end", "RowKey")),
            _ => Self::new(partition_key, row_key),
        }
    }

    fn new(partition_key: &str, row_key: Option<&str>) -> Result<Self> {
        PartitionKey::new(partition_key)?;
        row_key.map(RowKey::new).transpose()?;
        Ok(Self { partition_key: partition_key.to_owned(), row_key: row_key.map(str::to_owned) })
    }
}

fn ambiguous(end: &'static str, key: &'static str) -> Error {
    Error::of(SasFault::EmptyKey { end, key })
}

impl SignedRange {
    /// The unbounded range, which contains every key.
    pub const ALL: Self = Self { start: None, end: None };

    /// Creates a range from one partition to another, or from one row to another. Both ends are part of the range.
    ///
    /// # Errors
    /// - Any error from [`PartitionKey::new`] and [`RowKey::new`].
    /// - `InvalidInput` if the range ends at an empty key. An empty key has the same signature as a missing one, so the bearer could remove the end of the
    ///   range.
    /// - `InvalidInput` if the range starts at a row in the empty partition.
    ///
    /// ```
    /// use table_wire::sas::SignedRange;
    ///
    /// assert_eq!(SignedRange::new(("Sales", Some("")), ("Sales", None))?, SignedRange::partition("Sales")?);
    /// assert_eq!(SignedRange::new(("Sales", None), ("Sales", Some(""))).unwrap_err().rule(), Some("SAS-6"));
    /// assert!(SignedRange::partition("").is_err());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn new(start: (&str, Option<&str>), end: (&str, Option<&str>)) -> Result<Self> {
        Self::between(Some(start), Some(end))
    }

    fn between(start: Option<Said<'_>>, end: Option<Said<'_>>) -> Result<Self> {
        let start = start.map(End::first).transpose()?.flatten();
        Ok(Self { start, end: end.map(End::last).transpose()? })
    }

    /// Creates the range of all keys in one partition.
    ///
    /// # Errors
    /// Any error from [`PartitionKey::new`]. `InvalidInput` if the key is empty, for the same reason as in [`new`](Self::new).
    pub fn partition(partition_key: &str) -> Result<Self> {
        Self::new((partition_key, None), (partition_key, None))
    }

    /// Reads the range from the parameters of a token.
    ///
    /// # Errors
    /// Any error from [`PartitionKey::new`] and [`RowKey::new`]. `AuthenticationFailed` if an end has a row but no partition (SAS-7).
    pub(super) fn read(parameters: &Parameters) -> Result<Self> {
        let said = |partition_key, row_key| match (parameters.find(partition_key), parameters.find(row_key)) {
            (None, Some(_)) => Err(Error::of(SasFault::RowAlone { partition_key, row_key })),
            (partition_key, row_key) => Ok(partition_key.map(|partition_key| (partition_key, row_key))),
        };
        Self::between(said("spk", "srk")?, said("epk", "erk")?)
    }

    /// Writes the range to the parameters of a token.
    pub(super) fn write(&self, parameters: &mut Parameters) {
        let ends = [(&self.start, "spk", "srk"), (&self.end, "epk", "erk")];
        for (end, partition_key, row_key) in ends {
            let Some(end) = end else { continue };
            parameters.put(partition_key, end.partition_key.as_str());
            parameters.put(row_key, end.row_key.as_deref().unwrap_or_default());
        }
    }

    /// Converts a [`KeyRange`]. It must consist of rows in a single partition, or of complete partitions.
    ///
    /// Both ends of a token's range are inclusive, so exclusive ends are replaced.
    /// - An exclusive start becomes the next possible key.
    /// - An exclusive end becomes a slightly smaller key, because a key has no immediate predecessor. The token then omits keys just below the end that contain
    ///   U+FFFD or a character that sorts after it in UTF-16 order.
    ///
    /// The token never covers more than the given range.
    ///
    /// # Errors
    /// `InvalidInput` if the range is empty, if it limits the rows of more than one partition, or if it ends at an empty key (see [`new`](Self::new)).
    pub fn of_keys(keys: &KeyRange) -> Result<Self> {
        if keys.is_empty() {
            return Err(Error::of(SasFault::EmptyRange));
        }
        let (lower, upper) =
            (bound::first(&keys.partition_key.lower), bound::last(&keys.partition_key.upper));
        let rows = keys.row_key.clone();
        if rows.is_all() {
            let whole = |partition_key| (partition_key, None);
            return Self::between(lower.as_deref().map(whole), upper.as_deref().map(whole));
        }
        let Some(partition) = keys.partition_key.single() else {
            return Err(Error::of(SasFault::RowsOfPartitions));
        };
        let (first, last) = (bound::first(&rows.lower), bound::last(&rows.upper));
        Self::new((partition, first.as_deref()), (partition, last.as_deref()))
    }

    /// Returns `true` if the range contains the given key (SAS-6). Keys compare by UTF-16 code units (SAS-9).
    #[must_use]
    pub fn contains(&self, partition_key: &str, row_key: &str) -> bool {
        let compare = |end: &End| {
            let rows = || end.row_key.as_deref().map_or(Ordering::Equal, |row| order::compare(row_key, row));
            order::compare(partition_key, &end.partition_key).then_with(rows)
        };
        self.start.as_ref().is_none_or(|start| compare(start).is_ge())
            && self.end.as_ref().is_none_or(|end| compare(end).is_le())
    }

    /// Restricts a query to the range (SAS-8).
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
