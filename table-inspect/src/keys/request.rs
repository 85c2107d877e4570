//! Conditions on key parts, written as on a command line: `department=Sales`, `id=100..199`, `email=ada*`.

use std::ops::Bound;
use std::str::FromStr;

use table_core::query::{KeyRange, TextRange};
use table_core::schema::{StoredPiece, StoredProperty, StoredSchema};

use crate::error::{Error, Result};
use crate::keys::accepted::Accepted;
use crate::keys::label::labelled;
use crate::keys::values::Values;
use crate::keys::{codec, is_field, name_of, pattern};

/// A condition on one key part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartRequest {
    name: String,
    values: Values,
}

impl PartRequest {
    /// Creates a condition on the key part `name`. `values` describes the accepted values, such as `Sales`, `100..199` or `ada*`.
    ///
    /// If `values` starts with `=`, as in `=v1..2`, the rest is a single value. It may contain `..` and may end with `*`.
    ///
    /// # Errors
    /// `Condition` if a bound of a range ends with `*`.
    pub fn new(name: &str, values: &str) -> Result<Self> {
        Ok(Self { name: name.to_owned(), values: Values::parse(values)? })
    }

    /// Creates a condition for exactly the given value, in which `..` and `*` have no special meaning.
    #[must_use]
    pub fn exactly(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), values: Values::Exactly(value.to_owned()) }
    }

    /// Creates a condition for values between two inclusive bounds. If a bound is empty, the range is unbounded on that side.
    #[must_use]
    pub fn between(name: &str, lower: &str, upper: &str) -> Self {
        Self { name: name.to_owned(), values: Values::Between(lower.to_owned(), upper.to_owned()) }
    }

    /// Creates a condition for values with the given prefix.
    #[must_use]
    pub fn prefix(name: &str, prefix: &str) -> Self {
        Self { name: name.to_owned(), values: Values::Prefix(prefix.to_owned()) }
    }

    /// Returns `true` if the condition refers to the part with this label, ignoring case.
    pub(super) fn is_on(&self, label: &str) -> bool {
        self.name.eq_ignore_ascii_case(label)
    }

    /// Returns the encoded values of a part that the condition accepts.
    pub(super) fn accepted(&self, piece: &StoredPiece) -> Result<Accepted> {
        Accepted::new(piece, &self.values)
    }
}

impl FromStr for PartRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| "a condition has the form PART=VALUE, such as id=100..199".to_owned())?;
        Self::new(name, value).map_err(|error| error.to_string())
    }
}

/// Parses a range: `A..B` (inclusive, with optional bounds), `A*`, or a single value.
///
/// If the text starts with `=`, as in `=v1..2`, the rest is a single value. It may be empty, may contain `..` and may end with `*`.
///
/// # Errors
/// `Condition` if a bound ends with `*`.
///
/// ```
/// use table_core::query::TextRange;
/// use table_inspect::keys::parse_range;
///
/// assert_eq!(parse_range("2024*")?, TextRange::prefix("2024"));
/// assert_eq!(parse_range("=2024*")?, TextRange::exactly("2024*"));
/// assert!(parse_range("2024..2025*").is_err());
/// # Ok::<(), table_inspect::Error>(())
/// ```
pub fn parse_range(text: &str) -> Result<TextRange> {
    let bound = |text: String| if text.is_empty() { Bound::Unbounded } else { Bound::Included(text) };
    Ok(match Values::parse(text)? {
        Values::Exactly(value) => TextRange::exactly(value),
        Values::Between(lower, upper) => TextRange { lower: bound(lower), upper: bound(upper) },
        Values::Prefix(prefix) => TextRange::prefix(&prefix),
    })
}

/// Returns a range that contains all keys whose parts satisfy the conditions. The conditions refer to parts by [label](crate::keys::labels).
///
/// The range may also contain other keys. [`PartConditions`](crate::keys::PartConditions) excludes them.
///
/// # Errors
/// `Condition` in these cases:
/// - The schema has no part with the given label.
/// - A part cannot have the given value.
/// - The conditions do not form a range, for example because an earlier part has no condition or only a range.
pub fn key_range(schema: &StoredSchema, requests: &[PartRequest]) -> Result<KeyRange> {
    key_range_of_sources(&labelled(schema), requests)
}

