//! The scope of a key range (RT-1 to RT-3). A scope contains the items with one partition key, the items with the same first levels, or all items.

use azure_data_cosmos::FeedScope;
use table_core::Result;
use table_core::query::TextRange;
use table_hierarchy::common_levels;

use crate::key;

/// The set of items targeted by a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// No items, because none can be in the range.
    Nothing,
    /// The items with exactly these levels.
    Key(Vec<String>),
    /// The items whose first levels have the given values.
    Prefix(Vec<String>),
    /// All items in the container.
    All,
}

impl Scope {
    /// Returns the scope of a PartitionKey range in a container with `depth` levels.
    pub(crate) fn of(range: &TextRange, depth: usize) -> Self {
        if range.is_empty() {
            return Self::Nothing;
        }
        if let Some(text) = range.single() {
            // An item cannot exist under a key that cannot be written (KEY-9).
            return key::checked_levels(text, depth).map_or(Self::Nothing, Self::Key);
        }
        if depth == 1 {
            return Self::All;
        }
        let levels = common_levels(range);
        if key::check_lengths(&levels).is_err() {
            return Self::Nothing;
        }
        match levels.len() {
            0 => Self::All,
            // The bounds have all levels in common. They differ only in the text after the levels, so the range contains no other key.
            count if count == depth => Self::Key(levels),
            count if count > depth => Self::Nothing,
            _ => Self::Prefix(levels),
        }
    }

    /// Returns the levels shared by all items in the scope.
    pub(crate) fn levels(&self) -> &[String] {
        match self {
            Self::Key(levels) | Self::Prefix(levels) => levels,
            Self::Nothing | Self::All => &[],
        }
    }

    /// Converts the scope to the Azure SDK's type.
    pub(crate) fn feed(&self) -> Result<FeedScope> {
        Ok(match self.levels() {
            [] => FeedScope::full_container(),
            levels => FeedScope::partition(key::partition_key(levels)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use proptest::prelude::*;

    use super::*;

    fn texts(levels: &[&str]) -> Vec<String> {
        levels.iter().map(|level| (*level).to_owned()).collect()
    }

    #[test]
    fn rt_1_to_3_and_hpk_37_a_range_is_queried_by_its_levels() {
        let of = |range: &TextRange| Scope::of(range, 3);
        assert_eq!(of(&TextRange::exactly("a!b!c!")), Scope::Key(texts(&["a", "b", "c"])));
        assert_eq!(of(&TextRange::exactly("a!b!")), Scope::Nothing);
        assert_eq!(of(&TextRange::prefix("a!b!")), Scope::Prefix(texts(&["a", "b"])));
        assert_eq!(of(&TextRange::prefix("a!")), Scope::Prefix(texts(&["a"])));
        assert_eq!(of(&TextRange::prefix("a!b")), Scope::Prefix(texts(&["a"])), "users that begin so");
        assert_eq!(
            of(&TextRange::prefix("a")),
            Scope::All,
            "tenants that begin so: a hash keeps no order (RT-11)"
        );
        assert_eq!(of(&TextRange::ALL), Scope::All);
        assert_eq!(Scope::of(&TextRange::exactly("a!b!"), 1), Scope::Key(texts(&["a!b!"])));
        assert_eq!(Scope::of(&TextRange::prefix("a!"), 1), Scope::All);
        let between = |lower: &str, upper: &str| TextRange {
            lower: Bound::Included(lower.to_owned()),
            upper: Bound::Excluded(upper.to_owned()),
        };
        assert_eq!(of(&between("a!b", "a!c")), Scope::Prefix(texts(&["a"])));
        assert_eq!(of(&between("a!b!", "b!")), Scope::All);
        assert_eq!(of(&between("b", "a")), Scope::Nothing);
    }

    #[test]
    fn key_9_and_lim_4_a_level_that_is_too_long_has_no_items() {
        let long = "東".repeat(683);
        assert_eq!(Scope::of(&TextRange::exactly(&long), 1), Scope::Nothing);
        assert_eq!(Scope::of(&TextRange::exactly(format!("a!{long}!")), 2), Scope::Nothing);
        assert_eq!(Scope::of(&TextRange::prefix(&format!("{long}!")), 2), Scope::Nothing);
        assert_eq!(Scope::of(&TextRange::prefix(&long), 2), Scope::All);
        let longest = "x".repeat(2_048);
        assert_eq!(Scope::of(&TextRange::exactly(&longest), 1), Scope::Key(vec![longest]));
    }

    proptest! {
        /// Tests that no range leads to a partition key with an unsupported number of levels.
        ///
        /// The Azure SDK's types accept any number of levels, but its queries do not. A query fails with 400 and sub-status 20100 to 20102 if a key has no
        /// levels or too many. It also fails for a prefix of a single level.
        #[test]
        fn rust_4_no_range_makes_a_key_of_a_length_that_the_client_refuses(
            lower in "[ab!]{0,6}",
            upper in "[ab!\"]{0,6}",
            depth in 1..4_usize,
        ) {
            let ranges = [
                TextRange::exactly(&lower),
                TextRange::prefix(&lower),
                TextRange { lower: Bound::Included(lower.clone()), upper: Bound::Excluded(upper) },
                TextRange::ALL,
            ];
            for range in ranges {
                match Scope::of(&range, depth) {
                    Scope::Key(levels) => prop_assert_eq!(levels.len(), depth),
                    Scope::Prefix(levels) => prop_assert!((1..depth).contains(&levels.len()), "{levels:?} of {depth}"),
                    Scope::Nothing | Scope::All => {}
                }
            }
        }

        #[test]
        fn rt_5_no_key_of_a_range_is_outside_its_scope(
            key in "[ab ]{0,2}![ab]{0,2}!",
            lower in "[ab! ]{0,4}",
            upper in "[ab!\"]{0,4}",
            kinds in (0..3_u8, 0..3_u8),
        ) {
            let bound = |kind: u8, text: String| match kind {
                0 => Bound::Unbounded,
                1 => Bound::Included(text),
                _ => Bound::Excluded(text),
            };
            let range = TextRange { lower: bound(kinds.0, lower), upper: bound(kinds.1, upper) };
            let scope = Scope::of(&range, 2);
            let levels = key::levels(&key, 2).unwrap();
            if range.contains(&key) {
                prop_assert!(scope != Scope::Nothing && levels.starts_with(scope.levels()), "{range:?}: {scope:?}");
            }
        }
    }
}
