//! The encoded values that a condition on a key part accepts, and the key range that contains them.

use std::ops::Bound;

use table_core::key::codec::Form;
use table_core::key::order;
use table_core::query::TextRange;
use table_core::schema::StoredPiece;

use crate::error::{Error, Result};
use crate::keys::values::Values;
use crate::keys::{codec, name_of};

/// The encoded values accepted by a condition on a key part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Accepted {
    /// One encoded value.
    One(String),
    /// All encoded values between two bounds, inclusive.
    Between {
        /// The first encoded value, or a prefix of it. `None` if the range has no lower bound.
        first: Option<String>,
        /// The last encoded value, or a prefix of it. `None` if the range has no upper bound.
        last: Option<String>,
    },
    /// All encoded values with this prefix.
    Prefix(String),
}

impl Accepted {
    /// Returns the encoded values accepted by a condition.
    ///
    /// # Errors
    /// `Condition` in these cases:
    /// - The part cannot have the given value.
    /// - The part does not support the given prefix.
    /// - A range is given, but the part has no order.
    pub(super) fn new(piece: &StoredPiece, values: &Values) -> Result<Self> {
        let StoredPiece::Part { source, codec, form } = piece else { return Ok(Self::Prefix(String::new())) };
        let name = name_of(source);
        match values {
            Values::Exactly(value) => codec::encode(piece, value).map(Self::One),
            Values::Prefix(beginning) if codec::keeps_prefixes(codec) => Ok(Self::Prefix(beginning.clone())),
            Values::Prefix(_) => {
                let help = "give one value or a range";
                Err(Error::Condition(format!(
                    "`{name}` is written by codec `{codec}`, which has no prefixes; {help}"
                )))
            }
            Values::Between(..) if !form.ordered => Err(Error::Condition(format!(
                "`{name}` is written by codec `{codec}`, which does not preserve order; give one value"
            ))),
            Values::Between(lower, upper) => {
                let (low, high) = if codec::is_descending(codec) { (upper, lower) } else { (lower, upper) };
                let bound = |value: &String| {
                    if value.is_empty() { Ok(None) } else { codec::beginning(piece, value).map(Some) }
                };
                Ok(Self::Between { first: bound(low)?, last: bound(high)? })
            }
        }
    }

    /// Returns `true` if the condition accepts `text`. `text` must be an encoded value of the part.
    pub(super) fn accepts(&self, text: &str, form: &Form) -> bool {
        match self {
            Self::One(one) => one == text,
            Self::Prefix(prefix) => text.starts_with(prefix),
            Self::Between { first, last } => {
                // A bound can be a prefix of several fixed-width values. For example, all stamps with one timestamp share a prefix.
                let is_at = |bound: &str| form.is_fixed() && text.starts_with(bound);
                first.as_ref().is_none_or(|first| order::compare(first, text).is_le())
                    && last.as_ref().is_none_or(|last| order::compare(text, last).is_le() || is_at(last))
            }
        }
    }

    /// Returns a range that contains all accepted keys. It may also contain others.
    ///
    /// An accepted key consists of `prefix`, an accepted value of this part, and values of the pieces in `behind`.
    pub(super) fn range(&self, prefix: &str, form: &Form, behind: &[StoredPiece]) -> TextRange {
        let (first, last) = match self {
            Self::One(text) => return TextRange::prefix(&format!("{prefix}{text}")),
            Self::Prefix(beginning) => return TextRange::prefix(&format!("{prefix}{beginning}")),
            Self::Between { first, last } => (first, last),
        };
        let mut range = TextRange::prefix(prefix);
        if let Some(first) = first {
            range.lower = Bound::Included(format!("{prefix}{first}"));
        }
        if let Some(last) = last.as_ref().filter(|_| keeps_order(form, behind)) {
            let last = format!("{prefix}{last}");
            let after = |text: &str| order::after_prefix(text).map_or(Bound::Unbounded, Bound::Excluded);
            range.upper = match behind.first() {
                _ if form.is_fixed() => after(&last),
                None => Bound::Included(last),
                Some(StoredPiece::Literal(literal)) => after(&(last + literal)),
                Some(StoredPiece::Part { .. }) => return range,
            };
        }
        range
    }
}

/// Returns `true` if keys sort by this part, whatever the pieces after it contain.
///
/// Otherwise, a key may sort after a key with a greater value. For example, in keys such as `name_id`, `ab_` sorts after `abZ_`.
fn keeps_order(form: &Form, behind: &[StoredPiece]) -> bool {
    form.is_fixed()
        || match behind.first() {
            None => true,
            Some(StoredPiece::Literal(literal)) => literal
                .chars()
                .next()
                .is_some_and(|first| ('\0'..=first).all(|below| !form.alphabet.contains(below))),
            Some(StoredPiece::Part { .. }) => false,
        }
}