/// Returns the range of [`key_range`] for conditions that refer to parts by source. Use it if you assign different labels to the parts.
///
/// # Errors
/// Any error from [`key_range`].
pub fn key_range_of_sources(schema: &StoredSchema, requests: &[PartRequest]) -> Result<KeyRange> {
    let all = || schema.partition_key.iter().chain(&schema.row_key);
    for request in requests {
        let mut sources = all().filter_map(source_of);
        if !sources.any(|source| request.is_on(name_of(source))) {
            return Err(unknown_part(schema, &request.name));
        }
    }
    let partition_key = text_range(&schema.partition_key, requests)?;
    let row_key = text_range(&schema.row_key, requests)?;
    Ok(KeyRange { partition_key, row_key })
}

/// Returns the error for a condition on a part that the labelled schema does not have.
fn unknown_part(schema: &StoredSchema, name: &str) -> Error {
    let known: Vec<_> =
        schema.partition_key.iter().chain(&schema.row_key).filter_map(source_of).map(name_of).collect();
    let (entity, all) = (&schema.entity, known.join(", "));
    let is_derived =
        |label: &&&str| label.split_once('@').is_some_and(|(field, _)| field.eq_ignore_ascii_case(name));
    let is_named = |property: &&StoredProperty| is_field(name, &property.name) || property.name == name;
    Error::Condition(if let Some(label) = known.iter().find(is_derived) {
        format!(
            "the key of {entity} has only the part `{label}` of `{name}`, which several values share; give a condition on `{label}`, or use `--filter`; \
             the parts are {all}"
        )
    } else if let Some(StoredProperty { name, .. }) = schema.properties.iter().find(is_named) {
        format!(
            "`{name}` is a property of {entity}, not a part of its key; use `--filter \"{name} eq …\"`; the parts of the key are {all}"
        )
    } else {
        format!("the key of {entity} has no part `{name}`; its parts are {all}")
    })
}

/// Returns the range of keys with the known parts. If all parts are known, it is a single key. Otherwise, it contains all keys with a prefix.
///
/// An invalid value counts as unknown, so the prefix ends before it.
#[must_use]
pub fn row_range<'a>(pieces: &[StoredPiece], value: impl Fn(&str) -> Option<&'a str>) -> TextRange {
    let mut prefix = String::new();
    for piece in pieces {
        let text = match piece {
            StoredPiece::Literal(literal) => Some(literal.clone()),
            StoredPiece::Part { source, .. } => {
                value(name_of(source)).and_then(|value| codec::encode(piece, value).ok())
            }
        };
        match text {
            Some(text) => prefix.push_str(&text),
            None => return TextRange::prefix(&prefix),
        }
    }
    TextRange::exactly(prefix)
}

/// Returns a part's source, or `None` if the piece is a literal.
#[must_use]
pub fn source_of(piece: &StoredPiece) -> Option<&table_core::schema::Source> {
    match piece {
        StoredPiece::Literal(_) => None,
        StoredPiece::Part { source, .. } => Some(source),
    }
}

/// Returns the range of the `PartitionKey` or `RowKey`. The first parts that have a single value form a prefix. The next part narrows the range further.
fn text_range(pieces: &[StoredPiece], requests: &[PartRequest]) -> Result<TextRange> {
    let mut prefix = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        let StoredPiece::Part { source, form, .. } = piece else {
            if let StoredPiece::Literal(literal) = piece {
                prefix.push_str(literal);
            }
            continue;
        };
        let behind = pieces.get(at + 1..).unwrap_or_default();
        let asked = requests.iter().filter(|request| request.is_on(name_of(source)));
        let accepted = asked.map(|request| request.accepted(piece)).collect::<Result<Vec<_>>>()?;
        let one = accepted.iter().find_map(|accepted| match accepted {
            Accepted::One(text) => Some(text),
            Accepted::Between { .. } | Accepted::Prefix(_) => None,
        });
        if let Some(text) = one.filter(|text| accepted.iter().all(|accepted| accepted.accepts(text, form))) {
            prefix.push_str(text);
            continue;
        }
        let mut range = TextRange::prefix(&prefix);
        for accepted in &accepted {
            range.intersect(&accepted.range(&prefix, form, behind));
        }
        return match one {
            // No value satisfies all conditions on this part. Conditions on later parts therefore do not matter.
            Some(_) => Ok(range),
            None => refuse_conditions(behind, requests, source).map(|()| range),
        };
    }
    Ok(TextRange::exactly(prefix))
}

