//! The values that a condition on a key part accepts, as written by users.

use crate::error::{Error, Result};

/// The accepted values of a condition on a key part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// One value.
    Exactly(String),
    /// All values between two inclusive bounds. An empty bound means unbounded.
    Between(String, String),
    /// All values with this prefix.
    Prefix(String),
}

impl Values {
    /// Parses the values of a condition: `Sales`, `100..199`, `ada*`, or `=` followed by a single value.
    pub(super) fn parse(text: &str) -> Result<Self> {
        if let Some(value) = text.strip_prefix('=') {
            return Ok(Self::Exactly(value.to_owned()));
        }
        Ok(match (text.split_once(".."), text.strip_suffix('*')) {
            (Some((lower, upper)), _) => {
                refuse_prefix(lower).and(refuse_prefix(upper))?;
                Self::Between(lower.to_owned(), upper.to_owned())
            }
            (None, Some(prefix)) => Self::Prefix(prefix.to_owned()),
            (None, None) => Self::Exactly(text.to_owned()),
        })
    }
}

/// Checks that a bound of a range does not end with `*`. A bound is a single value, so the range `2024..2025*` would not contain `2025-01`.
fn refuse_prefix(bound: &str) -> Result<()> {
    if !bound.ends_with('*') {
        return Ok(());
    }
    Err(Error::Condition(format!(
        "the bound `{bound}` of the range ends with `*`, which only a prefix does; give the last value as the bound"
    )))
}
