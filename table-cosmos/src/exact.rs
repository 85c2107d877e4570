//! The limit up to which JSON numbers are exact integers.

/// The limit up to which the service's JSON numbers represent integers exactly: 2^53. Larger integers are stored as strings.
pub(crate) const MOST_EXACT: u64 = 1 << 53;