/// Checks that no part in `behind` has a condition. A condition on a part is supported only if all earlier parts have a single value.
fn refuse_conditions(
    behind: &[StoredPiece],
    requests: &[PartRequest],
    source: &table_core::schema::Source,
) -> Result<()> {
    let asked = |source| requests.iter().any(|request| request.is_on(name_of(source)));
    match behind.iter().filter_map(source_of).find(|&source| asked(source)) {
        None => Ok(()),
        Some(later) => Err(Error::Condition(format!(
            "`{}` comes after `{}` in the key `{}`, which needs one value first; use `--filter` to select among rows",
            name_of(later),
            name_of(source),
            pattern(behind),
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REVIEW: &str = "schema 1\nentity Review\ntable Company\nPartitionKey department text 0..512 ordered legal\n\
        RowKey \"empid_\"\nRowKey employee digits(6) 6 ordered [0-9]\nRowKey \"_\"\nRowKey year digits(4) 4 ordered [0-9]\n";

    fn range(requests: &[&str]) -> Result<String> {
        let requests: Vec<PartRequest> = requests.iter().map(|text| text.parse().unwrap()).collect();
        let keys = key_range(&REVIEW.parse().unwrap(), &requests)?;
        Ok(table_core::Query::new(keys).filter_text().unwrap_or_default())
    }

    #[test]
    fn conditions_on_parts_become_bounds_of_keys() {
        for (requests, filter) in [
            (
                &["department=Sales"] as &[&str],
                "PartitionKey eq 'Sales' and RowKey ge 'empid_' and RowKey lt 'empid`'",
            ),
            (
                &["department=Sales", "employee=123", "year=2011"],
                "PartitionKey eq 'Sales' and RowKey eq 'empid_000123_2011'",
            ),
            (
                &["department=Sales", "employee=123"],
                "PartitionKey eq 'Sales' and RowKey ge 'empid_000123_' and RowKey lt 'empid_000123`'",
            ),
            (
                &["department=Sales", "employee=100..199"],
                "PartitionKey eq 'Sales' and RowKey ge 'empid_000100' and RowKey lt 'empid_00019:'",
            ),
            (
                &["Department=Sa*"],
                "PartitionKey ge 'Sa' and PartitionKey lt 'Sb' and RowKey ge 'empid_' and RowKey lt 'empid`'",
            ),
        ] {
            assert_eq!(range(requests).unwrap(), filter, "{requests:?}");
        }
    }

    #[test]
    fn a_range_has_values_as_bounds_and_one_value_may_look_like_a_range() {
        for text in ["year=2024..2025*", "year=2024*..2025", "department=*..b"] {
            let refused = text.parse::<PartRequest>().unwrap_err();
            assert!(refused.contains("ends with `*`"), "{text}: {refused}");
        }
        for (text, value) in [("v==v1..2", "v1..2"), ("v==a*", "a*"), ("v===", "="), ("v==", "")] {
            assert_eq!(text.parse(), Ok(PartRequest::exactly("v", value)), "{text}");
        }
    }

    #[test]
    fn a_condition_that_the_key_does_not_support_is_refused_with_advice() {
        let refused = |requests: &[&str]| range(requests).unwrap_err().to_string();
        assert_eq!(
            refused(&["dept=Sales"]),
            "the key of Review has no part `dept`; its parts are department, employee, year"
        );
        assert_eq!(
            refused(&["department=Sales", "employee=1..2", "year=2011"]),
            "`year` comes after `employee` in the key `_{year}`, which needs one value first; use `--filter` to select among rows"
        );
        assert_eq!(
            refused(&["department=Sales", "employee=1*"]),
            "`employee` is written by codec `digits(6)`, which has no prefixes; give one value or a range"
        );
    }
}
