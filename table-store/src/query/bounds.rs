//! Derives key ranges from filters (CLS-3, ENG-20).

use crate::error::Result;
use crate::filter::{Filter, Term};
use crate::query::{KeyRange, Query};
use crate::value::Value;

impl Query {
    /// Parses a query from a `$filter`. A blank filter selects the entire table (FIL-6).
    ///
    /// # Errors
    /// `InvalidInput` or `NotImplemented` if [`Filter::parse`] rejects the text.
    ///
    /// ```
    /// use table_core::query::{Query, QueryClass};
    ///
    /// let query = Query::parse("PartitionKey eq 'Sales' and RowKey ge 'S' and RowKey lt 'T' and Age ge 30")?;
    /// assert_eq!(query.keys.class(), QueryClass::Range); // one partition, and bounds on the RowKey (DQ-3)
    /// assert_eq!(query.filter.map(|filter| filter.to_string()).as_deref(), Some("Age ge 30"));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        Ok(Filter::parse(text)?.map_or(Self::new(KeyRange::ALL), Self::from_filter))
    }

    /// Creates a query from a filter. Key comparisons become the key range, and the remaining conditions become the query's filter.
    ///
    /// A comparison narrows the range only if it compares a key with a string and is joined to the other conditions by `and` (CLS-3). Comparisons with `ne`,
    /// and conditions under `or` or `not`, remain in the filter. The range and the remaining filter together select the same entities as the original filter.
    #[must_use]
    pub fn from_filter(filter: Filter) -> Self {
        let mut query = Self::new(KeyRange::ALL);
        for condition in filter.into_conjuncts() {
            if !query.keys.narrow(&condition) {
                query.filter = Some(match query.filter {
                    Some(rest) => rest.and(condition),
                    None => condition,
                });
            }
        }
        query
    }
}

