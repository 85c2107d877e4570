//! What a recipe cost, in the words of the cookbook.

use std::fmt;
use std::ops::Sub;

use table_patterns::meter::Counts;

/// What a meter has counted so far; subtract an earlier reading for the cost of what lies between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Calls of the store: each would be one round trip to a service.
    pub requests: u64,
    /// Entities that the store looked at, as far as it counts them.
    pub rows_read: u64,
    /// Entities that came back.
    pub rows_returned: u64,
    /// Operations sent in transactions.
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

#[cfg(test)]
mod tests {
    use table_core::TableStoreExt;

    use crate::model::company::{Employee, employees};
    use crate::store;

    #[test]
    fn what_passes_is_counted_and_what_goes_around_is_not() {
        pollster::block_on(async {
            let store = store::in_memory();
            let mut before = store.cost();
            let mut cost = || {
                let now = store.cost();
                (now - std::mem::replace(&mut before, now)).to_string()
            };
            let table = store.unmetered().table::<Employee>().create_if_missing().await.unwrap();
            table.bulk().insert_all(employees()).await.unwrap();
            assert_eq!(cost(), "0 requests, 0 rows read, 0 returned");

            let table = store.table::<Employee>();
            table.get(Employee::key("Sales", 223)).await.unwrap();
            table.get(Employee::key("Sales", 224)).await.unwrap();
            assert_eq!(cost(), "2 requests, 1 row read, 1 returned");
            let young = table.query(Employee::partition("Sales")).filter(Employee::AGE.lt(30));
            assert_eq!(young.collect().await.unwrap().len(), 1);
            assert_eq!(cost(), "1 request, 5 rows read, 1 returned");
            table.patch(Employee::key("Sales", 223)).set(Employee::AGE, 33).send().await.unwrap();
            assert_eq!(cost(), "1 request, 0 rows read, 0 returned, 1 written");
        });
    }
}
