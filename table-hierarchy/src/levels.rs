//! The levels in a `PartitionKey` string. Each level ends with `!`.

use std::ops::Bound;

use table_core::key::order;
use table_core::query::TextRange;
use table_core::schema::{EntitySchema, KeyPiece};

/// The character that ends a level in a `PartitionKey`.
const END: char = '!';

/// Returns the names of the fields that form the levels of an entity's partition key, in order.
///
/// The list is empty if the whole `PartitionKey` is one level (HPK-42).
///
/// ```
/// use table_core::Entity;
/// use table_hierarchy::level_names;
///
/// #[derive(Entity)]
/// #[partition_key(tenant, user)]
/// #[row_key(number)]
/// struct Event { tenant: String, user: String, #[digits(6)] number: u32 }
///
/// assert_eq!(level_names(Event::SCHEMA), ["tenant", "user"]);
/// ```
#[must_use]
pub fn level_names(schema: &EntitySchema) -> Vec<&'static str> {
    // Each level must consist of one field, and its values must not contain the terminator.
    let level = |pieces: &[KeyPiece]| match pieces {
        [KeyPiece::Field { field, form, .. }, KeyPiece::Literal("!")] if !form.alphabet.contains(END) => {
            Some(*field)
        }
        _ => None,
    };
    let levels: Option<Vec<_>> = schema.partition_key.chunks(2).map(level).collect();
    levels.filter(|levels| levels.len() > 1).unwrap_or_default()
}

/// Returns the first levels, as far as all `PartitionKey`s in a range share them.
///
/// ```
/// use table_hierarchy::common_levels;
/// use table_core::query::TextRange;
///
/// assert_eq!(common_levels(&TextRange::prefix("contoso!ada!")), ["contoso", "ada"]);
/// assert_eq!(common_levels(&TextRange::prefix("contoso!a")), ["contoso"]);
/// assert!(common_levels(&TextRange::ALL).is_empty());
/// ```
#[must_use]
pub fn common_levels(range: &TextRange) -> Vec<String> {
    let (Bound::Included(lower) | Bound::Excluded(lower)) = &range.lower else { return Vec::new() };
    let mut prefix = "";
    for (at, _) in lower.match_indices(END) {
        let longer = lower.get(..=at).unwrap_or_default();
        if !lies_below(&range.upper, longer) {
            break;
        }
        prefix = longer;
    }
    prefix.split_terminator(END).map(str::to_owned).collect()
}

/// Returns `true` if an upper bound is a key with the given prefix. Also returns `true` if the bound comes directly after the last such key.
fn lies_below(upper: &Bound<String>, prefix: &str) -> bool {
    match upper {
        Bound::Unbounded => false,
        Bound::Included(upper) => upper.starts_with(prefix),
        Bound::Excluded(upper) => {
            upper.starts_with(prefix)
                || order::after_prefix(prefix).is_some_and(|after| order::compare(upper, &after).is_le())
        }
    }
}

#[cfg(test)]
mod tests {
    use table_core::Entity;

    use super::*;

    #[test]
    fn hpk_42_a_key_with_other_literals_or_with_ends_inside_its_parts_is_a_single_level() {
        #[derive(Entity)]
        #[partition_key(tenant, "_", user, "!")]
        #[row_key(number)]
        struct Joined {
            tenant: String,
            user: u32,
            number: u32,
        }
        #[derive(Entity)]
        #[partition_key(tenant, "!", user, "!")]
        #[row_key(number)]
        struct Ended {
            tenant: u32,
            user: String,
            number: u32,
        }
        #[derive(Entity)]
        #[partition_key(tenant, user)]
        #[row_key(number)]
        struct Levels {
            tenant: String,
            user: u32,
            number: u32,
        }
        assert!(level_names(Joined::SCHEMA).is_empty());
        assert!(level_names(Ended::SCHEMA).is_empty());
        assert_eq!(level_names(Levels::SCHEMA), ["tenant", "user"]);
    }
}
