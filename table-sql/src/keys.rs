//! Converts conditions on keys and key parts to a key range.

use datafusion::scalar::ScalarValue;
use table_core::filter::Comparison;
use table_core::key::codec::Form;
use table_core::query::{KeyRange, TextRange};
use table_core::schema::{StoredPiece, StoredSchema};
use table_core::{Filter, Query, Value, ticks};
use table_inspect::keys::{self, PartRequest};

use crate::column::{Kind, Source};
use crate::condition::{Condition, Test, is_portable, text};

/// The key range read by a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) keys: KeyRange,
    /// The schema that all selected rows must match, because the conditions refer to key parts found only in this schema.
    pub(crate) schema: Option<usize>,
}

/// Returns a key range containing all rows that satisfy the conditions.
pub(crate) fn range(schemas: &[StoredSchema], conditions: &[Condition<'_>]) -> Range {
    let mut keys = KeyRange::ALL;
    for condition in conditions {
        match condition.column.source {
            Source::PartitionKey => keys.partition_key.intersect(&of_text(&condition.test)),
            Source::RowKey => keys.row_key.intersect(&of_text(&condition.test)),
            _ => {}
        }
    }
    let on_parts = conditions.iter().any(|condition| is_null_free(condition));
    let mut candidates: Vec<(usize, KeyRange)> = Vec::new();
    for (at, schema) in schemas.iter().enumerate().filter(|_| on_parts) {
        // A row that lacks a part has no value for it, so the row never satisfies a condition on that part.
        if conditions.iter().all(|condition| has_part(schema, condition)) {
            candidates.push((at, of_parts(schema, conditions)));
        }
    }
    let Some((_, first)) = candidates.first() else { return Range { keys, schema: None } };
    if candidates.iter().all(|(_, range)| range.partition_key == first.partition_key) {
        keys.partition_key.intersect(&first.partition_key);
    }
    if let [(at, only)] = candidates.as_slice() {
        keys.row_key.intersect(&only.row_key);
        return Range { keys, schema: Some(*at) };
    }
    Range { keys, schema: None }
}

/// Returns `true` for a condition on a key part. A row without that part never satisfies the condition.
const fn is_null_free(condition: &Condition<'_>) -> bool {
    matches!(condition.column.source, Source::Part(_))
}

fn has_part(schema: &StoredSchema, condition: &Condition<'_>) -> bool {
    let Source::Part(name) = &condition.column.source else { return true };
    let mut pieces = schema.partition_key.iter().chain(&schema.row_key).filter_map(keys::source_of);
    pieces.any(|source| keys::name_of(source) == name)
}

/// Returns the range of the keys that satisfy a condition on the complete key.
fn of_text(test: &Test<'_>) -> TextRange {
    match test {
        Test::StartsWith(prefix) if is_portable(prefix) => TextRange::prefix(prefix),
        Test::Compare(operator, constant) => match text(constant) {
            Some(constant) if *operator == Comparison::Eq || is_portable(constant) => {
                Query::from_filter(Filter::compare("RowKey", *operator, constant)).keys.row_key
            }
            _ => TextRange::ALL,
        },
        Test::StartsWith(_) => TextRange::ALL,
    }
}

/// Returns the key range for conditions on parts. The key range fixes the leading parts of each key to single values, and limits the next part to a range.
fn of_parts(schema: &StoredSchema, conditions: &[Condition<'_>]) -> KeyRange {
    let mut requests = Vec::new();
    for pieces in [&schema.partition_key, &schema.row_key] {
        for (at, piece) in pieces.iter().enumerate() {
            let StoredPiece::Part { source, codec, form } = piece else { continue };
            let label = keys::name_of(source);
            let of_part: Vec<_> = conditions
                .iter()
                .filter(|condition| condition.column.source == Source::Part(label.to_owned()))
                .collect();
            let part = Part { label, codec, is_ordered: keeps_order(form, pieces.get(at + 1)) };
            let request = part.request(&of_part).filter(|request| is_possible(schema, &requests, request));
            let Some((request, is_single)) = request else { break };
            requests.push(request);
            if !is_single {
                break;
            }
        }
    }
    keys::key_range_of_sources(schema, &requests).unwrap_or(KeyRange::ALL)
}

/// Returns `true` if keys sort by this part regardless of the pieces after it. Otherwise, a value can sort after a longer value that begins with it. For
/// example, in keys of the form `name_id`, `ab_` sorts after `abZ_`.
fn keeps_order(form: &Form, next: Option<&StoredPiece>) -> bool {
    form.is_fixed()
        || match next {
            None => true,
            Some(StoredPiece::Literal(literal)) => literal
                .chars()
                .next()
                .is_some_and(|first| ('\0'..=first).all(|below| !form.alphabet.contains(below))),
            Some(StoredPiece::Part { .. }) => false,
        }
}

/// Returns `true` if `request` and `others` together describe a key range. If they do not, for example because the value is invalid for the part, DataFusion
/// evaluates the condition.
fn is_possible(schema: &StoredSchema, others: &[PartRequest], (request, _): &(PartRequest, bool)) -> bool {
    let mut all = others.to_vec();
    all.push(request.clone());
    keys::key_range_of_sources(schema, &all).is_ok()
}

/// A key part, as described by one schema.
struct Part<'a> {
    label: &'a str,
    codec: &'a str,
    /// `true` if keys sort by this part.
    is_ordered: bool,
}

impl Part<'_> {
    /// Returns the request for the part, together with `true` if it selects a single value. Returns `None` if no condition restricts the part.
    fn request(&self, conditions: &[&Condition<'_>]) -> Option<(PartRequest, bool)> {
        let (mut low, mut high) = (None, None);
        for condition in conditions {
            match &condition.test {
                Test::Compare(Comparison::Eq, constant) => {
                    let value = self.shown(condition.column.kind, constant)?;
                    return Some((PartRequest::exactly(self.label, &value), true));
                }
                // The range includes both ends. If the condition excludes an end, DataFusion removes the rows at that end.
                Test::Compare(Comparison::Ge | Comparison::Gt, constant) => {
                    low = self.bound(condition.column.kind, constant).or(low);
                }
                // If keys do not sort by this part, keys with lower values can sort after the keys at the upper end.
                Test::Compare(Comparison::Le | Comparison::Lt, constant) if self.is_ordered => {
                    high = self.bound(condition.column.kind, constant).or(high);
                }
                Test::StartsWith(prefix) if is_portable(prefix) => {
                    return Some((PartRequest::prefix(self.label, prefix), false));
                }
                Test::Compare(..) | Test::StartsWith(_) => {}
            }
        }
        if low.is_none() && high.is_none() {
            return None;
        }
        let request = PartRequest::between(self.label, &low.unwrap_or_default(), &high.unwrap_or_default());
        Some((request, false))
    }

    /// Returns a constant as the bound of a key range. Returns `None` if SQL and the store disagree about which values sort before the constant, for example
    /// for numbers and timestamps that SQL reads as strings.
    fn bound(&self, kind: Kind, constant: &ScalarValue) -> Option<String> {
        let value = self.shown(kind, constant)?;
        let agrees = kind != Kind::Text || keys::sorts_as_shown(self.codec) && is_portable(&value);
        (!value.is_empty() && agrees).then_some(value)
    }

    /// Returns a constant in this part's user-facing format.
    fn shown(&self, kind: Kind, constant: &ScalarValue) -> Option<String> {
        match (kind, constant) {
            (Kind::Text, constant) => text(constant).map(str::to_owned),
            (Kind::Int64, ScalarValue::Int64(Some(number))) => Some(number.to_string()),
            (Kind::Nanos, ScalarValue::TimestampNanosecond(Some(nanos), _)) => {
                let count = ticks::UNIX_EPOCH.checked_add_signed(nanos.div_euclid(100))?;
                let is_whole = nanos % 100 == 0;
                is_whole.then(|| {
                    ticks::to_datetime(count).map(|at| table_inspect::value::show(&Value::DateTime(at)))
                })?
            }
            _ => None,
        }
    }
}

/// Returns the parts of a row key that determine the row order within a partition. Each part is paired with `true` if its order is descending.
pub(crate) fn order(schema: &StoredSchema) -> Vec<(String, bool)> {
    let mut parts = Vec::new();
    for piece in &schema.row_key {
        let StoredPiece::Part { source, codec, form } = piece else { continue };
        let is_descending = codec.starts_with("desc(") || codec.starts_with("inverted(");
        // The list ends before the first part that is unordered, or that sorts together with the parts after it because its length varies.
        if !form.ordered || !form.is_fixed() {
            break;
        }
        parts.push((keys::name_of(source).to_owned(), is_descending));
    }
    parts
}
