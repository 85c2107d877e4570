//! What a recipe cost, in the words of the cookbook.

use std::fmt;

use table_patterns::meter::Counts;

/// Requests, rows read and returned, and operations written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost(pub Counts);

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        let Counts { requests, rows_read, rows_returned, operations, .. } = self.0;
        write!(
            f,
            "{}, {} read, {rows_returned} returned",
            counted(requests, "request"),
            counted(rows_read, "row")
        )?;
        if operations > 0 { write!(f, ", {operations} written") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use table_core::TableStoreExt;

    use super::*;
    use crate::model::company::{Employee, employees};
    use crate::store;

    #[test]
    fn what_passes_is_counted_and_what_goes_around_is_not() {
        pollster::block_on(async {
            let store = store::in_memory();
            let cost = || Cost(*store.meter().take()).to_string();
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
