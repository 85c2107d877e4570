//! Validation of queries before they are sent (TOP, SEL rules).

use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::limits::SELECT_NAMES;
use crate::name::check_property_name;
use crate::query::fault::QueryFault;
use crate::query::{Query, Select};

impl Query {
    /// Validates the query for a store whose maximum `$top` is `most`. Every backend calls this function before executing a query.
    ///
    /// # Errors
    /// - `InvalidInput` if `top` is greater than `most` (TOP-2). A `top` of 0 is valid and requests an empty page (TOP-3).
    /// - `InvalidInput` if the grammar cannot express the filter ([`Filter::check`](crate::Filter::check)).
    /// - `InvalidInput` if `$select` has more than 255 names (SEL-1), a duplicate name, `*` (SEL-5), or a name that is not an identifier.
    ///
    /// ```
    /// use table_core::query::{KeyRange, Query};
    ///
    /// let query = Query { top: Some(1_001), ..Query::new(KeyRange::partition("Sales")) };
    /// assert_eq!(query.check(1_000).unwrap_err().rule(), Some("TOP-2"));
    /// ```
    pub fn check(&self, most: usize) -> Result<()> {
        if let Some(top) = self.top.filter(|top| *top > most) {
            return Err(Error::of(QueryFault::Top { top, most }));
        }
        self.select.check().map_err(Error::of)?;
        self.filter.as_ref().map_or(Ok(()), Filter::check)
    }
}

impl Select {
    fn check(&self) -> Result<(), QueryFault> {
        let Self::Names(names) = self else { return Ok(()) };
        if names.len() > SELECT_NAMES {
            return Err(QueryFault::SelectCount(names.len()));
        }
        for (index, name) in names.iter().enumerate() {
            if name == "*" {
                return Err(QueryFault::SelectAll);
            }
            if names.iter().take(index).any(|earlier| earlier == name) {
                return Err(QueryFault::SelectTwice(name.to_string()));
            }
            let own_place = matches!(&**name, "PartitionKey" | "RowKey" | "Timestamp");
            if !own_place {
                check_property_name(name).map_err(QueryFault::SelectName)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::error::ErrorCode;
    use crate::filter::Comparison;
    use crate::query::KeyRange;

    fn rule(query: &Query) -> Option<&'static str> {
        query.check(1_000).err().map(|error| {
            assert_eq!(error.code(), ErrorCode::InvalidInput);
            error.rule().unwrap()
        })
    }

    #[test]
    fn top_1_to_3() {
        let with_top = |top| Query { top, ..Query::new(KeyRange::ALL) };
        for top in [None, Some(0), Some(1), Some(1_000)] {
            assert_eq!(rule(&with_top(top)), None);
        }
        assert_eq!(rule(&with_top(Some(1_001))), Some("TOP-2"));
    }

    #[test]
    fn sel_1_and_5() {
        let with_names = |names: Vec<&'static str>| {
            let names: Vec<_> = names.into_iter().map(Cow::Borrowed).collect();
            Query { select: Select::Names(names.into()), ..Query::new(KeyRange::ALL) }
        };
        assert_eq!(rule(&with_names(vec!["Age", "RowKey", "Timestamp"])), None);
        assert_eq!(rule(&with_names(vec![])), None);
        assert_eq!(rule(&with_names(vec!["*"])), Some("SEL-5"));
        for illegal in ["", "a,b", " Age", "a b"] {
            assert_eq!(rule(&with_names(vec![illegal])), Some("SEL-1"), "{illegal}");
        }
        assert_eq!(rule(&with_names(vec!["Age", "Name", "Age"])), Some("SEL-1"));
        let many = |count: usize| Query {
            select: Select::names((0..count).map(|index| format!("P{index}"))),
            ..Query::new(KeyRange::ALL)
        };
        assert_eq!((rule(&many(255)), rule(&many(256))), (None, Some("SEL-1")));
    }

    #[test]
    fn filters_are_checked() {
        let filter = Some(Filter::compare("P", Comparison::Eq, f64::NAN));
        assert_eq!(rule(&Query { filter, ..Query::new(KeyRange::ALL) }), Some("FIL-17"));
    }
}
