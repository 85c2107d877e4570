//! Ranges of strings and of keys.

use std::cmp::Ordering;
use std::ops::Bound;

use crate::filter::Comparison;
use crate::key::order;
use crate::query::QueryClass;

/// A range of strings in key order (ORD-1).
///
/// ```
/// use table_core::query::TextRange;
///
/// let range = TextRange::prefix("email_a"); // a prefix is a range (PAT-INTRA-3)
/// assert!(range.contains("email_ada@contoso.com") && !range.contains("email_b"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TextRange {
    /// The lower bound of the range.
    pub lower: Bound<String>,
    /// The upper bound of the range.
    pub upper: Bound<String>,
}

impl TextRange {
    /// The unbounded range, which contains every string.
    pub const ALL: Self = Self { lower: Bound::Unbounded, upper: Bound::Unbounded };

    /// Creates a range that contains exactly one string.
    #[must_use]
    pub fn exactly(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { lower: Bound::Included(text.clone()), upper: Bound::Included(text) }
    }

    /// Creates the range of all strings with a prefix (FIL-19). An empty prefix yields [`ALL`](Self::ALL).
    #[must_use]
    pub fn prefix(prefix: &str) -> Self {
        if prefix.is_empty() {
            return Self::ALL;
        }
        let upper = order::after_prefix(prefix).map_or(Bound::Unbounded, Bound::Excluded);
        Self { lower: Bound::Included(prefix.to_owned()), upper }
    }

    /// Returns the string if the range contains exactly one string.
    #[must_use]
    pub fn single(&self) -> Option<&str> {
        match (&self.lower, &self.upper) {
            (Bound::Included(lower), Bound::Included(upper)) if lower == upper => Some(lower),
            _ => None,
        }
    }

    /// Returns `true` if the range contains every string. An inclusive lower bound of `""` counts as unbounded, because no string sorts before the empty
    /// string.
    #[must_use]
    pub fn is_all(&self) -> bool {
        let from_first = match &self.lower {
            Bound::Unbounded => true,
            Bound::Included(text) => text.is_empty(),
            Bound::Excluded(_) => false,
        };
        from_first && self.upper == Bound::Unbounded
    }

    /// Returns `true` if the range contains a string.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        let above = match &self.lower {
            Bound::Included(lower) => order::compare(text, lower).is_ge(),
            Bound::Excluded(lower) => order::compare(text, lower).is_gt(),
            Bound::Unbounded => true,
        };
        above
            && match &self.upper {
                Bound::Included(upper) => order::compare(text, upper).is_le(),
                Bound::Excluded(upper) => order::compare(text, upper).is_lt(),
                Bound::Unbounded => true,
            }
    }
}

impl TextRange {
    /// Returns `true` if no string is in the range. A store then returns no rows, without reading anything.
    ///
    /// ```
    /// use std::ops::Bound;
    /// use table_core::query::TextRange;
    ///
    /// let range = |lower: &str, upper: &str| TextRange {
    ///     lower: Bound::Included(lower.to_owned()),
    ///     upper: Bound::Excluded(upper.to_owned()),
    /// };
    /// assert!(range("b", "a").is_empty() && range("a", "a").is_empty() && !range("a", "b").is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let (Bound::Included(upper) | Bound::Excluded(upper)) = &self.upper else { return false };
        let both_included = matches!((&self.lower, &self.upper), (Bound::Included(_), Bound::Included(_)));
        match &self.lower {
            // No string precedes the empty string.
            Bound::Unbounded => upper.is_empty() && matches!(self.upper, Bound::Excluded(_)),
            Bound::Included(lower) | Bound::Excluded(lower) => match order::compare(lower, upper) {
                Ordering::Less => false,
                Ordering::Equal => !both_included,
                Ordering::Greater => true,
            },
        }
    }

    /// Narrows the range to the strings that another range also contains.
    ///
    /// ```
    /// use table_core::query::TextRange;
    ///
    /// let mut range = TextRange::prefix("email_");
    /// range.intersect(&TextRange::prefix("email_a"));
    /// assert_eq!(range, TextRange::prefix("email_a"));
    /// ```
    pub fn intersect(&mut self, other: &Self) {
        tighten(&mut self.lower, other.lower.as_ref().map(String::as_str), Ordering::Greater);
        tighten(&mut self.upper, other.upper.as_ref().map(String::as_str), Ordering::Less);
    }

    /// Narrows the range to the strings that satisfy a comparison. Returns `false`, leaving the range unchanged, if the comparison cannot be expressed as a
    /// range.
    ///
    /// No key contains a control character below U+0020 (KEY-3). A constant with such a character sorts directly after the text before that character, and
    /// before all longer keys that start with that text. The bound is therefore shortened to that text, so stores never receive control characters.
    pub(crate) fn narrow(&mut self, operator: Comparison, text: &str) -> bool {
        let legal = text.split(|c| c < ' ').next().unwrap_or_default();
        let between = legal.len() < text.len();
        let (included, excluded) = (Bound::Included(legal), Bound::Excluded(legal));
        let (lower, upper) = match operator {
            Comparison::Ne => return false,
            Comparison::Eq if between => (excluded, included),
            Comparison::Eq => (included, included),
            Comparison::Ge if !between => (included, Bound::Unbounded),
            Comparison::Gt | Comparison::Ge => (excluded, Bound::Unbounded),
            Comparison::Lt if !between => (Bound::Unbounded, excluded),
            Comparison::Lt | Comparison::Le => (Bound::Unbounded, included),
        };
        tighten(&mut self.lower, lower, Ordering::Greater);
        tighten(&mut self.upper, upper, Ordering::Less);
        true
    }
}

