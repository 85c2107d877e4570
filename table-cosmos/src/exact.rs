//! The limit of exact integers in JSON.

/// The limit below which JSON numbers of the service are exact integers: 2^53. Larger integers are stored as strings.
pub(crate) const MOST_EXACT: u64 = 1 << 53;
