//! Formatting of a query as the service's `$filter`.

use std::ops::Bound;

use crate::filter::{Comparison, Filter};
use crate::query::{Query, TextRange};

impl Query {
    /// Returns the query as the service's `$filter`, or `None` if the query selects the entire table.
    ///
    /// The text starts with conditions on `PartitionKey` and `RowKey`, followed by the query's filter. The conditions are joined by `and`. Only an `or` is put
    /// in parentheses. The text is not percent-encoded (LIT-4).
    ///
    /// ```
    /// use table_core::query::{KeyRange, Query, TextRange};
    ///
    /// let query = Query::new(KeyRange::rows("Sales", TextRange::prefix("email_a"))); // a prefix is a range (PAT-INTRA-3)
    /// let text = "PartitionKey eq 'Sales' and RowKey ge 'email_a' and RowKey lt 'email_b'";
    /// assert_eq!(query.filter_text().as_deref(), Some(text));
    /// ```
    #[must_use]
    pub fn filter_text(&self) -> Option<String> {
        let mut conditions = Vec::with_capacity(3);
        bounds("PartitionKey", &self.keys.partition_key, &mut conditions);
        bounds("RowKey", &self.keys.row_key, &mut conditions);
        if let Some(filter) = &self.filter {
            let alone = conditions.is_empty() || !filter.is_or();
            conditions.push(if alone { filter.to_string() } else { format!("({filter})") });
        }
        (!conditions.is_empty()).then(|| conditions.join(" and "))
    }
}

fn bounds(name: &'static str, range: &TextRange, conditions: &mut Vec<String>) {
    let mut compare = |operator, text: &str| {
        conditions.push(Filter::compare(name, operator, text).to_string());
    };
    if let Some(text) = range.single() {
        return compare(Comparison::Eq, text);
    }
    match &range.lower {
        Bound::Included(text) => compare(Comparison::Ge, text),
        Bound::Excluded(text) => compare(Comparison::Gt, text),
        Bound::Unbounded => {}
    }
    match &range.upper {
        Bound::Included(text) => compare(Comparison::Le, text),
        Bound::Excluded(text) => compare(Comparison::Lt, text),
        Bound::Unbounded => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::query::{KeyRange, Query, TextRange};

    fn text(keys: KeyRange, filter: &str) -> String {
        let query = Query { keys, ..Query::parse(filter).unwrap() };
        query.filter_text().unwrap_or_default()
    }

    /// Tests the filters that the rules list, without their parentheses.
    #[test]
    fn dq_2_to_5_and_pat_intra_1_to_3() {
        let between = |lower: &str, upper: &str| TextRange {
            lower: std::ops::Bound::Included(lower.to_owned()),
            upper: std::ops::Bound::Included(upper.to_owned()),
        };
        for (keys, filter, expected) in [
            (KeyRange::point("Sales", "2"), "", "PartitionKey eq 'Sales' and RowKey eq '2'"),
            (
                KeyRange::partition("Sales"),
                "LastName eq 'Smith'",
                "PartitionKey eq 'Sales' and LastName eq 'Smith'",
            ),
            (KeyRange::ALL, "LastName eq 'Jones'", "LastName eq 'Jones'"),
            (KeyRange::ALL, "", ""),
            (
                KeyRange::rows("Sales", between("empid_000100", "empid_000199")),
                "",
                "PartitionKey eq 'Sales' and RowKey ge 'empid_000100' and RowKey le 'empid_000199'",
            ),
            (KeyRange::partition("O'Neil & co"), "A or B", "PartitionKey eq 'O''Neil & co' and (A or B)"),
            (KeyRange::ALL, "A or B", "A or B"),
            (
                KeyRange { partition_key: TextRange::prefix("S"), row_key: TextRange::ALL },
                "A and B",
                "PartitionKey ge 'S' and PartitionKey lt 'T' and A and B",
            ),
        ] {
            assert_eq!(text(keys, filter), expected);
        }
    }
}