/// Replaces a bound with `other` if `other` is tighter. `side` is `Greater` for lower bounds, where greater strings are tighter, and `Less` for upper bounds.
/// If the strings are equal, the exclusive bound is tighter.
fn tighten(bound: &mut Bound<String>, other: Bound<&str>, side: Ordering) {
    let (Bound::Included(limit) | Bound::Excluded(limit)) = other else { return };
    let tighter = match &*bound {
        Bound::Unbounded => true,
        Bound::Included(own) | Bound::Excluded(own) => match order::compare(limit, own) {
            Ordering::Equal => matches!(other, Bound::Excluded(_)),
            found => found == side,
        },
    };
    if tighter {
        *bound = other.map(str::to_owned);
    }
}

/// A key range: a range of partitions, and a range of rows in each partition.
///
/// For a single partition, a query reads only the rows in the row range. For several partitions, the query evaluates the row range as a condition on each row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyRange {
    /// The range of `PartitionKey`s.
    pub partition_key: TextRange,
    /// The range of `RowKey`s.
    pub row_key: TextRange,
}

impl KeyRange {
    /// The unbounded range, which contains every key.
    pub const ALL: Self = Self { partition_key: TextRange::ALL, row_key: TextRange::ALL };

    /// Creates a range that contains exactly one key.
    #[must_use]
    pub fn point(partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        Self { partition_key: TextRange::exactly(partition_key), row_key: TextRange::exactly(row_key) }
    }

    /// Creates a range of rows in one partition.
    #[must_use]
    pub fn rows(partition_key: impl Into<String>, row_key: TextRange) -> Self {
        Self { partition_key: TextRange::exactly(partition_key), row_key }
    }

    /// Creates the range of all keys in one partition.
    #[must_use]
    pub fn partition(partition_key: impl Into<String>) -> Self {
        Self::rows(partition_key, TextRange::ALL)
    }

    /// Returns the cost class of a query over the range (CLS-1).
    #[must_use]
    pub fn class(&self) -> QueryClass {
        match (self.partition_key.single(), self.row_key.single()) {
            (Some(_), Some(_)) => QueryClass::Point,
            (Some(_), None) if self.row_key.is_all() => QueryClass::PartitionScan,
            (Some(_), None) => QueryClass::Range,
            (None, _) if self.partition_key.is_all() => QueryClass::TableScan,
            (None, _) => QueryClass::PartitionRange,
        }
    }

    /// Returns `true` if no key satisfies the bounds.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.partition_key.is_empty() || self.row_key.is_empty()
    }

    /// Returns `true` if the range contains a key.
    #[must_use]
    pub fn contains(&self, partition_key: &str, row_key: &str) -> bool {
        self.partition_key.contains(partition_key) && self.row_key.contains(row_key)
    }
}
