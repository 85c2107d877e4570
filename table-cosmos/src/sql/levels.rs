//! Converts the bounds of a PartitionKey range to bounds on a single level.
//!
//! A PartitionKey consists of its levels, each followed by `!`. `PartitionKey`s sort in the same order as their levels, unless a level contains a space. A
//! space is the only character in keys that sorts before `!`, so `a b!` is less than `a!`. A bound may also contain control characters, which sort before `!`
//! too. In these cases, the bound is widened.

use std::ops::Bound;

use table_core::query::TextRange;

use crate::key::{self, END};
use crate::mapping::Mapping;
use crate::sql::{Sql, both};

impl Sql {
    /// Returns bounds for the first level not fixed by a range of `PartitionKey`s.
    pub(super) fn next_level(
        &mut self,
        mapping: &Mapping,
        range: &TextRange,
        fixed: &[String],
    ) -> Option<String> {
        let place = mapping.levels.get(fixed.len())?.sql();
        if mapping.depth() == 1 {
            return self.range(place, range);
        }
        let prefix = if fixed.is_empty() { String::new() } else { key::join_prefix(fixed) };
        let rest = |bound: &Bound<String>| match bound {
            Bound::Included(text) | Bound::Excluded(text) => text.strip_prefix(&*prefix).map(str::to_owned),
            Bound::Unbounded => None,
        };
        let lower = rest(&range.lower).and_then(|rest| {
            let level = rest.split(|c| c <= END).next().unwrap_or_default();
            (!level.is_empty()).then(|| self.ordered(place, ">=", level)).flatten()
        });
        let upper = rest(&range.upper).and_then(|rest| {
            // The bound includes the terminator. A level such as `a b` extends the text `a` with a space, and sorts before `a!` but after `a`.
            let bound = rest.split_inclusive(END).next().unwrap_or_default();
            self.ordered(place, "<", bound)
        });
        both(lower, upper)
    }

    /// Returns the condition for a single PartitionKey. Returns `None` if no item can have that PartitionKey.
    pub(super) fn partition_key(&mut self, mapping: &Mapping, text: &str) -> Option<String> {
        let levels = key::levels(text, mapping.depth())?;
        Some(format!("({})", self.levels(mapping, &levels).join(" AND ")))
    }
}
