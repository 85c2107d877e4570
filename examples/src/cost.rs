//! The cost of a recipe, as printed by the cookbook.

use std::fmt;
use std::ops::Sub;

use table_advice::meter::Counts;

/// A reading of the meter. The difference between two readings is the cost of the calls between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The number of calls to the store. On a service, each call would be a round trip.
    pub requests: u64,
    /// The number of entities that the store examined, if it reports this number.
    pub rows_read: u64,
    /// The number of entities returned by the store.
    pub rows_returned: u64,
    /// The total number of operations in all transactions.
    pub writes: u64,
}

impl From<&Counts> for Cost {
    fn from(counts: &Counts) -> Self {
        let Counts { requests, rows_read, rows_returned, operations: writes, .. } = *counts;
        Self { requests, rows_read, rows_returned, writes }
    }
}

impl Sub for Cost {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            rows_read: self.rows_read - earlier.rows_read,
            rows_returned: self.rows_returned - earlier.rows_returned,
            writes: self.writes - earlier.writes,
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        let Self { requests, rows_read, rows_returned, writes } = *self;
        write!(
            f,
            "{}, {} read, {rows_returned} returned",
            counted(requests, "request"),
            counted(rows_read, "row")
        )?;
        if writes > 0 { write!(f, ", {writes} written") } else { Ok(()) }
    }
}