impl KeyRange {
    /// Narrows the key range to the keys that satisfy a condition. Returns `false`, leaving the range unchanged, if the condition cannot be expressed as a
    /// range.
    fn narrow(&mut self, condition: &Filter) -> bool {
        let [Term::Compare { name, operator, value: Value::String(text) }] = condition.terms() else {
            return false;
        };
        match &**name {
            "PartitionKey" => self.partition_key.narrow(*operator, text),
            "RowKey" => self.row_key.narrow(*operator, text),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::filter::{Comparison, Matcher, arbitrary};
    use crate::query::{EntityRef, QueryClass};
    use crate::row::RowWriter;

    fn class(text: &str) -> QueryClass {
        Query::parse(text).unwrap().keys.class()
    }

    #[test]
    fn cls_1_to_3_classes_of_the_shapes() {
        for (text, expected) in [
            ("(PartitionKey eq 'Sales') and (RowKey eq '2')", QueryClass::Point), // DQ-2
            ("PartitionKey eq 'Sales' and RowKey ge 'S' and RowKey lt 'T'", QueryClass::Range), // DQ-3
            ("RowKey lt 'T' and (Age ge 3 and PartitionKey eq 'Sales')", QueryClass::Range),
            ("PartitionKey eq 'Sales' and LastName eq 'Smith'", QueryClass::PartitionScan), // DQ-4
            ("LastName eq 'Jones'", QueryClass::TableScan),                                 // DQ-5
            ("RowKey eq '2'", QueryClass::TableScan),                                       // DQ-5
            ("", QueryClass::TableScan),
            ("true", QueryClass::TableScan),
            ("true and PartitionKey eq 'Sales'", QueryClass::PartitionScan),
            ("PartitionKey ge 'S' and PartitionKey lt 'T'", QueryClass::PartitionRange),
            ("PartitionKey eq 'Sales' and (RowKey eq '121' or RowKey eq '322')", QueryClass::PartitionScan), // DQ-7
            ("PartitionKey eq 'a' or PartitionKey eq 'b'", QueryClass::TableScan), // CLS-2
            ("not (PartitionKey ne 'Sales')", QueryClass::TableScan),              // CLS-3
            ("PartitionKey ne 'Sales'", QueryClass::TableScan),
            ("PartitionKey eq 5", QueryClass::TableScan), // FIL-18
            (
                "PartitionKey eq 'a' and PartitionKey ge 'a' and PartitionKey le 'b'",
                QueryClass::PartitionScan,
            ),
        ] {
            assert_eq!(class(text), expected, "{text}");
        }
    }

    #[test]
    fn contradictions_are_empty_ranges() {
        for text in [
            "PartitionKey eq 'a' and PartitionKey eq 'b'",
            "RowKey gt 'a' and RowKey lt 'a'",
            "RowKey ge 'a' and RowKey lt 'a'",
            "RowKey lt ''",
            "false",
            "Age eq 5 and false",
            "RowKey eq 'a\u{1}b'",
        ] {
            assert!(Query::parse(text).unwrap().keys.is_empty(), "{text}");
        }
        assert!(!Query::parse("RowKey le '' and PartitionKey eq 'a'").unwrap().keys.is_empty());
    }

    /// Compares constants that are illegal in keys with keys that sort close to them.
    #[test]
    fn eng_20_constants_with_characters_that_keys_cannot_contain() {
        for constant in ["\u{0}", "a\u{0}", "a\u{1F}b", "a/", "a\u{7F}", "a\u{0}\u{0}"] {
            for operator in Comparison::ALL {
                let filter = Filter::compare("RowKey", operator, constant);
                let query = Query::from_filter(filter.clone());
                for row_key in ["", " ", "a", "a ", "a~", "a0", "aa", "b", "A"] {
                    let row = RowWriter::new().finish();
                    let entity = EntityRef::new("", row_key, row.view());
                    let expected = Matcher::new(&filter).matches(entity).unwrap();
                    let rest = query.filter.is_none() || expected;
                    assert_eq!(query.keys.contains("", row_key) && rest, expected, "{filter:?} {row_key:?}");
                }
                assert!(
                    !query.filter_text().unwrap_or_default().contains('\u{0}') || operator == Comparison::Ne
                );
            }
        }
    }

    #[test]
    fn the_exclusive_one_of_two_equal_bounds_applies() {
        for text in ["RowKey ge 'a' and RowKey gt 'a'", "RowKey gt 'a' and RowKey ge 'a'"] {
            assert_eq!(Query::parse(text).unwrap().filter_text().as_deref(), Some("RowKey gt 'a'"));
        }
        for text in ["RowKey le 'a' and RowKey lt 'a'", "RowKey lt 'a' and RowKey le 'a'"] {
            assert_eq!(Query::parse(text).unwrap().filter_text().as_deref(), Some("RowKey lt 'a'"));
        }
        let query =
            Query::parse("RowKey gt 'a' and RowKey ge 'b' and RowKey lt 'd' and RowKey le 'c'").unwrap();
        assert_eq!(query.filter_text().as_deref(), Some("RowKey ge 'b' and RowKey le 'c'"));
    }

    fn matches(filter: Option<&Filter>, sample: &arbitrary::Sample) -> bool {
        let row = sample.row();
        let entity = EntityRef::new(&sample.partition_key, &sample.row_key, row.view());
        filter.is_none_or(|filter| Matcher::new(filter).matches(entity).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn eng_20_range_and_rest_select_what_the_filter_selects(
            filter in arbitrary::filter(),
            samples in prop::collection::vec(arbitrary::sample(), 1..12),
        ) {
            let query = Query::from_filter(filter.clone());
            let wire = query.filter_text().map(|text| Filter::parse(&text).unwrap().unwrap());
            for sample in &samples {
                let inside = query.keys.contains(&sample.partition_key, &sample.row_key);
                let expected = matches(Some(&filter), sample);
                prop_assert_eq!(inside && matches(query.filter.as_ref(), sample), expected, "{} {:?}", filter, sample);
                prop_assert_eq!(matches(wire.as_ref(), sample), expected, "{} {:?}", filter, sample);
                prop_assert!(!(inside && query.keys.is_empty()));
            }
        }

        /// Tests that a query's filter text parses to the same query.
        #[test]
        fn filter_text_reads_back_as_the_same_query(filter in arbitrary::filter()) {
            let query = Query::from_filter(filter);
            let again = Query::parse(&query.filter_text().unwrap_or_default()).unwrap();
            prop_assert_eq!(&again.keys, &query.keys);
            prop_assert_eq!(again.filter, query.filter);
        }
    }
}
